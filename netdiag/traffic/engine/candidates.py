"""Whether a message begins at a place: what stands there, and where that would make the next one begin."""

import struct
from enum import Enum

from netdiag.kafka.protocol import table
from netdiag.kafka.protocol.table import Direction
from netdiag.traffic.engine.identify import (
    HEADER,
    LARGEST,
    SMALLEST_REQUEST,
    SMALLEST_RESPONSE,
    fits,
    is_request,
    known_requests,
    least_response,
    request_head,
)
from netdiag.traffic.engine.talk import Talk
from netdiag.traffic.engine.unframed import Unframed

NEAR = 4096
FAR = 1 << 20
"""How far correlation ids may rise over a hole: one counter may serve the connections to many brokers."""

UNNAMED = 1 << 21
"""No request is believed to be larger that does not show the client id of its connection."""

BODY = 512
"""Bytes of a body that are held against its layout."""

CHAIN = 3
_PAIR = struct.Struct(">ii").unpack_from


class Verdict(Enum):
    """Whether a message begins there."""

    YES = "yes"
    NO = "no"
    LATER = "later"


class Chain(Enum):
    """What comes where the next message would begin."""

    GOOD = "another message"
    EDGE = "the end of a segment, and nothing yet behind it"
    DARK = "bytes that are not in the capture"
    OPEN = "not captured yet"
    BAD = "no message"


def judge_request(talk: Talk, stream: Unframed, position: int, at_edge: bool, final: bool) -> Verdict:
    """Whether a request begins at a position. `at_edge`: a segment begins there."""
    head = stream.peek(position, 16 + BODY)
    if len(head) < 12:
        return Verdict.NO
    size, key, version, correlation = HEADER.unpack_from(head)
    if not SMALLEST_REQUEST <= size <= LARGEST or request_head(head[4 : 4 + size], size) is None:
        return Verdict.NO
    last = talk.last_request
    named = _is_named(talk, head)
    if named is False or (last is not None and not 0 < (correlation - last) & 0xFFFFFFFF <= (FAR if named else NEAR)):
        return Verdict.NO
    if key << 16 | version not in known_requests() and not (named and last is not None):
        return Verdict.NO
    if last is not None and not named and not at_edge and (talk.versions.get(key) != version or size > UNNAMED):
        return Verdict.NO
    chain, links = _follow_requests(stream, position, size, correlation, head)
    if chain is Chain.BAD:
        return Verdict.NO
    if last is not None and (named or links or at_edge or len(head) < 14 or chain is Chain.DARK):
        return Verdict.YES if named or is_request(head[4 : 4 + size], size) else Verdict.NO
    if not is_request(head[4 : 4 + size], size):
        return Verdict.NO
    whole = len(head) == 4 + size or len(head) == 16 + BODY
    if links >= CHAIN - 1 or (at_edge and whole and len(head) >= 24 and chain in (Chain.EDGE, Chain.GOOD)):
        return Verdict.YES
    if at_edge and chain is not Chain.OPEN and len(head) >= 24 and (links or (named is None and head[12] == 0)):
        return Verdict.YES if links or chain is Chain.EDGE or final else Verdict.LATER
    return Verdict.LATER


def judge_response(talk: Talk, stream: Unframed, position: int, at_edge: bool, final: bool) -> Verdict:
    """Whether a response begins at a position."""
    head = stream.peek(position, 8 + BODY)
    if len(head) < 8:
        return Verdict.NO
    size, correlation = _PAIR(head)
    if not SMALLEST_RESPONSE <= size <= LARGEST:
        return Verdict.NO
    api = next((api for waits, api in talk.waiting if waits == correlation), None)
    if api is None:
        return _judge_unasked(talk, stream, position, size, correlation)
    if size < least_response(api):
        return Verdict.NO
    chain = _follow_response(talk, stream, position, size, correlation)
    if chain is Chain.BAD:
        return Verdict.NO
    good = chain in (Chain.GOOD, Chain.EDGE)
    if at_edge and good:
        return Verdict.YES
    if not response_fits(api, head[4 : 4 + size], size):
        return Verdict.NO
    if at_edge or good or chain is Chain.DARK or final:
        return Verdict.YES
    return Verdict.LATER


