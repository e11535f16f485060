"""Requests and responses of one connection, paired by their correlation id.

A broker answers the requests of a connection in their order, so a response closes what was asked before it: a request
with acks=0 had no response to come, that of the others was lost. A response whose request is not there yet may have
been captured before it (a card with two queues), so the last few of these wait. Memory is bounded.
"""

from collections import deque
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies import Bodies, BodyWalker, RequestFacts, ResponseFacts
from netdiag.traffic.engine.headers import RequestHeader, request_header, response_header
from netdiag.traffic.engine.message import Message, Walker
from netdiag.traffic.engine.pending import Pending

PRODUCE = 0
# What of a connection tells it from others: so many messages of each side, so many bytes of each.
DIGESTED = 8
DIGESTED_BYTES = 64
MAX_PENDING = 10_000
MAX_ORPHANS = 64
ORPHAN_BYTES = 16_384

ANSWERED, NO_RESPONSE, UNANSWERED, NO_REQUEST = "answered", "no-response", "unanswered", "no-request"

# What is no part of the state.
_HANDED = frozenset({"_emit", "_hear", "_bodies"})

Emit = Callable[[Asked | None, Answer | None, str], None]
Hear = Callable[[Asked], None]


class Digest:
    """A hash of pieces, each with that of those before: so eight bytes are all that is to be kept in between."""

    __slots__ = ("text",)

    def __init__(self) -> None:
        self.text = bytes(8)

    def update(self, data: bytes) -> None:
        """The next piece, of up to 100 bytes."""
        self.text = blake2b(self.text + data, digest_size=8).digest()

    def digest(self) -> bytes:
        """Four bytes."""
        return self.text[:4]


