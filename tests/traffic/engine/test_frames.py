"""Messages by their size fields, with and without all of their bytes."""

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