def response_fits(api: int, head: bytes, size: int) -> bool:
    """Whether the bytes behind the size field can be the response to a request of `key << 16 | version`."""
    if api not in known_requests():
        return True
    key, version = api >> 16, api & 0xFFFF
    at = 4
    if table.header_version(key, version, Direction.RESPONSE) == 1:
        if len(head) > 4 and head[4] != 0:
            return False
        at = 5
    if len(head) <= at:
        return True
    if fits(key, version, Direction.RESPONSE, head[at:], size - at):
        return True
    return key == table.API_VERSIONS and fits(key, 0, Direction.RESPONSE, head[at:], size - at)


def _is_named(talk: Talk, head: bytes) -> bool | None:
    """Whether the client id is that of the connection; None where there is none to tell it by."""
    known = talk.client_id
    if known is None or len(head) < 15:
        return None
    there = head[12 : 12 + len(known)]
    if there != known[: len(there)]:
        return False
    return True if len(known) > 3 else None


def _reach(stream: Unframed, position: int) -> tuple[Chain | None, bytes]:
    """What is at a position where a message might begin: its first bytes, or why there are none."""
    if position > stream.end:
        return Chain.OPEN, b""
    if position == stream.end:
        last = stream.pieces[-1]
        return (Chain.DARK if last.gap or (len(last.kept) < last.length and False) else Chain.EDGE), b""
    index = stream.index(position)
    piece = stream.pieces[index]
    if piece.gap and position == stream.starts[index]:
        return Chain.EDGE, b""
    head = stream.peek(position, 64)
    if len(head) >= 12:
        return None, head
    return (Chain.OPEN if position + 12 > stream.end and len(piece.kept) == piece.length else Chain.DARK), head


def _follow_requests(stream: Unframed, position: int, size: int, correlation: int, first: bytes) -> tuple[Chain, int]:
    """Follow the sizes: what comes at last, and how many more requests of the same client are on the way."""
    links = 0
    while links < CHAIN:
        position += 4 + size
        what, head = _reach(stream, position)
        if what is not None:
            return what, links
        size, key, version, following = HEADER.unpack_from(head)
        if not SMALLEST_REQUEST <= size <= LARGEST or key < 0 or version < 0:
            return Chain.BAD, links
        if not 0 < (following - correlation) & 0xFFFFFFFF <= FAR:
            return Chain.BAD, links
        length = min(len(first), len(head), 64)
        named = 14 + max(0, int.from_bytes(first[12:14], signed=True)) if len(first) >= 14 else 12
        if first[12 : min(named, length)] != head[12 : min(named, length)]:
            return Chain.BAD, links
        correlation = following
        links += 1
    return Chain.GOOD, links


def _follow_response(talk: Talk, stream: Unframed, position: int, size: int, correlation: int) -> Chain:
    """What comes where a response ends."""
    what, head = _reach(stream, position + 4 + size)
    if what is not None:
        return what
    size, following = _PAIR(head)
    if not SMALLEST_RESPONSE <= size <= LARGEST:
        return Chain.BAD
    return Chain.GOOD if 0 < (following - correlation) & 0xFFFFFFFF <= FAR else Chain.BAD


def _judge_unasked(talk: Talk, stream: Unframed, position: int, size: int, correlation: int) -> Verdict:
    """A response whose request was not seen: believed for others that follow."""
    last = talk.last_response
    if last is not None and not 0 < (correlation - last) & 0xFFFFFFFF <= FAR:
        return Verdict.NO
    asked = talk.last_request
    if asked is not None and (asked + NEAR - correlation) & 0xFFFFFFFF >= 0x80000000:
        return Verdict.NO
    links = 1
    while links < CHAIN:
        position += 4 + size
        what, head = _reach(stream, position)
        if what is not None:
            return Verdict.NO if what is Chain.BAD else Verdict.LATER
        size, following = _PAIR(head)
        if not SMALLEST_RESPONSE <= size <= LARGEST or not 0 < (following - correlation) & 0xFFFFFFFF <= 8:
            return Verdict.NO
        if any(waits == following and size >= least_response(api) for waits, api in talk.waiting):
            return Verdict.YES
        correlation = following
        links += 1
    return Verdict.YES
