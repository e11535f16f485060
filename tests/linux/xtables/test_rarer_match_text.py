"""Rates and limits."""

import pytest

from netdiag.linux.xtables.rarer_match_text import RARER, rate


@pytest.mark.parametrize(
    ("average", "text"),
    [
        (10000, "1/sec"),
        (769, "13/sec"),
        (10169, "59/min"),
        (600000, "1/min"),
        (5142857, "7/hour"),
        (288000000, "3/day"),
    ],
)
def test_rates(average: int, text: str) -> None:
    assert rate(average) == text


def test_a_hop_limit_has_its_own_word() -> None:
    assert RARER["hl"]({"mode": 1, "ttl": 5}, "ip6") == ["! --hl-eq 5"]
