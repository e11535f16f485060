"""Our exchanges of a capture against tshark's messages: equal, explained, or a difference that nobody explains.

Matched by the packet that completes a message and its correlation id. Of every message tshark shows: direction, size,
correlation id; of requests api key, api version and client id; of responses tshark's request is our request, latency
and error code. Latency is held against the packets of tshark's messages even where tshark itself did not pair them.
An explanation is a shortcoming of tshark that its own output, or the bytes it shows, prove:

- ACKS: it decides whether a Produce request has a response from the wrong bytes, where version 9 and later have the
  tag buffer and the null transactional id, takes these zeros for acks=0, and shows the response as "Request missing".
- BROKEN: it failed inside the request (it says malformed), forgot it, and shows its response as "Request missing".
- VERSION: it says that it does not know this api key or version, or that what it read does not end where the message
  does: what it takes for error codes are other bytes.
- BEFORE: the capture begins between request and response; neither side knows what the response is.
- UNPROVEN: the same, and ours does not show the response: it is the first of its connection, tshark takes the first
  bytes that it sees for the beginning of a message, and nothing in the capture answers for that.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.wire.exchanges import Exchange
from tests.wire.tshark import MALFORMED, MISMATCH, MISSING, UNKNOWN_KEY, UNSUPPORTED, Message

ACKS = "tshark takes the acks of Produce 9+ from the wrong bytes"
BROKEN = "tshark forgets the request that it failed to read"
VERSION = "tshark does not read this api version"
BEFORE = "the request is not in the capture"
UNPROVEN = "the first bytes of a connection in mid-stream, taken for a response"
# What tshark's list of api versions in an answer may hold without harm to how it reads the answer.
_API_VERSIONS = 18
_PRODUCE, _FLEXIBLE_PRODUCE = 0, 9
_LATENCY_MS = 1e-6


@dataclass(slots=True, kw_only=True)
class Comparison:
    """What came of it: messages of tshark; those equal in all that it tells; reasons for the others; differences."""

    compared: int = 0
    equal: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)
    ours_alone: list[str] = field(default_factory=list)
    latencies: int = 0
    error_codes: int = 0

    def add(self, other: "Comparison") -> None:
        """Sum up another capture."""
        self.compared += other.compared
        self.equal += other.equal
        self.explained += other.explained
        self.different += other.different
        self.ours_alone += other.ours_alone
        self.latencies += other.latencies
        self.error_codes += other.error_codes


def compare(ours: Sequence[Exchange], theirs: Sequence[Message]) -> Comparison:
    """Hold our exchanges against tshark's messages of the same capture."""
    result = Comparison()
    found = _Found(ours)
    requests = {(one.frame, one.correlation_id, one.stream): one for one in theirs if one.is_request}
    for message in theirs:
        result.compared += 1
        exchange = found.take(message)
        if exchange is None:
            if _is_unproven(message, theirs):
                result.explained[UNPROVEN] += 1
            else:
                result.different.append(f"ours has no {_name(message)}")
            continue
        if message.is_request:
            wrong, reasons = _request(exchange, message), set[str]()
        else:
            request = requests.get((exchange.request_packet or 0, message.correlation_id, message.stream))
            wrong, reasons = _response(exchange, message, request, result)
        if wrong:
            result.different.append(f"{_name(message)}: {'; '.join(wrong)}")
        elif reasons:
            result.explained.update(reasons)
        else:
            result.equal += 1
    result.ours_alone += found.rest()
    return result


