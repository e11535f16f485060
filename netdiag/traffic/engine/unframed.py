"""The bytes of a direction that are not framed yet, with their holes."""

from bisect import bisect_right
from typing import NamedTuple


class Piece(NamedTuple):
    """Bytes of a stream in order: `kept` of `length`; a `gap` is in no packet of the capture."""

    kept: bytes | memoryview
    length: int
    time: int
    number: int
    file: int
    gap: bool


class Unframed:
    """Pieces in order; positions count on over everything that was ever added."""

    __slots__ = ("bytes", "end", "pieces", "starts")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.starts: list[int] = []
        self.bytes = 0
        self.end = 0

    def add(self, piece: Piece) -> None:
        """The next piece; its bytes are copied, so that a large buffer is not kept for them."""
        kept = piece.kept
        self.pieces.append(piece if isinstance(kept, bytes) else piece._replace(kept=bytes(kept)))
        self.starts.append(self.end)
        self.end += piece.length
        self.bytes += len(kept)

    def index(self, position: int) -> int:
        """The piece that a position lies in."""
        return bisect_right(self.starts, position) - 1

    def peek(self, position: int, count: int) -> bytes:
        """The bytes from a position on, as many as there are without a hole, at most so many."""
        index = self.index(position)
        if index < 0:
            return b""
        offset = position - self.starts[index]
        out = b""
        while index < len(self.pieces):
            piece = self.pieces[index]
            out += piece.kept[offset : offset + count - len(out)]
            if len(out) >= count or len(piece.kept) < piece.length:
                break
            index += 1
            offset = 0
        return out

    def cut(self, position: int) -> tuple[list[Piece], list[Piece]]:
        """Part the pieces at a position, and forget them."""
        index = self.index(position) if position < self.end else len(self.pieces)
        if index < 0:
            index = 0
        before, after = self.pieces[:index], self.pieces[index:]
        offset = position - self.starts[index] if after else 0
        if offset > 0:
            piece = after[0]
            before.append(piece._replace(kept=piece.kept[:offset], length=offset))
            after[0] = piece._replace(kept=piece.kept[offset:], length=piece.length - offset)
        self.pieces, self.starts, self.bytes = [], [], 0
        return before, after

    def drop_half(self) -> list[Piece]:
        """Forget the older half of the pieces."""
        half = (len(self.pieces) + 1) // 2
        old = self.pieces[:half]
        del self.pieces[:half], self.starts[:half]
        self.bytes -= sum(len(piece.kept) for piece in old)
        return old
