"""How connections open, as segments tell it."""

import pytest

from netdiag.traffic.engine.handshake import Handshake
from netdiag.traffic.engine.packet import ACK, RST, SYN, Segment
from tests.traffic.engine.segments import segment

SYN_SENT = (0, segment(flags=SYN, time=0))
SYN_AGAIN = (0, segment(flags=SYN, time=1000))
SYN_ACK = (1, segment(flags=SYN | ACK, time=2))
ACKED = (0, segment(time=5))
RESET = (1, segment(flags=RST | ACK, time=1))
DATA = (0, segment(payload=b"x", time=9))
ANSWER = (1, segment(payload=b"x", time=9))

CASES = [
    ([SYN_SENT, SYN_ACK, ACKED], "complete", 5.0),
    ([SYN_SENT, SYN_AGAIN, SYN_ACK, ACKED], "complete", 5.0),
    ([SYN_SENT, SYN_ACK], "half", None),
    ([SYN_SENT, RESET], "refused", None),
    ([SYN_SENT], "unanswered", None),
    ([SYN_SENT, SYN_AGAIN], "unanswered", None),
    ([SYN_ACK, ACKED], "complete", None),
    ([SYN_SENT, DATA], "complete", None),
    ([DATA, ANSWER], "unseen", None),
    ([ACKED], "unseen", None),
    ([SYN_SENT, SYN_ACK, (0, segment(flags=RST, time=3))], "half", None),
]


@pytest.mark.parametrize(("steps", "opening", "milliseconds"), CASES)
def test_an_opening(steps: list[tuple[int, Segment]], opening: str, milliseconds: float | None) -> None:
    handshake = Handshake()
    for side, step in steps:
        handshake.push(side, step)
    assert (handshake.opening, handshake.milliseconds) == (opening, milliseconds)


def test_an_icmp_error_says_unreachable_unless_it_opened_all_the_same() -> None:
    handshake = Handshake()
    handshake.push(*SYN_SENT)
    handshake.unreachable()
    assert handshake.opening == "unreachable"
    handshake.push(*SYN_ACK)
    handshake.push(*ACKED)
    assert handshake.opening == "complete"


def test_who_opened_it() -> None:
    for steps, opener in (([SYN_SENT], 0), ([SYN_ACK], 0), ([(0, segment(flags=SYN | ACK))], 1), ([DATA], None)):
        handshake = Handshake()
        for side, step in steps:
            handshake.push(side, step)
        assert handshake.opener == opener