class _Found:
    """Our messages by packet and correlation id, each to be found once."""

    def __init__(self, ours: Sequence[Exchange]) -> None:
        self._left: dict[tuple[bool, int, int], list[Exchange]] = defaultdict(list)
        for one in ours:
            if one.request_packet is not None and one.request_bytes is not None:
                self._left[True, one.request_packet, one.correlation_id].append(one)
            if one.response_packet is not None and one.response_bytes is not None:
                self._left[False, one.response_packet, one.correlation_id].append(one)

    def take(self, message: Message) -> Exchange | None:
        """The exchange that holds tshark's message."""
        there = self._left.get((message.is_request, message.frame, message.correlation_id), [])
        client = message.source if message.is_request else message.destination
        # One packet may end two messages with one correlation id: of two tunnels, or of a broken client.
        for one in [one for one in there if one.client == client] or there:
            there.remove(one)
            return one
        return None

    def rest(self) -> list[str]:
        """What tshark does not show."""
        return [
            f"tshark has no {'request' if is_request else 'response'} in packet {packet}, "
            f"correlation id {correlation}, api key {one.api_key}, {one.client} > {one.broker}"
            for (is_request, packet, correlation), left in self._left.items()
            for one in left
        ]


def _request(ours: Exchange, theirs: Message) -> list[str]:
    return _unequal(
        size=(ours.request_bytes, theirs.size),
        api_key=(ours.api_key, theirs.api_key),
        api_version=(ours.api_version, theirs.api_version),
        client_id=(ours.client_id, theirs.client_id),
    )


def _response(
    ours: Exchange, theirs: Message, request: Message | None, result: Comparison
) -> tuple[list[str], set[str]]:
    wrong = _unequal(size=(ours.response_bytes, theirs.size))
    if request is not None:
        latency = (theirs.time - request.time) / 1e6
        result.latencies += 1
        if ours.latency_ms is None or abs(ours.latency_ms - latency) > _LATENCY_MS:
            wrong.append(f"latency {ours.latency_ms}, tshark {latency}")
    if theirs.request_frame is None:
        reason = _why_missing(ours, theirs, request)
        if reason is None:
            wrong.append(f"tshark has no request for it, ours is in packet {ours.request_packet}")
        return wrong, {reason} if reason else set()
    wrong += _unequal(
        request=(ours.request_packet, theirs.request_frame),
        api_key=(ours.api_key, theirs.api_key),
        api_version=(ours.api_version, theirs.api_version),
    )
    if not _reads_body(theirs):
        return wrong, {VERSION}
    error = next((code for code in theirs.errors if code != 0), 0)
    if theirs.errors:
        result.error_codes += 1
    if (ours.error_code or 0) != error or (theirs.errors and ours.error_code is None):
        wrong.append(f"error code {ours.error_code}, tshark {theirs.errors}")
    return wrong, set()


def _reads_body(theirs: Message) -> bool:
    faults = theirs.faults - {MISSING}
    if theirs.api_key == _API_VERSIONS:
        # Its flag for an unknown key is about the keys that the answer lists.
        faults -= {UNKNOWN_KEY}
    return not faults & {UNSUPPORTED, UNKNOWN_KEY, MISMATCH, MALFORMED}


def _why_missing(ours: Exchange, theirs: Message, request: Message | None) -> str | None:
    if MISSING not in theirs.faults:
        return None
    if ours.request_packet is None:
        return BEFORE
    if request is None:
        return None
    if ours.api_key == _PRODUCE and (ours.api_version or 0) >= _FLEXIBLE_PRODUCE:
        tags, transactional_id, *acks = request.behind_client
        if (tags, transactional_id) == (0, 0) and acks in ([0, 1], [0xFF, 0xFF]):
            return ACKS
    return BROKEN if MALFORMED in request.faults else None


def _is_unproven(message: Message, theirs: Sequence[Message]) -> bool:
    if message.is_request or MISSING not in message.faults:
        return False
    same = [one for one in theirs if one.stream == message.stream]
    asked = any(one.is_request and one.correlation_id == message.correlation_id for one in same)
    return not asked and message is next(one for one in same if not one.is_request)


def _unequal(**pairs: tuple[object, object]) -> list[str]:
    return [f"{name} {ours}, tshark {theirs}" for name, (ours, theirs) in pairs.items() if ours != theirs]


def _name(message: Message) -> str:
    kind = "request" if message.is_request else "response"
    return f"{kind} in packet {message.frame}, correlation id {message.correlation_id}, api key {message.api_key}"
