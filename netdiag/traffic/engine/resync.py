"""Find where a message begins in a stream whose boundaries are not known: in mid-stream, or behind a hole."""

import struct
from typing import NamedTuple

from netdiag.traffic.engine.identify import (
    LARGEST,
    SMALLEST_REQUEST,
    SMALLEST_RESPONSE,
    is_request,
    known_requests,
    least_response,
)
from netdiag.traffic.engine.talk import Talk

AHEAD = 256
"""How far correlation ids may rise over a hole."""

KEPT_PIECES = 1024
KEPT_BYTES = 262_144

_REQUEST = struct.Struct(">ihhi").unpack_from
_RESPONSE = struct.Struct(">ii").unpack_from


class Piece(NamedTuple):
    """Bytes of a stream in order: `kept` of `length`; a `gap` is in no packet of the capture."""

    kept: bytes | memoryview
    length: int
    time: int
    number: int
    file: int
    gap: bool


class Searcher:
    """The pieces of a direction that are not framed yet, and the search for a boundary in them."""

    __slots__ = ("bytes", "looked", "pieces", "talk")

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.pieces: list[Piece] = []
        self.bytes = 0
        self.looked = 0

    def add(self, piece: Piece) -> None:
        """The next piece; its bytes are copied, so that a large buffer is not kept for them."""
        self.pieces.append(piece._replace(kept=bytes(piece.kept)))
        self.bytes += len(piece.kept)

    def is_full(self) -> bool:
        """Whether the oldest pieces are to be given up."""
        return self.bytes > KEPT_BYTES or len(self.pieces) > KEPT_PIECES

    def cut(self, index: int, offset: int) -> tuple[list[Piece], list[Piece]]:
        """Part the pieces at an offset into one of them, and forget them."""
        before, after = self.pieces[:index], self.pieces[index:]
        if offset and after:
            piece = after[0]
            before.append(piece._replace(kept=piece.kept[:offset], length=offset))
            after[0] = piece._replace(kept=piece.kept[offset:], length=piece.length - offset)
        self.pieces = []
        self.bytes = self.looked = 0
        return before, after

    def cut_bytes(self, length: int) -> tuple[list[Piece], list[Piece]]:
        """Part the pieces behind so many bytes from the start, which are all kept."""
        index = 0
        while index < len(self.pieces) and length >= self.pieces[index].length:
            length -= self.pieces[index].length
            index += 1
        return self.cut(index, length)

    def first_bytes(self) -> tuple[bytes, bool]:
        """What is there from the start without a hole, and whether there is a hole behind it."""
        out = b""
        for piece in self.pieces:
            out += piece.kept
            if piece.gap or len(piece.kept) < piece.length:
                return out, True
            if len(out) > 4096:
                break
        return out, False

    def find(self, is_request: bool) -> tuple[int, int] | None:
        """The piece and the offset in it at which a message begins, where that is proven."""
        pieces = self.pieces
        begins = self._begins_request if is_request else self._begins_response
        while self.looked < len(pieces):
            index = self.looked
            self.looked += 1
            if begins(pieces[index].kept):
                return index, 0
        return None

    def _begins_request(self, data: bytes | memoryview) -> bool:
        if len(data) < 12:
            return False
        size, key, version, correlation = _REQUEST(data)
        if not SMALLEST_REQUEST <= size <= LARGEST or key << 16 | version not in known_requests():
            return False
        talk = self.talk
        if talk.last_request is not None and not 0 < correlation - talk.last_request <= AHEAD:
            return False
        if talk.client_id is not None:
            return bytes(data[12 : 12 + len(talk.client_id)]) == talk.client_id[: len(data) - 12]
        return is_request(data[4 : 4 + size], size)

    def _begins_response(self, data: bytes | memoryview) -> bool:
        if len(data) < 8:
            return False
        size, correlation = _RESPONSE(data)
        if not SMALLEST_RESPONSE <= size <= LARGEST:
            return False
        return any(waits == correlation and size >= least_response(api) for waits, api in self.talk.waiting)
