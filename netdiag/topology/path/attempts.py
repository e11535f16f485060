"""Compare real connection attempts with predicted paths: rule counters, links where packets were seen, the errno.

A counter that rises by one with every attempt, and not otherwise, proves that its rule matched. One that other traffic
moves, too, is consistent with the attempt and proves nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

from netdiag.linux.ruleset import FilterRule, RuleAddress, Ruleset, address_of, policy_of
from netdiag.topology.graph import Hop, HopKind, Path, PathEnd
from netdiag.topology.inventory import Inventory, LinkId
from netdiag.values import dataclass

_REJECTS = frozenset({"reject", "xt:REJECT"})

# Packets by namespace and rule.
Counts = Mapping[tuple[int, RuleAddress], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterWindow:
    """What was counted during one attempt, and then during as long a time without one."""

    during: Counts
    after: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRule:
    """A rule whose counter rose with every attempt; `packets` has a number for each.

    `foreign` is whether other traffic moved it, too. `ends` is whether it drops or rejects, or is a policy that drops.
    """

    netns: int
    rule: RuleAddress
    packets: tuple[int, ...]
    foreign: bool
    ends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterEvidence:
    """What the rule counters say about a few attempts to connect to one address.

    `errno` is that of the first connect(2), "" for success and "EINPROGRESS" where nothing came while counters were
    read. `counted` are the rules in the order of the rulesets. `uncounted` is how many rules that drop or reject have
    no counter: one of those may have decided unseen. `notes` say what could not be read.
    """

    errno: str
    attempts: int
    counted: tuple[CountedRule, ...] = ()
    uncounted: int = 0
    notes: tuple[str, ...] = ()

    @property
    def ending(self) -> tuple[CountedRule, ...]:
        """The rules that drop or reject, proven ones first."""
        return tuple(sorted((one for one in self.counted if one.ends), key=lambda one: one.foreign))

    @property
    def proven(self) -> CountedRule | None:
        """The one rule that ended every attempt and nothing else; None where there is none, or more than one."""
        found = self.ending
        return found[0] if len([one for one in found if not one.foreign]) == 1 else None


def rules_counted_every_time(windows: Sequence[CounterWindow], inventory: Inventory) -> tuple[CountedRule, ...]:
    """The rules whose counter rose in every window."""
    if not windows:
        return ()
    always = set.intersection(*(set(window.during) for window in windows))
    ends = dict.fromkeys(_ending(inventory), True)
    return tuple(
        CountedRule(
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
    """Whether a rule drops or rejects what it matches."""
    return any(
        one.name in _REJECTS or (one.name == "verdict" and one.fields.get("verdict") == "drop")
        for one in rule.expressions
    )


def rules_without_counter(rulesets: Iterable[Ruleset]) -> int:
    """How many rules that drop or reject have no counter."""
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


class Agreement(StrEnum):
    """Whether the prediction is what happened; the value is the word users see."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSighting:
    """A link on the path: whether the first packet was seen there, and an answer to it."""

    link: LinkId
    first: bool
    answer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedCounter:
    """A rule whose counter rose with every attempt; `others` is whether other traffic moved it, too."""

    netns: int
    rule: RuleAddress
    packets: int
    others: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectResult:
    """The result of connect(2): `errno` by name, "" for success. `closed` None was not checked."""

    errno: str
    closed: bool | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A real connection compared with its predicted path.

    `errno` is that of connect(2), "" for success, "ETIMEDOUT" where nothing came in time. `seconds` is how long it
    took, `seen` are the links of the path in order, `moved` the rules whose counter rose with every attempt. `notes`
    say what could not be observed.
    """

    path: Path
    end: PathEnd
    errno: str
    seconds: float
    attempts: int
    agreement: Agreement
    because: str
    seen: tuple[LinkSighting, ...] = ()
    moved: tuple[MovedCounter, ...] = ()
    notes: tuple[str, ...] = ()


# The ends that one errno of connect(2) may stand for.
_ENDS = {
    "": (PathEnd.CONNECTED, PathEnd.CLOSED),
    "ECONNREFUSED": (PathEnd.REFUSED,),
    "ETIMEDOUT": (PathEnd.DROPPED,),
    "ENETUNREACH": (PathEnd.NO_ROUTE, PathEnd.REFUSED),
    "EHOSTUNREACH": (PathEnd.NO_NEIGHBOUR, PathEnd.NO_ROUTE, PathEnd.REFUSED),
    "EACCES": (PathEnd.NO_ROUTE, PathEnd.REFUSED),
    "EINVAL": (PathEnd.NO_ROUTE,),
    "ENOPROTOOPT": (PathEnd.REFUSED,),
    "EADDRNOTAVAIL": (PathEnd.NO_ROUTE,),
    "EPERM": (PathEnd.DROPPED,),
}


def observed_end(errno: str, *, closed: bool = False) -> PathEnd:
    """The end that an errno of connect(2) stands for; `closed` is a connection that ended at once."""
    if not errno:
        return PathEnd.CLOSED if closed else PathEnd.CONNECTED
    return _ENDS.get(errno, (PathEnd.UNKNOWN,))[0]


def agreement(path: Path, errno: str, *, closed: bool | None = None) -> Agreement:
    """Whether a predicted path agrees with an errno of connect(2); `closed` None was not checked."""
    if path.end in (PathEnd.UNKNOWN, PathEnd.UNRESOLVED):
        return Agreement.OPEN
    if path.end not in _ENDS.get(errno, ()):
        return Agreement.DISAGREES
    if path.errno and errno and path.errno != errno:
        return Agreement.DISAGREES
    if not errno and closed is not None and closed is not (path.end is PathEnd.CLOSED):
        return Agreement.DISAGREES
    return Agreement.AGREES


# A route names a link, too, but a packet may be dropped before it gets there.
_LINK_HOPS = (HopKind.LINK, HopKind.BRIDGE, HopKind.NEIGHBOUR)
_BY_RULES = (PathEnd.DROPPED, PathEnd.REFUSED)


def predicted_links(path: Path) -> tuple[LinkId, ...]:
    """The links that the first packet passes, in order; what a docker-proxy sends is another connection."""
    passed = (hop.link for hop in _first_packet_hops(path) if hop.kind in _LINK_HOPS and hop.link is not None)
    return tuple(dict.fromkeys(passed))


def required_links(path: Path) -> frozenset[LinkId]:
    """The links on which the first packet must be seen: not those where it ends before it is sent or received."""
    hops = _first_packet_hops(path)
    sure = [hop for hop in hops if hop.kind in _LINK_HOPS]
    if path.end not in (PathEnd.CONNECTED, PathEnd.CLOSED) and hops:
        if hops[-1].kind is HopKind.NEIGHBOUR:
            sure = sure[:-1]
        elif sure and sure[-1].kind is HopKind.BRIDGE:
            # Rules about bridged frames match before a frame is forwarded or received.
            sure = sure[:-1]
    return frozenset(hop.link for hop in sure if hop.link is not None)


def _first_packet_hops(path: Path) -> list[Hop]:
    hops = [hop for hop in path.hops if not hop.details.get("answer")]
    proxy = next((index for index, hop in enumerate(hops) if hop.kind is HopKind.PROXY), len(hops))
    return hops[:proxy]


def deciding_rule(path: Path) -> tuple[int, RuleAddress] | None:
    """The namespace and the rule at which the path ends."""
    if path.end not in _BY_RULES or not path.hops:
        return None
    filters = [hop for hop in path.hops if hop.kind is HopKind.FILTER and not hop.details.get("answer")]
    last = [hop for hop in path.hops if not hop.details.get("answer")][-1:]
    if not filters or not last or last[0] is not filters[-1] or not last[0].rules:
        return None
    return last[0].netns, last[0].rules[0]


def judge_attempt(
    path: Path,
    attempted: ConnectResult,
    seen: Sequence[LinkSighting],
    moved: Sequence[MovedCounter],
    *,
    required: Collection[LinkId],
    counted: Collection[tuple[int, RuleAddress]],
) -> tuple[Agreement, str]:
    """Whether the result, the links and the counters agree with the path, and why or why not in one line."""
    result = attempted.errno or ("closed at once" if attempted.closed else "connected")
    predicted = f"{path.end.value} {path.errno}".rstrip()
    verdict = agreement(path, attempted.errno, closed=attempted.closed)
    if verdict is Agreement.OPEN:
        return verdict, f"no prediction; observed {result}"
    if verdict is Agreement.DISAGREES:
        return verdict, f"predicted {predicted}, observed {result}"
    missed = [one for one in seen if one.link in required and not one.first]
    if missed:
        return (
            Agreement.DISAGREES,
            f"{result} as predicted, but the packet was not seen on {len(missed)} devices of the path",
        )
    rule = deciding_rule(path)
    if rule is not None and rule in counted:
        evidence = next((one for one in moved if (one.netns, one.rule) == rule), None)
        if evidence is None:
            return Agreement.DISAGREES, f"{result} as predicted, but the counter of {rule[1]} did not change"
        how = "consistent with" if evidence.others else "counted by"
        return verdict, f"{result} as predicted, {how} {rule[1]}"
    where = (
        f", seen on all {len(required)} devices of the path" if len(required) > 1 and len(seen) >= len(required) else ""
    )
    return verdict, f"{result} as predicted{where}"
