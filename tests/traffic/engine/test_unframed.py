"""Pieces with holes, by position."""

from netdiag.traffic.engine.unframed import Piece, Unframed


def stream(*pieces: tuple[bytes, int]) -> Unframed:
    out = Unframed()
    for kept, length in pieces:
        out.add(Piece(kept, length, 0, 0, 0, False))
    return out


def test_peek_joins_pieces_up_to_a_hole() -> None:
    it = stream((b"abc", 3), (b"def", 5), (b"gh", 2))
    assert it.peek(1, 100) == b"bcdef"
    assert it.peek(1, 3) == b"bcd"
    assert it.peek(6, 10) == b""
    assert it.peek(8, 10) == b"gh"


def test_cut_in_a_piece() -> None:
    it = stream((b"abc", 3), (b"def", 5))
    before, after = it.cut(4)
    assert [(piece.kept, piece.length) for piece in before] == [(b"abc", 3), (b"d", 1)]
    assert [(piece.kept, piece.length) for piece in after] == [(b"ef", 4)]
    assert it.pieces == []
    assert it.end == 8


def test_positions_count_on_when_the_older_half_is_dropped() -> None:
    it = stream((b"abc", 3), (b"def", 5), (b"gh", 2))
    assert [piece.kept for piece in it.drop_half()] == [b"abc", b"def"]
    assert it.peek(8, 10) == b"gh"
    assert it.bytes == 2
