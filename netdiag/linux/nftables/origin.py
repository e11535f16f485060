"""Whether iptables made a table of nf_tables: its names, its base chains, and what is in it."""

from collections.abc import Iterable, Sequence

from netdiag.linux.nftables.messages import Place, RuleMessage
from netdiag.linux.ruleset import Chain, ElementSet

# table -> base chain -> hook, type, priority
_FILTER = {name: (name.lower(), "filter", priority) for name, priority in (("INPUT", 0), ("FORWARD", 0), ("OUTPUT", 0))}
_BASE = {
    "filter": _FILTER,
    "security": {name: (hook, kind, 50) for name, (hook, kind, _) in _FILTER.items()},
    "raw": {"PREROUTING": ("prerouting", "filter", -300), "OUTPUT": ("output", "filter", -300)},
    "mangle": {
        **{name: (name.lower(), "filter", -150) for name in ("PREROUTING", "INPUT", "FORWARD", "POSTROUTING")},
        "OUTPUT": ("output", "route", -150),
    },
    "nat": {
        "PREROUTING": ("prerouting", "nat", -100),
        "INPUT": ("input", "nat", 100),
        "OUTPUT": ("output", "nat", -100),
        "POSTROUTING": ("postrouting", "nat", 100),
    },
}
_EXPRESSIONS = frozenset(
    ("meta", "payload", "cmp", "bitwise", "counter", "verdict", "immediate", "limit", "lookup", "log", "range")
)


def made_by_iptables(
    place: Place, chains: Sequence[Chain], rules: Iterable[RuleMessage], sets: Iterable[ElementSet]
) -> bool:
    """Whether iptables-save would print the table."""
    expected = _BASE.get(place.table)
    if place.family not in ("ip", "ip6") or expected is None:
        return False
    based = [chain for chain in chains if chain.hook]
    if any((chain.hook, chain.type, chain.priority) != expected.get(chain.name) for chain in based):
        return False
    if not based and not chains:
        return False
    if any(not one.anonymous for one in sets):
        return False
    return all(one.name in _EXPRESSIONS or one.name.startswith("xt:") for rule in rules for one in rule.expressions)
