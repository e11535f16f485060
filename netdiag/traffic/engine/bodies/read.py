"""Read what a body tells: facts of requests and of responses.

The reader of a message is made once for every api key, version and direction that is met, see `plan`. Whatever the
bytes are, the outcome is facts: as far as the body could be read, with `decoded` saying how far that was. Bytes behind
the message are tolerated (librdkafka's mock cluster sends such). Time and memory are linear in the bytes kept.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from struct import Struct, error
from typing import Any, NoReturn, cast

from netdiag.kafka import protocol as wire
from netdiag.kafka.protocol import Direction
from netdiag.kafka.protocol.message import UNSUPPORTED_VERSION
from netdiag.kafka.protocol.table import API_VERSIONS
from netdiag.traffic.engine.bodies.facts import (
    FAILED,
    FULL,
    HEADER,
    TRUNCATED,
    EndpointFacts,
    Facts,
    LeaderFacts,
    PartitionFacts,
    RequestFacts,
    ResponseFacts,
)
from netdiag.traffic.engine.bodies.members import assignment, subscription
from netdiag.traffic.engine.bodies.plan import Plan, Reader
from netdiag.traffic.engine.bodies.records import summarise
from netdiag.traffic.engine.bodies.walkers import BodyWalker, walker
from netdiag.traffic.tables import NAMES

FETCH, FIND_COORDINATOR, JOIN_GROUP, SHARE_FETCH = 1, 10, 11, 78
_UNSUPPORTED = UNSUPPORTED_VERSION.to_bytes(2, "big")
_INT32 = Struct(">i")


class Malformed(Exception):
    """The bytes cannot be the message that they should be."""


_Readers = dict[tuple[int, int, bool], Reader]


class Bodies:
    """Reads bodies for the tables that are wanted; what only others need is stepped over.

    `lasting`: large messages can be stored while they are on their way.
    """

    def __init__(self, tables: Iterable[str] = NAMES, *, lasting: bool = False) -> None:
        self._lasting = lasting
        self._wanted = frozenset(tables)
        self._requests: _Readers = {}
        self._responses: _Readers = {}

    def request_facts(self, api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> RequestFacts:
        """What a request body of `declared` bytes tells, of which `body` was kept."""
        facts = RequestFacts()
        key = (api_key, api_version, declared > len(body))
        read = self._requests.get(key) or self._reader(self._requests, Direction.REQUEST, key)
        if read is None:
            facts.decoded = HEADER
            return facts
        _read(read, facts, body, declared)
        if api_key == FIND_COORDINATOR and facts.coordinator_keys:
            if api_version == 0 or facts.key_type == 0:
                facts.group = facts.coordinator_keys[0]
            elif facts.key_type == 1:
                facts.transactional_id = facts.coordinator_keys[0]
        elif api_key == JOIN_GROUP:
            facts.wait_ms = facts.session_timeout_ms if api_version == 0 else facts.rebalance_timeout_ms
        elif api_key == FETCH and facts.replica_id is None and facts.decoded is FULL:
            facts.replica_id = -1
        return facts

    def response_facts(self, api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> ResponseFacts:
        """What a response body of `declared` bytes tells, of which `body` was kept."""
        facts = ResponseFacts()
        if api_key == API_VERSIONS and body[:2] == _UNSUPPORTED:
            # In version 0 (KIP-511), but for brokers that are none: what follows the error tells nothing here.
            facts.error_code = UNSUPPORTED_VERSION
            facts.decoded = TRUNCATED if declared > len(body) else FULL
            return facts
        key = (api_key, api_version, declared > len(body))
        read = self._responses.get(key) or self._reader(self._responses, Direction.RESPONSE, key)
        if read is None:
            facts.decoded = HEADER
            return facts
        _read(read, facts, body, declared)
        if facts.error_code is None and facts.decoded is FULL:
            facts.error_code = 0
        if api_key in (FETCH, SHARE_FETCH):
            if facts.record_bytes:
                facts.empty = False
            elif facts.decoded is FULL:
                facts.empty = True
        return facts

    def request_walker(self, api_key: int, api_version: int, header: int, size: int) -> BodyWalker | None:
        """A walker for a request of `size` bytes whose body begins behind `header` bytes."""
        return walker(api_key, api_version, Direction.REQUEST, header, size, self._wanted, lasting=self._lasting)

    def response_walker(self, api_key: int, api_version: int, header: int, size: int) -> BodyWalker | None:
        """A walker for a response of `size` bytes whose body begins behind `header` bytes."""
        return walker(api_key, api_version, Direction.RESPONSE, header, size, self._wanted, lasting=self._lasting)

    def _reader(self, readers: _Readers, direction: Direction, key: tuple[int, int, bool]) -> Reader | None:
        """The reader of a message, kept once it was made; None where the table does not have the message."""
        try:
            readers[key] = compiled(*key[:2], direction, self._wanted, cut=key[2])
        except wire.UnknownMessage:
            return None
        return readers[key]


@cache
def compiled(api_key: int, api_version: int, direction: Direction, wanted: frozenset[str], *, cut: bool) -> Reader:
    """The reader of one message, from the source that its plan writes; `UnknownMessage` where there is none."""
    layout = wire.layout(api_key, api_version, direction)
    plan = Plan(api_key, direction, wanted, cut=cut)
    name = f"<{wire.api_name(api_key)} {direction} {api_version}>"
    code = compile(plan.text(layout), name, "exec")
    names = {**_NAMES, **plan.source.readers}
    exec(code, names)
    return cast(Reader, names["read"])


def _read(read: Reader, facts: Facts, body: bytes | memoryview, declared: int) -> None:
    if isinstance(body, memoryview):
        body = bytes(body)
    try:
        read(body, len(body), declared if declared > len(body) else len(body), facts)
    except Malformed:
        facts.decoded = FAILED
        _forget_sums(facts)
    except (IndexError, error):
        facts.decoded = TRUNCATED if declared > len(body) else FAILED
        if not facts.is_counted:
            _forget_sums(facts)
    if declared > len(body):
        _settle(facts)


def _forget_sums(facts: Facts) -> None:
    """Of a message that was not read to its end it is not known how many records it has."""
    if facts.record_bytes and isinstance(facts, ResponseFacts):
        facts.empty = False
    facts.records = facts.record_bytes = None


def _settle(facts: Facts) -> None:
    """Make rows of the lists that the reader of a cut message has filled."""
    vars(facts).pop("is_counted", None)
    if facts.partitions:
        facts.partitions = [PartitionFacts._make(row) for row in facts.partitions]
    if isinstance(facts, ResponseFacts):
        if facts.leaders:
            facts.leaders = [LeaderFacts._make(row) for row in facts.leaders]
        if facts.endpoints:
            facts.endpoints = [EndpointFacts._make(row) for row in facts.endpoints]


# What the readers call.


def _malformed() -> NoReturn:
    raise Malformed


def _over(end: int, declared: int) -> NoReturn:
    raise Malformed if end > declared else IndexError


def _varint(data: bytes, at: int, first: int) -> tuple[int, int]:
    """The rest of an unsigned varint, behind a first byte that does not end it; at most 32 bits."""
    value = first & 0x7F
    for shift in (7, 14, 21, 28):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                break
            return value, at
    raise Malformed


def _number(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned varint."""
    first = data[at]
    return (first, at + 1) if first < 0x80 else _varint(data, at + 1, first)


