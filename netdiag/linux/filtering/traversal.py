"""What the packet filters of a namespace do with one packet at one hook.

All base chains of the hook are asked in the kernel's order: by priority, those of type nat together at their own place
and for new connections only. A drop in any of them ends it; an accept ends its own chain, and the next is asked. What
is not known matters only if the outcome depends on it: then the verdict is unknown.
Sources: linux/netfilter_ipv4.h (priorities), Documentation/networking/nf_conntrack-sysctl.rst, nft(8).
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import Enum

from netdiag.linux.filtering import nf_tables, xtables
from netdiag.linux.filtering.packet import (
    NOTHING_KNOWN,
    ConnectionState,
    Decision,
    Evaluation,
    NamespaceView,
    Packet,
    Ternary,
)
from netdiag.linux.ruleset import Chain, ElementSet, FilterRule, Origin, RuleAddress, Ruleset, Table, address_of
from netdiag.values import dataclass

# Lines of `Ruleset.unread` that begin so tell of what decides nothing about the first packet of a connection, or of
# sets, which know themselves that they are not whole.
HARMLESS = ("flowtable ", "set ")
# NF_IP_PRI_NAT_DST and NF_IP_PRI_NAT_SRC: chains of type nat are asked there, whatever their own priority.
_NAT_PRIORITY = {"prerouting": -100, "output": -100, "input": 100, "postrouting": 100}
# NF_IP_PRI_CONNTRACK
_TRACKING_PRIORITY = -200
_DEEPEST = 64
_MOST_STEPS = 200_000
_MOST_RUNS = 256


class Verdict(Enum):
    """How a hook ends for a packet; users see the value."""

    ACCEPT = "accept"
    DROP = "drop"
    REJECT = "reject"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Traversal:
    """The outcome for a packet.

    `packet` is as it leaves the hook, translated and marked. `kind` is what a reject sends ("tcp reset", "icmp
    port-unreachable"), "" otherwise. `hits` are the rules that matched, in order: those whose counters move.
    `deciding` is the rule that dropped, rejected or translated it, else the last one that accepted it, None where
    policies decided. `because` tells it in one line. `hits` are those for certain: where something is not
    known, those of every possibility.
    """

    verdict: Verdict
    packet: Packet
    hits: tuple[RuleAddress, ...] = ()
    deciding: RuleAddress | None = None
    kind: str = ""
    because: str = ""


def traverse(
    ruleset: Ruleset,
    hook: str,
    packet: Packet,
    *,
    namespace: NamespaceView = NOTHING_KNOWN,
    family: str = "",
    device: str = "",
) -> Traversal:
    """Evaluate the chains of one hook ("prerouting", "input", "forward", "output", "postrouting", "ingress").

    `family` "bridge" or "netdev" asks the chains of that family; otherwise those of the packet's own and "inet".
    `device` is the one of a netdev hook. Tables that could not be read make the outcome unknown, unless it is a drop.
    """
    families = (family,) if family else ("ip" if packet.family == 4 else "ip6", "inet")
    found, *others = (_outcome(stages, hook, packet, namespace) for stages in _orders(ruleset, hook, families, device))
    if any(not _same_outcome(found, other) for other in others):
        because = "it depends on whether legacy iptables or nf_tables comes first at the same priority"
        return Traversal(verdict=Verdict.UNKNOWN, packet=found.packet, because=because)
    if others:
        found = replace(found, hits=tuple(hit for hit in found.hits if all(hit in other.hits for other in others)))
    missing = next((line for line in ruleset.unread if not line.startswith(HARMLESS)), "")
    if missing and found.verdict is Verdict.ACCEPT:
        because = f"not all rules could be read: {missing}"
        return Traversal(verdict=Verdict.UNKNOWN, packet=found.packet, hits=found.hits, because=because)
    return found


def _outcome(stages: tuple["_Stage", ...], hook: str, packet: Packet, namespace: NamespaceView) -> Traversal:
    outcomes = _Outcomes()
    choices: list[bool] | None = []
    while choices is not None:
        run = _Run(hook=hook, namespace=namespace, choices=choices)
        traversal = run.outcome(stages, packet)
        choices = outcomes.add(traversal, run)
    return outcomes.verdict()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """Base chains that are asked one after the other; those of type nat stop at the first translation."""

    nat: bool
    chains: tuple[tuple[Table, Chain], ...]


def _orders(ruleset: Ruleset, hook: str, families: Sequence[str], device: str) -> Iterator[tuple[_Stage, ...]]:
    """The orders that are possible. Of one priority the chain that was made last is asked first.

    nf_tables lists what it has in the order in which it was made; whether a legacy table was made before is not known.
    """
    base = [
        (table, chain)
        for table in reversed(ruleset.tables)
        if table.family in families
        for chain in reversed(table.chains)
        if chain.hook == hook and (not device or not chain.devices or device in chain.devices)
    ]
    legacy = [pair for pair in base if pair[0].origin is Origin.IPTABLES_LEGACY]
    other = [pair for pair in base if pair[0].origin is not Origin.IPTABLES_LEGACY]
    yield tuple(_stages([*other, *legacy], hook))
    if {chain.priority for _, chain in legacy} & {chain.priority for _, chain in other}:
        yield tuple(_stages([*legacy, *other], hook))


def _stages(base: list[tuple[Table, Chain]], hook: str) -> Iterator[_Stage]:
    base.sort(key=lambda pair: pair[1].priority)
    nat_priority = _NAT_PRIORITY.get(hook)
    nat = tuple(pair for pair in base if pair[1].type == "nat")
    waiting = bool(nat) and nat_priority is not None
    for pair in base:
        if pair[1].type == "nat" and nat_priority is not None:
            continue
        if waiting and nat_priority is not None and pair[1].priority > nat_priority:
            yield _Stage(nat=True, chains=nat)
            waiting = False
        yield _Stage(nat=False, chains=(pair,))
    if waiting:
        yield _Stage(nat=True, chains=nat)


@dataclasses.dataclass(slots=True)
class _Outcomes:
    """Tries both values for whatever is not known, until two outcomes differ."""

    first: Traversal | None = None
    differing: Traversal | None = None
    reason: str = ""
    runs: int = 0
    certain: list[frozenset[RuleAddress]] = field(default_factory=list)

    def add(self, traversal: Traversal, run: "_Run") -> list[bool] | None:
        """The choices to try next; None when the answer stands."""
        self.runs += 1
        if self.first is None:
            self.first = traversal
        else:
            self.certain.append(frozenset(traversal.hits))
        if not _same_outcome(self.first, traversal):
            self.differing = traversal
            return None
        self.reason = self.reason or run.reason
        if traversal.verdict is Verdict.UNKNOWN:
            return None
        tried = run.choices[: run.asked]
        while tried and tried[-1]:
            tried.pop()
        if not tried:
            return None
        if self.runs >= _MOST_RUNS:
            self.differing = traversal
            return None
        return [*tried[:-1], True]

    def verdict(self) -> Traversal:
        assert self.first is not None
        shared = [one for one in self.first.hits if all(one in others for others in self.certain)]
        if self.differing is None:
            return replace(self.first, hits=tuple(shared))
        because = f"it depends on what is not known: {self.reason}"
        return Traversal(
            verdict=Verdict.UNKNOWN,
            packet=self.first.packet,
            hits=tuple(shared),
            deciding=self.differing.deciding,
            because=because,
        )


def _same_outcome(one: Traversal, other: Traversal) -> bool:
    return one.verdict is other.verdict and one.packet == other.packet and one.kind == other.kind


@dataclasses.dataclass(slots=True, kw_only=True)
class _Run:
    """One way through all stages, with every question that has no answer decided by `choices`."""

    hook: str
    namespace: NamespaceView
    choices: list[bool]
    asked: int = 0
    reason: str = ""
    steps: int = 0
    hits: list[RuleAddress] = field(default_factory=list)
    deciding: RuleAddress | None = None
    translating: RuleAddress | None = None

    def outcome(self, stages: Iterable[_Stage], packet: Packet) -> Traversal:
        for stage in stages:
            if stage.nat and packet.state is not ConnectionState.NEW:
                continue
            for table, chain in stage.chains:
                walk = _Walk(run=self, table=table)
                evaluation = Evaluation(
                    packet=packet,
                    hook=self.hook,
                    namespace=self.namespace,
                    sets=walk.sets,
                    tracked=_tracked(self.hook, chain),
                )
                decision, because = walk.base(chain, evaluation)
                packet = evaluation.packet
                if decision.word != "accept":
                    return self._ended(decision, packet, because)
                if stage.nat and evaluation.translated:
                    self.translating = self.deciding
                    break
        deciding = self.translating or self.deciding
        because = _rule_text(deciding) or "no rule against it"
        return Traversal(
            verdict=Verdict.ACCEPT, packet=packet, hits=tuple(self.hits), deciding=deciding, because=because
        )

    def _ended(self, decision: Decision, packet: Packet, because: str) -> Traversal:
        verdict = {"drop": Verdict.DROP, "reject": Verdict.REJECT}.get(decision.word, Verdict.UNKNOWN)
        return Traversal(
            verdict=verdict,
            packet=packet,
            hits=tuple(self.hits),
            deciding=None if because else self.deciding,
            kind=decision.kind,
            because=because or f"{decision.because + ': ' if decision.because else ''}{_rule_text(self.deciding)}",
        )

    def choose(self, what: str) -> bool:
        """Decide what is not known; the other way is tried in another run."""
        self.reason = self.reason or what
        if self.asked == len(self.choices):
            self.choices.append(False)
        self.asked += 1
        return self.choices[self.asked - 1]


class _Walk:
    """Through the chains of one table."""

    def __init__(self, *, run: _Run, table: Table) -> None:
        self._run, self._table = run, table
        self._chains = {chain.name: chain for chain in table.chains}
        self.sets: dict[str, ElementSet] = {one.name: one for one in table.sets}

    def base(self, chain: Chain, evaluation: Evaluation) -> tuple[Decision, str]:
        """The decision, and why if no rule but the policy took it."""
        decision = self._chain(chain, evaluation, depth=0)
        if decision is not None and decision.word in ("accept", "drop", "reject", "unknown"):
            return decision, ""
        if chain.policy == "drop":
            table = f"{self._table.origin.value} {self._table.family} {self._table.name}"
            return Decision(word="drop"), f"policy drop of {table} {chain.name}"
        return Decision(word="accept"), ""

    def _chain(self, chain: Chain, evaluation: Evaluation, *, depth: int) -> Decision | None:
        """None or "return": its end was reached."""
        if depth > _DEEPEST:
            return Decision(word="unknown", because="chains call each other without end")
        for rule in chain.rules:
            self._run.steps += 1
            if self._run.steps > _MOST_STEPS:
                return Decision(word="unknown", because="too many rules")
            decision = self._rule(chain, rule, evaluation)
            if decision is None or decision.word == "continue":
                continue
            if decision.word in ("jump", "goto"):
                target = self._chains.get(decision.chain)
                if target is None:
                    return Decision(word="unknown", because=f"no chain {decision.chain}")
                inner = self._chain(target, evaluation, depth=depth + 1)
                if inner is not None and inner.word != "return":
                    return inner
                if decision.word == "goto":
                    return None
                continue
            return decision
        return None

    def _rule(self, chain: Chain, rule: FilterRule, evaluation: Evaluation) -> Decision | None:
        """What the rule decides; None where it does not match or decides nothing."""
        decision: Decision | None = None
        for expression in rule.expressions:
            evaluate = xtables.step if expression.name == "ip" or expression.name[:3] == "xt:" else nf_tables.step
            answer: Ternary | Decision = evaluate(expression, evaluation)
            if answer is None:
                answer = self._run.choose(f"{expression.name} in {address_of(self._table, chain, rule)}")
            if answer is False:
                return None
            if isinstance(answer, Decision):
                decision = answer
                break
        address = address_of(self._table, chain, rule)
        self._run.hits.append(address)
        if decision is not None and decision.word in ("accept", "drop", "reject", "unknown"):
            self._run.deciding = address
        return decision


def _tracked(hook: str, chain: Chain) -> bool:
    """Whether connection tracking comes before the chain."""
    return hook not in ("prerouting", "output") or chain.priority > _TRACKING_PRIORITY


def _rule_text(rule: RuleAddress | None) -> str:
    return f"{rule}: {rule.text}" if rule else ""
