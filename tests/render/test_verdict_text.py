"""A word for a cell, both hops for a footnote."""

import pytest

from netdiag.deployment.model.verdict import Cell, Verdict
from netdiag.render.matrix.matrix_text import effective_verdict, verdict_explanation, verdict_style, verdict_word
from netdiag.render.screen import ASCII, UNICODE, Style
from tests.render.literals import OK, PARTIAL, REFUSED, SENT_AWAY, UNKNOWN, UNRESOLVED, address, answered, failed

NO_BROKERS = answered()
WRONG = answered("1 localhost:9092 2")


@pytest.mark.parametrize(
    ("verdict", "expected", "colour"),
    [
        (OK, "ok", Style.GOOD),
        (PARTIAL, "partial 1/2", Style.HALF),
        (REFUSED, "refused", Style.BAD),
        (UNRESOLVED, "unresolved", Style.BAD),
        (SENT_AWAY, "→refused", Style.BAD),
        (NO_BROKERS, "→no-brokers", Style.BAD),
        (WRONG, "→wrong-broker", Style.BAD),
        (failed("tls"), "tls", Style.BAD),
        (answered("1 a:1 sasl"), "→sasl", Style.BAD),
        (failed("not-kafka"), "not-kafka", Style.BAD),
        (UNKNOWN, "unknown", Style.DIM),
    ],
)
def test_word(verdict: Verdict, expected: str, colour: Style) -> None:
    assert verdict_word(verdict, UNICODE) == expected
    assert verdict_word(verdict, ASCII) == expected.replace("→", "->")
    assert verdict_style(verdict) is colour


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (REFUSED, "refused, nothing listens there"),
        (failed("timeout", ""), "no answer"),
        (UNKNOWN, "unknown, an external network is in the way"),
        (NO_BROKERS, "broker 1 answers on EXTERNAL, but returns no brokers"),
        (
            SENT_AWAY,
            "broker 1 answers on EXTERNAL and advertises localhost:9091: refused, localhost is the client itself",
        ),
        (WRONG, "broker 1 answers on EXTERNAL and advertises localhost:9092: another broker answers, it is broker 2"),
        (
            PARTIAL,
            "broker 1 answers on EXTERNAL and advertises localhost:9091 (broker 1): ok; "
            "localhost:9092 (broker 2): refused, out of reach",
        ),
        (
            answered("1 k1:1 ok", "2 k2:1 unknown", "3 k3:1 unknown"),
            "broker 1 answers on EXTERNAL and advertises k1:1 (broker 1): ok; "
            "k{2,3}:1 (brokers 2,3): unknown, out of reach",
        ),
    ],
)
def test_explanation(verdict: Verdict, expected: str) -> None:
    assert verdict_explanation(verdict) == expected


def test_what_was_observed_counts_unless_it_says_nothing() -> None:
    def cell(predicted: Verdict | None, observed: Verdict | None) -> Cell:
        return Cell(vantage="v", bootstrap=address("a:1"), predicted=predicted, observed=observed)

    assert effective_verdict(cell(OK, REFUSED)) is REFUSED
    assert effective_verdict(cell(OK, None)) is OK
    assert effective_verdict(cell(OK, UNKNOWN)) is OK
    assert effective_verdict(cell(None, UNKNOWN)) is UNKNOWN
    assert effective_verdict(cell(None, None)) is None
