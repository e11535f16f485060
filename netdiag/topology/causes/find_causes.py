"""Find the causes of a failed connection, the likeliest first, each with repairs.

What counters prove comes first, then what the predicted path shows, then what counters are merely consistent with, then
what the model of the deployment predicts. A repair is confirmed by a prediction in the changed topology.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.model.contact import Answered, Failed, Mechanism, Reason
from netdiag.linux.ruleset import RuleAddress, address_of, policy_of
from netdiag.topology.causes.failed_connection import Cause, Certainty, FailedConnection, Remedy, Repair, Suspect
from netdiag.topology.causes.links import suspect_lost_packet, suspect_without_route
from netdiag.topology.causes.names import suspect_of_name
from netdiag.topology.causes.remedies import without_failed_neighbours
from netdiag.topology.causes.rules import rule_name, suspect_of_rule
from netdiag.topology.causes.sockets import (
    suspect_behind_proxy,
    suspect_hung,
    suspect_of_backlog,
    suspect_of_refusal,
    suspect_of_silence,
)
from netdiag.topology.graph import Hop, HopKind, PathEnd
from netdiag.topology.path.attempts import ends_packets
from netdiag.topology.path.name_lookup import Resolver
from netdiag.topology.path.prediction import PathPredictor

MOST_REPAIRS = 6
_NOT_TRIED = "cannot be tested in the model"
_MECHANISMS = {
    Reason.NOT_KAFKA: Mechanism.NOT_KAFKA,
    Reason.TLS: Mechanism.TLS_EXPECTED,
    Reason.SASL: Mechanism.SASL_EXPECTED,
}
_BY_REASON = {
    Reason.REFUSED: (PathEnd.REFUSED,),
    Reason.TIMEOUT: (PathEnd.DROPPED, PathEnd.NO_NEIGHBOUR, PathEnd.CONNECTED),
    Reason.UNREACHABLE: (PathEnd.NO_ROUTE, PathEnd.NO_NEIGHBOUR, PathEnd.REFUSED),
    Reason.CLOSED: (PathEnd.CLOSED, PathEnd.CONNECTED),
    Reason.UNRESOLVED: (PathEnd.UNRESOLVED, PathEnd.UNKNOWN),
    Reason.NOT_KAFKA: (PathEnd.CONNECTED, PathEnd.CLOSED),
    Reason.TLS: (PathEnd.CONNECTED, PathEnd.CLOSED),
    Reason.SASL: (PathEnd.CONNECTED, PathEnd.CLOSED),
}


def find_causes(connection: FailedConnection, resolver: Resolver | None = None) -> tuple[Cause, ...]:
    """The causes of a failed connection; none for one that does not fail, or that nothing explains."""
    if isinstance(connection.seen, Answered) or (connection.seen is None and connection.path.end is PathEnd.CONNECTED):
        return ()
    found: dict[Mechanism, Cause] = {}
    for certainty, suspect in sorted(_suspects(connection), key=lambda one: list(Certainty).index(one[0])):
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
            repairs=_repairs(connection, suspect, resolver),
        )
    return tuple(found.values())


def _suspects(connection: FailedConnection) -> Iterator[tuple[Certainty, Suspect]]:
    seen, deciding = connection.seen, connection.deciding
    connects = deciding is not None and not deciding.errno and deciding.attempts > 0
    if deciding is not None and not connects and _may_be_rules(connection):
        proven = deciding.proven
        for counted in deciding.ending:
            certainty = Certainty.PROVEN if counted is proven else Certainty.CONSISTENT
            suspect = suspect_of_rule(connection, counted.netns, counted.rule)
            times = f"its counter rose by {', '.join(map(str, counted.packets))} for {deciding.attempts} first packets"
            others = ", but other packets count there too" if counted.foreign else ", and not without them"
            line = f"{rule_name(counted.rule)}: {times}{others}"
            yield certainty, replace(suspect, evidence=(*suspect.evidence, line))
    on_path = _of_path(connection, connects=connects)
    if on_path is not None:
        agrees = not isinstance(seen, Failed) or connection.path.end in _BY_REASON.get(seen.reason, ())
        yield Certainty.FOUND if agrees else Certainty.CONSISTENT, on_path
    foretold = connection.foretold
    if foretold is not None and foretold.mechanism is not None:
        said = f"the deployment's files and settings predict it: {foretold.because}"
        yield (
            Certainty.FORETOLD,
            Suspect(mechanism=foretold.mechanism, because=foretold.because, evidence=(said,)),
        )


def _may_be_rules(connection: FailedConnection) -> bool:
    """Whether packet filter rules can cause what was seen."""
    seen = connection.seen
    if isinstance(seen, Failed):
        return seen.reason in (Reason.TIMEOUT, Reason.REFUSED, Reason.UNREACHABLE, Reason.CLOSED)
    return connection.path.end is not PathEnd.UNRESOLVED


def _of_path(connection: FailedConnection, *, connects: bool) -> Suspect | None:
    path = connection.path
    if isinstance(connection.seen, Failed) and connection.seen.reason is Reason.UNRESOLVED:
        return suspect_of_name(connection)
    if path.end in (PathEnd.CONNECTED, PathEnd.CLOSED) or connects:
        return _accepted(connection)
    match path.end:
        case PathEnd.UNRESOLVED:
            return suspect_of_name(connection)
        case PathEnd.UNKNOWN:
            return suspect_of_name(connection) if not path.address else None
        case PathEnd.NO_ROUTE:
            return suspect_without_route(connection)
        case PathEnd.REFUSED:
            return _of_rule(connection) or suspect_of_refusal(connection)
        case PathEnd.DROPPED:
            return suspect_of_backlog(connection) or _of_rule(connection) or suspect_lost_packet(connection)
        case PathEnd.NO_NEIGHBOUR:
            return suspect_lost_packet(connection)
    return None


def _accepted(connection: FailedConnection) -> Suspect | None:
    """The connection is accepted, and fails then."""
    seen = connection.seen
    if isinstance(seen, Failed) and seen.reason in _MECHANISMS:
        mechanism = seen.mechanism or _MECHANISMS[seen.reason]
        return Suspect(mechanism=mechanism, because=seen.because, evidence=(connection.path.because,))
    if connection.path.end is PathEnd.CLOSED or (isinstance(seen, Failed) and seen.reason is Reason.CLOSED):
        return suspect_behind_proxy(connection) or suspect_of_silence(connection)
    silent = suspect_of_silence(connection)
    if silent is None and isinstance(seen, Failed) and seen.reason is Reason.TIMEOUT:
        return suspect_hung(connection)
    return silent


def _of_rule(connection: FailedConnection) -> Suspect | None:
    """The rule at which the path ends, on the way there or back."""
    last = connection.path.hops[-1] if connection.path.hops else None
    if last is None or last.kind is not HopKind.FILTER:
        return None
    rule = _deciding_rule(connection, last)
    return None if rule is None else suspect_of_rule(connection, last.netns, rule)


def _deciding_rule(connection: FailedConnection, hop: Hop) -> RuleAddress | None:
    facts = connection.topology.inventory.namespaces.get(hop.netns)
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


def _repairs(connection: FailedConnection, suspect: Suspect, resolver: Resolver | None) -> tuple[Repair, ...]:
    made = [_try(connection, one, resolver) for one in suspect.remedies[:MOST_REPAIRS]]
    return tuple(sorted(made, key=lambda repair: not repair.confirmed))


def _try(connection: FailedConnection, remedy: Remedy, resolver: Resolver | None) -> Repair:
    if remedy.change is None and not remedy.destination:
        return Repair(text=remedy.text, confirmed=False, because=_NOT_TRIED)
    topology = remedy.change(connection.topology) if remedy.change is not None else connection.topology
    topology = without_failed_neighbours(topology)
    path = connection.path
    destination = remedy.destination or path.address or path.destination
    again = PathPredictor(topology, resolver).predict(path.source, destination, remedy.port or path.port)
    if again.end is not PathEnd.CONNECTED:
        return Repair(text=remedy.text, confirmed=False, because=f"not sufficient: {again.because}")
    left = suspect_of_silence(replace(connection, topology=topology, path=again, deciding=None))
    if left is not None:
        return Repair(text=remedy.text, confirmed=False, because=f"not sufficient: {left.because}")
    return Repair(text=remedy.text, confirmed=True, because=f"predicted: {again.because}")