class Pairing:
    """The sink of one connection's messages; `emit(asked, answer, outcome)` is given each pair.

    `hear` is given a request with records as it comes: their bytes are not held until its response does.
    """

    __slots__ = (
        "_bodies",
        "_emit",
        "_hear",
        "client_id",
        "client_software",
        "digests",
        "orphans",
        "pending",
        "requests",
        "responses",
        "sasl_mechanism",
    )

    def __init__(self, emit: Emit, bodies: Bodies, hear: Hear | None = None) -> None:
        self._emit = emit
        self._hear = hear
        self._bodies = bodies
        self.pending = Pending()
        self.orphans: deque[Message] = deque()
        self.digests = (Digest(), Digest())
        self.requests = 0
        self.responses = 0
        self.client_id: str | None = None
        self.client_software: str | None = None
        self.sasl_mechanism: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name not in _HANDED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in self.__slots__:
            if name not in _HANDED:
                setattr(self, name, state[name])

    def hand(self, emit: Emit, bodies: Bodies) -> None:
        """What a pairing needs that was made of its state."""
        self._emit, self._bodies, self._hear = emit, bodies, None

    def files(self) -> set[int]:
        """The files that rows to come may name."""
        return self.pending.files() | {orphan.file for orphan in self.orphans}

    def message(self, message: Message) -> None:
        """Take the next message of either side."""
        if (self.requests if message.is_request else self.responses) < DIGESTED:
            self.digests[message.is_request].update(b"%d," % message.size + message.head[:DIGESTED_BYTES])
        if message.is_request:
            self.requests += 1
            self._request(message)
        else:
            self.responses += 1
            self._response(message)

    @property
    def digest(self) -> int | None:
        """A hash of the first messages of both sides; None without any."""
        if not self.requests + self.responses:
            return None
        return int.from_bytes(b"".join(digest.digest() for digest in self.digests), "big", signed=True)

    def expects(self, correlation_id: int) -> bool:
        """Whether a request with this id waits for its response."""
        return correlation_id in self.pending

    def begin_walk(self, is_request: bool, size: int, head: bytes) -> Walker | None:
        """Produce requests and Fetch responses are read while they pass by."""
        if is_request:
            asked = request_header(head, size)
            if asked.api_key is None or asked.api_version is None or asked.body is None:
                return None
            return self._bodies.request_walker(asked.api_key, asked.api_version, asked.body, size)
        correlation_id = int.from_bytes(head[:4], "big", signed=True)
        api = self.pending.api(correlation_id)
        said = None if api is None else response_header(head, *api)
        if api is None or said is None or said.body is None:
            return None
        return self._bodies.response_walker(*api, said.body, size)

    def orphan(self, message: Message) -> None:
        """Take a response whose request is not there, yet."""
        self.orphans.append(message._replace(head=message.head[:ORPHAN_BYTES]))
        if len(self.orphans) > MAX_ORPHANS:
            self._emit(None, _alone(self.orphans.popleft()), NO_REQUEST)

    def finish(self) -> None:
        """Nothing more is to come."""
        for orphan in self.orphans:
            self._emit(None, _alone(orphan), NO_REQUEST)
        self.orphans.clear()
        self._give_up(len(self.pending))

    def _request(self, message: Message) -> None:
        header = request_header(message.head, message.size)
        if header.correlation_id is None:
            return
        asked = Asked(header, _light(message), self.request_facts(header, message))
        if self.client_id is None:
            self.client_id = header.client_id
        if self._hear is not None and asked.facts.record_bytes:
            self._hear(asked)
            asked.facts.pieces = ()
        if asked.facts.client_software is not None:
            self.client_software = asked.facts.client_software
        if asked.facts.sasl_mechanism is not None:
            self.sasl_mechanism = asked.facts.sasl_mechanism
        for orphan in self.orphans:
            if _correlation(orphan) == header.correlation_id and orphan.end_time >= message.start_time - 1_000_000_000:
                self.orphans.remove(orphan)
                self._emit(asked, self.answer(asked, orphan), ANSWERED)
                return
        self.pending.append(asked)
        if len(self.pending) > MAX_PENDING:
            self._give_up(1)

    def _response(self, message: Message) -> None:
        correlation_id = _correlation(message)
        if correlation_id is None:
            return
        before = self.pending.before(correlation_id)
        if before is None:
            self.orphan(message)
            return
        self._give_up(before)
        asked = self.pending.popleft()
        self._emit(asked, self.answer(asked, message), ANSWERED)

    def _give_up(self, count: int) -> None:
        """So many of the oldest requests have no response."""
        for _ in range(count):
            asked = self.pending.popleft()
            silent = asked.header.api_key == PRODUCE and asked.facts.acks == 0
            self._emit(asked, None, NO_RESPONSE if silent else UNANSWERED)

    def request_facts(self, header: RequestHeader, message: Message) -> RequestFacts:
        if header.api_key is None or header.api_version is None or header.body is None:
            facts = RequestFacts()
            facts.decoded = _headless(header.known, message)
            return facts
        if isinstance(message.walker, BodyWalker):
            passed = message.walker.ended()
            if isinstance(passed, RequestFacts):
                return passed
        body = message.head[header.body :]
        return self._bodies.request_facts(header.api_key, header.api_version, body, message.size - header.body)

    def answer(self, asked: Asked, message: Message) -> Answer:
        key, version = asked.header.api_key, asked.header.api_version
        assert key is not None
        assert version is not None
        header = response_header(message.head, key, version)
        passed = message.walker.ended() if isinstance(message.walker, BodyWalker) else None
        if isinstance(passed, ResponseFacts):
            facts = passed
        elif header.body is None:
            facts = ResponseFacts()
            facts.decoded = _headless(asked.header.known, message)
        else:
            body = message.head[header.body :]
            facts = self._bodies.response_facts(key, version, body, message.size - header.body)
        return Answer(header.correlation_id or 0, _light(message), facts)


def _headless(known: bool, message: Message) -> str:
    """How far a body was decoded whose beginning was not found."""
    if not known:
        return "header"
    return "truncated" if len(message.head) < message.size else "failed"


def _alone(message: Message) -> Answer:
    return Answer(_correlation(message) or 0, _light(message), None)


def _correlation(message: Message) -> int | None:
    return int.from_bytes(message.head[:4], "big", signed=True) if len(message.head) >= 4 else None


def _light(message: Message) -> Message:
    return message._replace(head=b"", walker=None)
