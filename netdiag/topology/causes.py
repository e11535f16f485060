"""Why a connection fails: the causes that would explain it, the likeliest first, each with repairs that are tried out.

What counters prove comes first, then what the walk through namespaces finds, then what counters are merely consistent
with, then what the model of the deployment foretells. A repair is confirmed by making the change in the topology and
walking again.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.observations import Answered, Failed, Reason
from netdiag.linux.ruleset import RuleAddress, address_of, policy_of
from netdiag.topology.asking import Names
from netdiag.topology.causes_links import suspect_on_the_way, suspect_without_route
from netdiag.topology.causes_names import suspect_of_name
from netdiag.topology.causes_rules import named, suspect_of_rule
from netdiag.topology.causes_sockets import (
    hung,
    suspect_behind_proxy,
    suspect_of_backlog,
    suspect_of_refusal,
    suspect_of_silence,
)
from netdiag.topology.changes import asked_anew
from netdiag.topology.counted import ends_packets
from netdiag.topology.explained import Cause, Certainty, Repair
from netdiag.topology.failing import Failing, Remedy, Suspect
from netdiag.topology.hops import End, Hop, HopKind
from netdiag.topology.path import Walker

MOST_REPAIRS = 6
_UNTRIED = "cannot be tried beforehand"
_WORDS = {
    Reason.NOT_KAFKA: Mechanism.NOT_KAFKA,
    Reason.TLS: Mechanism.TLS_EXPECTED,
    Reason.SASL: Mechanism.SASL_EXPECTED,
}
_BY_REASON = {
    Reason.REFUSED: (End.REFUSED,),
    Reason.TIMEOUT: (End.DROPPED, End.NO_NEIGHBOUR, End.CONNECTED),
    Reason.UNREACHABLE: (End.NO_ROUTE, End.NO_NEIGHBOUR, End.REFUSED),
    Reason.CLOSED: (End.CLOSED, End.CONNECTED),
    Reason.UNRESOLVED: (End.UNRESOLVED, End.UNKNOWN),
    Reason.NOT_KAFKA: (End.CONNECTED, End.CLOSED),
    Reason.TLS: (End.CONNECTED, End.CLOSED),
    Reason.SASL: (End.CONNECTED, End.CLOSED),
}


def causes(failing: Failing, names: Names | None = None) -> tuple[Cause, ...]:
    """The causes of a failing connection; none for one that does not fail, or that nothing explains."""
    if isinstance(failing.seen, Answered) or (failing.seen is None and failing.path.end is End.CONNECTED):
        return ()
    found: dict[Mechanism, Cause] = {}
    for certainty, suspect in sorted(_suspects(failing), key=lambda one: list(Certainty).index(one[0])):
        earlier = found.get(suspect.mechanism)
        if earlier is not None:
            evidence = tuple(dict.fromkeys((*earlier.evidence, *suspect.evidence)))
            found[suspect.mechanism] = replace(earlier, evidence=evidence)
            continue
        found[suspect.mechanism] = Cause(
            mechanism=suspect.mechanism,
            certainty=certainty,
            because=suspect.because,
            evidence=suspect.evidence,
            repairs=_repairs(failing, suspect, names),
        )
    return tuple(found.values())


def _suspects(failing: Failing) -> Iterator[tuple[Certainty, Suspect]]:
    seen, deciding = failing.seen, failing.deciding
    connects = deciding is not None and not deciding.errno and deciding.attempts > 0
    if deciding is not None and not connects and _at_rules(failing):
        proven = deciding.proven
        for counted in deciding.ending:
            certainty = Certainty.PROVEN if counted is proven else Certainty.CONSISTENT
            suspect = suspect_of_rule(failing, counted.netns, counted.rule)
            times = f"its counter rose by {', '.join(map(str, counted.packets))} with {deciding.attempts} first packets"
            others = ", and others move it, too" if counted.foreign else ", and not without"
            line = f"{named(counted.rule)}: {times}{others}"
            yield certainty, replace(suspect, evidence=(*suspect.evidence, line))
    walked = _of_walk(failing, connects=connects)
    if walked is not None:
        agrees = not isinstance(seen, Failed) or failing.path.end in _BY_REASON.get(seen.reason, ())
        yield Certainty.FOUND if agrees else Certainty.CONSISTENT, walked
    foretold = failing.foretold
    if foretold is not None and foretold.mechanism is not None:
        said = f"the deployment's files and settings foretell it: {foretold.because}"
        yield (
            Certainty.FORETOLD,
            Suspect(mechanism=foretold.mechanism, because=foretold.because, evidence=(said,)),
        )


def _at_rules(failing: Failing) -> bool:
    """Whether rules may be to blame for what was seen."""
    seen = failing.seen
    if isinstance(seen, Failed):
        return seen.reason in (Reason.TIMEOUT, Reason.REFUSED, Reason.UNREACHABLE, Reason.CLOSED)
    return failing.path.end is not End.UNRESOLVED


def _of_walk(failing: Failing, *, connects: bool) -> Suspect | None:
    path = failing.path
    if isinstance(failing.seen, Failed) and failing.seen.reason is Reason.UNRESOLVED:
        return suspect_of_name(failing)
    if path.end in (End.CONNECTED, End.CLOSED) or connects:
        return _accepted(failing)
    match path.end:
        case End.UNRESOLVED:
            return suspect_of_name(failing)
        case End.UNKNOWN:
            return suspect_of_name(failing) if not path.address else None
        case End.NO_ROUTE:
            return suspect_without_route(failing)
        case End.REFUSED:
            return _by_rule(failing) or suspect_of_refusal(failing)
        case End.DROPPED:
            return suspect_of_backlog(failing) or _by_rule(failing) or suspect_on_the_way(failing)
        case End.NO_NEIGHBOUR:
            return suspect_on_the_way(failing)
    return None


def _accepted(failing: Failing) -> Suspect | None:
    """Somebody takes the connection: what becomes of it then."""
    seen = failing.seen
    if isinstance(seen, Failed) and seen.reason in _WORDS:
        mechanism = seen.mechanism or _WORDS[seen.reason]
        return Suspect(mechanism=mechanism, because=seen.because, evidence=(failing.path.because,))
    if failing.path.end is End.CLOSED or (isinstance(seen, Failed) and seen.reason is Reason.CLOSED):
        return suspect_behind_proxy(failing) or suspect_of_silence(failing)
    silent = suspect_of_silence(failing)
    if silent is None and isinstance(seen, Failed) and seen.reason is Reason.TIMEOUT:
        return hung(failing)
    return silent


def _by_rule(failing: Failing) -> Suspect | None:
    """The rule at which the walk ends, going or coming back."""
    last = failing.path.hops[-1] if failing.path.hops else None
    if last is None or last.kind is not HopKind.FILTER:
        return None
    rule = _ending(failing, last)
    return None if rule is None else suspect_of_rule(failing, last.netns, rule)


def _ending(failing: Failing, hop: Hop) -> RuleAddress | None:
    facts = failing.topology.inventory.namespaces.get(hop.netns)
    if facts is None:
        return None
    hook = hop.what.partition(":")[0]
    policies: list[RuleAddress] = []
    for table in facts.ruleset.tables:
        for chain in table.chains:
            for rule in chain.rules:
                if hop.rules[:1] == (address_of(table, chain, rule),) and ends_packets(rule):
                    return hop.rules[0]
            if chain.hook == hook and chain.policy == "drop":
                policies.append(policy_of(table, chain))
    return policies[0] if policies else None


def _repairs(failing: Failing, suspect: Suspect, names: Names | None) -> tuple[Repair, ...]:
    made = [_tried(failing, one, names) for one in suspect.remedies[:MOST_REPAIRS]]
    return tuple(sorted(made, key=lambda repair: not repair.confirmed))


def _tried(failing: Failing, remedy: Remedy, names: Names | None) -> Repair:
    if remedy.change is None and not remedy.destination:
        return Repair(text=remedy.text, confirmed=False, because=_UNTRIED)
    topology = remedy.change(failing.topology) if remedy.change is not None else failing.topology
    topology = asked_anew(topology)
    path = failing.path
    destination = remedy.destination or path.address or path.destination
    again = Walker(topology, names).walk(path.source, destination, remedy.port or path.port)
    if again.end is not End.CONNECTED:
        return Repair(text=remedy.text, confirmed=False, because=f"would not be enough: {again.because}")
    left = suspect_of_silence(replace(failing, topology=topology, path=again, deciding=None))
    if left is not None:
        return Repair(text=remedy.text, confirmed=False, because=f"would not be enough: {left.because}")
    return Repair(text=remedy.text, confirmed=True, because=f"foretold: {again.because}")
