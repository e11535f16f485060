"""Messages by their size fields, with and without all of their bytes."""

import pytest

from tests.traffic.engine.wire import Wire, framed, metadata_request, metadata_response


def test_a_message_in_pieces_of_one_byte() -> None:
    wire = Wire()
    wire.open()
    data = framed(metadata_request(1)) + framed(metadata_request(2))
    for byte in data:
        wire.send(0, bytes([byte]))
    assert wire.finish() == [metadata_request(1), metadata_request(2)]


def test_headers_only() -> None:
    wire = Wire(snap=30)
    wire.open()
    wire.send(0, framed(metadata_request(1, topics=20)))
    wire.send(1, framed(metadata_response(1, brokers=20)))
    wire.send(0, framed(metadata_request(2, topics=20)))
    assert wire.finish() == [
        metadata_request(1, topics=20)[:26],
        metadata_response(1, 20)[:26],
        metadata_request(2, topics=20)[:26],
    ]
    assert {loss.detail for _, loss in wire.dialogue.losses()} == {"inside messages"}


class Eater:
    """A walker that notes what it is given."""

    def __init__(self) -> None:
        self.eaten = 0
        self.missing = 0

    def feed(self, piece: memoryview) -> None:
        self.eaten += len(piece)

    def lost(self, count: int) -> None:
        self.missing += count


@pytest.mark.parametrize("snap", [None, 100])
def test_a_large_message_is_walked_not_kept(snap: int | None) -> None:
    eater = Eater()
    wire = Wire(snap=snap, walker=eater)
    wire.open()
    body = metadata_request(1, topics=60_000)
    data = framed(body)
    kept = -4
    for at in range(0, len(data), 60_000):
        if at == 120_000:
            wire.lose(0, data[at : at + 60_000])
        else:
            kept += len(wire.send(0, data[at : at + 60_000]).payload)
    for _ in range(20):
        wire.send(1)
    wire.send(0, framed(metadata_request(2)))
    wire.finish()
    first, second = wire.ear.messages
    assert first.walker is eater
    assert eater.eaten + eater.missing == first.size == len(body)
    assert eater.eaten == kept
    assert body.startswith(first.head)
    assert len(first.head) <= 4096
    assert second.head == metadata_request(2)


def test_a_size_that_cannot_be_one_loses_the_boundary() -> None:
    wire = Wire()
    wire.open()
    wire.send(0, framed(metadata_request(1)))
    wire.send(0, b"\xff\xff\xff\xff" + bytes(20))
    wire.send(0, framed(metadata_request(2)))
    assert wire.finish() == [metadata_request(1), metadata_request(2)]
    assert {loss.kind: loss.bytes for _, loss in wire.dialogue.losses()} == {"resync": 24}


def test_a_message_cut_off_by_the_end_is_no_message() -> None:
    wire = Wire()
    wire.open()
    wire.send(0, framed(metadata_request(1, topics=9))[:50])
    assert wire.finish() == []
