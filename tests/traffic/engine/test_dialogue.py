"""Segments of both directions in, messages out."""

from netdiag.traffic.engine.message import Spoken
from tests.traffic.engine.wire import ACK, FIN, Wire, framed, metadata_request, metadata_response


def test_a_request_and_its_response() -> None:
    wire = Wire()
    wire.open()
    asked, answered = metadata_request(1), metadata_response(1)
    first = wire.send(0, framed(asked))
    second = wire.send(1, framed(answered))
    assert wire.finish() == [asked, answered]
    one, two = wire.ear.messages
    assert (one.is_request, one.size, one.start_time, one.end_number) == (True, len(asked), first.time, first.number)
    assert (two.is_request, two.size, two.end_time, two.start_number) == (
        False,
        len(answered),
        second.time,
        second.number,
    )
    assert wire.dialogue.spoken is Spoken.KAFKA
    assert wire.dialogue.client_side == 0
    assert wire.dialogue.losses() == []


def test_an_answer_waits_for_a_request_that_was_captured_late() -> None:
    wire = Wire()
    wire.open()
    asked, answered = metadata_request(1), metadata_response(1)
    late = wire.lose(0, framed(asked))
    wire.send(1, framed(answered))
    wire.dialogue.push(0, late)
    assert wire.finish() == [asked, answered]


def test_a_connection_without_payload_speaks_nothing() -> None:
    wire = Wire()
    wire.open()
    wire.send(0, flags=FIN | ACK)
    wire.send(1, flags=FIN | ACK)
    wire.send(0)
    assert wire.finish() == []
    assert wire.dialogue.spoken is Spoken.NONE
    assert wire.dialogue.losses() == []
    assert wire.dialogue.figures(0).fin