def _behind_tags(data: bytes, at: int, declared: int) -> int:
    """Where tagged fields end that nobody wants."""
    count, at = _number(data, at)
    if count * 2 > declared - at:
        raise Malformed
    for _ in range(count):
        _, at = _number(data, at)
        size, at = _number(data, at)
        at += size
        if at > declared:
            raise Malformed
    return at


def _int32s(data: bytes, at: int, count: int, kept: int) -> Sequence[int]:
    """As many of `count` numbers as are there."""
    there = min(count, max(0, kept - at) // 4)
    return [number for (number,) in _INT32.iter_unpack(data[at : at + 4 * there])]


def _subscription_of(facts: RequestFacts, data: bytes, at: int, end: int, kept: int) -> None:
    if facts.subscription is None and facts.protocol_type == "consumer":
        found = subscription(data, at, end, kept)
        if found is not None:
            facts.subscription, facts.owned = found


def _assignment_of(facts: ResponseFacts, data: bytes, at: int, end: int, kept: int) -> None:
    facts.assignment = assignment(data, at, end, kept)


_NAMES: dict[str, Any] = {
    "EndpointFacts": EndpointFacts,
    "LeaderFacts": LeaderFacts,
    "PartitionFacts": PartitionFacts,
    "ZERO": bytes(16),
    "assignment_of": _assignment_of,
    "behind_tags": _behind_tags,
    "int32s": _int32s,
    "malformed": _malformed,
    "new": tuple.__new__,
    "number": _number,
    "over": _over,
    "subscription_of": _subscription_of,
    "summarise": summarise,
    "varint": _varint,
}


_ALL = Bodies()


def request_facts(api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> RequestFacts:
    """What a request body tells, for all tables."""
    return _ALL.request_facts(api_key, api_version, body, declared)


def response_facts(api_key: int, api_version: int, body: bytes | memoryview, declared: int) -> ResponseFacts:
    """What a response body tells, for all tables."""
    return _ALL.response_facts(api_key, api_version, body, declared)
