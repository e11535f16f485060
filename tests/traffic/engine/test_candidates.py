"""Whether a message begins at a place."""

import struct

from netdiag.traffic.engine.candidates import Verdict, judge_request, judge_response, response_fits
from netdiag.traffic.engine.talk import Talk
from netdiag.traffic.engine.unframed import Piece, Unframed
from tests.traffic.engine.wire import Ear, framed, metadata_request, metadata_response


def stream(*pieces: bytes) -> Unframed:
    out = Unframed()
    for kept in pieces:
        out.add(Piece(kept, len(kept), 0, 0, 0, False))
    return out


def test_a_request_of_the_known_client_in_order() -> None:
    talk = Talk(Ear(), 1000)
    talk.request(metadata_request(5))
    assert judge_request(talk, stream(framed(metadata_request(6))), 0, True, False) is Verdict.YES
    assert judge_request(talk, stream(framed(metadata_request(4))), 0, True, False) is Verdict.NO
    assert judge_request(talk, stream(framed(metadata_request(6, b"other"))), 0, True, False) is Verdict.NO


def test_a_chain_of_requests_is_proof_without_knowledge() -> None:
    talk = Talk(Ear(), 1000)
    three = stream(b"xxxxx" + b"".join(framed(metadata_request(number)) for number in (7, 8, 9)))
    assert judge_request(talk, three, 5, False, False) is Verdict.YES
    assert judge_request(talk, stream(b"xxxxx" + framed(metadata_request(7))), 5, False, False) is Verdict.LATER


def test_a_response_is_held_against_the_request_that_waits() -> None:
    talk = Talk(Ear(), 1000)
    talk.request(metadata_request(5))
    assert judge_response(talk, stream(framed(metadata_response(5))), 0, True, False) is Verdict.YES
    assert judge_response(talk, stream(framed(metadata_response(6))), 0, True, False) is Verdict.LATER
    pair = struct.pack(">iii", 40, 5, 1 << 30) + bytes(32)
    assert judge_response(talk, stream(b"xx" + pair), 2, False, False) is Verdict.NO


def test_a_body_that_does_not_fit() -> None:
    api = 3 << 16 | 1
    good = metadata_response(1, brokers=3)
    assert response_fits(api, good, len(good))
    assert not response_fits(api, good[:4] + b"\x7f" + good[5:], len(good))
