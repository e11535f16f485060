"""Texts come whole, however they are cut, and none is believed that is longer than its message."""

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled.strings import text
from tests.traffic.engine.compiled.messages import REQUEST, Both, Piece, header

BOTH = Both(size=1 << 10)


def test_a_long_text_in_many_pieces() -> None:
    name = "ä" * 10_000
    message = header(8, 8, REQUEST) + wire.encode(8, 8, REQUEST, {"group_id": name, "member_id": "m" * 300})
    pieces = [message[at : at + 700] for at in range(8, len(message), 700)]
    BOTH.check(message, pieces, 8, 8, REQUEST)
    assert text(BOTH.store.strings, int(BOTH.store.facts[BOTH.store.counts[6] - 1]["group"])) == name


def test_lengths_that_are_lies() -> None:
    message = bytearray(header(12, 0, REQUEST) + wire.encode(12, 0, REQUEST, {"group_id": "group", "member_id": "m"}))
    place = message.index(b"group") - 2
    for length in (b"\x7f\xff", b"\xff\xff", b"\xff\xfe", b"\x80\x00", b"\x00\x0d", b"\x00\x0c", b"\x00\x00"):
        message[place : place + 2] = length
        for cut in (len(message), len(message) - 3, place + 4):
            pieces: list[Piece] = [bytes(message[8:cut])]
            pieces += [len(message) - cut] if cut < len(message) else []
            BOTH.check(bytes(message), pieces, 12, 0, REQUEST)
