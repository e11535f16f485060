"""Options of the rarer matches."""

from netdiag.linux.xtables.rarer_match_text import RARER


def test_a_hop_limit_has_its_own_word() -> None:
    assert RARER["hl"]({"mode": 1, "ttl": 5}, "ip6") == ["! --hl-eq 5"]
