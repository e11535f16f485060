"""Which rules a connection attempt moves, by their counters: what several attempts have in common, and how surely.

A counter that rises by one with every attempt and stands still otherwise names its rule. One that others move, too, is
consistent with the attempt and proves nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from netdiag.linux.ruleset import FilterRule, RuleAddress, Ruleset, address_of, policy_of
from netdiag.topology.inventory import Inventory

# What ends a packet in its namespace, by the names of expressions.
_DROPS = frozenset({"verdict"})
_REJECTS = frozenset({"reject", "xt:REJECT"})

# Packets by namespace and rule.
Counts = Mapping[tuple[int, RuleAddress], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What was counted during one attempt, and then for as long again without one."""

    during: Counts
    after: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A rule that every attempt moved. `packets` are those of each attempt.

    `foreign` is one that moved by more than the attempt, or without any: consistent with it, no proof. `ends` is a rule
    that drops or rejects, or a policy that drops.
    """

    netns: int
    rule: RuleAddress
    packets: tuple[int, ...]
    foreign: bool
    ends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """What a few attempts at one address gave.

    `errno` is what connect(2) said of the first, "" for success and "EINPROGRESS" where nothing came while counters
    were read. `counted` are the rules in the order of the rulesets, `uncounted` how many rules that end packets have no
    counter: one of those may have decided unseen. `notes` tell what could not be read.
    """

    errno: str
    attempts: int
    counted: tuple[Counted, ...] = ()
    uncounted: int = 0
    notes: tuple[str, ...] = ()

    @property
    def ending(self) -> tuple[Counted, ...]:
        """The rules among them that end a packet, proven ones first."""
        return tuple(sorted((one for one in self.counted if one.ends), key=lambda one: one.foreign))

    @property
    def proven(self) -> Counted | None:
        """The one rule that ended every attempt and nothing else; None where there is none, or more than one."""
        found = self.ending
        return found[0] if len([one for one in found if not one.foreign]) == 1 else None


def in_common(windows: Sequence[Window], inventory: Inventory) -> tuple[Counted, ...]:
    """The rules that rose in every window."""
    if not windows:
        return ()
    always = set.intersection(*(set(window.during) for window in windows))
    ends = dict.fromkeys(_ending(inventory), True)
    return tuple(
        Counted(
            netns=key[0],
            rule=key[1],
            packets=tuple(window.during[key] for window in windows),
            foreign=any(window.during[key] > 1 or window.after.get(key) for window in windows),
            ends=key in ends,
        )
        for key in windows[0].during
        if key in always
    )


def ends_packets(rule: FilterRule) -> bool:
    """Whether whoever matches the rule gets no further."""
    return any(
        one.name in _REJECTS or (one.name in _DROPS and one.fields.get("verdict") == "drop") for one in rule.expressions
    )


def uncounted(rulesets: Iterable[Ruleset]) -> int:
    """How many rules that end packets have no counter."""
    return sum(
        rule.packets is None and ends_packets(rule)
        for ruleset in rulesets
        for table in ruleset.tables
        for chain in table.chains
        for rule in chain.rules
    )


def _ending(inventory: Inventory) -> Iterable[tuple[int, RuleAddress]]:
    for netns, facts in inventory.namespaces.items():
        for table in facts.ruleset.tables:
            for chain in table.chains:
                if chain.policy == "drop":
                    yield netns, policy_of(table, chain)
                for rule in chain.rules:
                    if ends_packets(rule):
                        yield netns, address_of(table, chain, rule)
