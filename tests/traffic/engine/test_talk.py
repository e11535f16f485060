"""What both directions know of each other."""

from netdiag.traffic.engine.talk import Talk
from tests.traffic.engine.wire import Ear, metadata_request, metadata_response, request


def test_a_response_ends_the_waiting_of_its_request_and_of_older_ones() -> None:
    talk = Talk(Ear(), 1000)
    for number in (1, 2, 3):
        talk.request(metadata_request(number))
    talk.response(metadata_response(2))
    assert not talk.waits(1)
    assert not talk.waits(2)
    assert talk.waits(3)


def test_sasl_handshake() -> None:
    talk = Talk(Ear(), 1000)
    talk.request(request(17, 0, 1, b"\0\x05PLAIN"))
    assert talk.sasl_mechanism == "PLAIN"
    assert talk.raw
