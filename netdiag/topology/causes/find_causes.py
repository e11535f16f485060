"""Find the causes of a failed connection, the likeliest first, each with repairs.

What counters prove comes first, then what the predicted path shows, then what counters are merely consistent with, then
what the model of the deployment predicts. A repair is confirmed by a prediction in the changed topology.

A name that does not resolve is looked for among the containers. A packet filter rule that drops or rejects is isolation
by the engine, or a firewall: the engine's rules are recognised by their chains and by the bridges that they name (moby,
libnetwork/drivers/bridge, from 20.10 to 29, iptables and nftables).
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.model.causes import NOT_TRIED, Cause, Certainty, Repair, name_of_stopped, predicted_repair
from netdiag.deployment.model.verdict import Address, Answered, Failed, Mechanism, Reason
from netdiag.engine.container import Container
from netdiag.linux.ruleset import Origin, RuleAddress, address_of, policy_of
from netdiag.topology.causes import remedies
from netdiag.topology.causes.failed_connection import FailedConnection, Remedy, Suspect
from netdiag.topology.causes.links import suspect_lost_packet, suspect_of_mtu, suspect_without_route
from netdiag.topology.causes.remedies import without_failed_neighbours
from netdiag.topology.causes.sockets import (
    suspect_behind_proxy,
    suspect_hung,
    suspect_of_backlog,
    suspect_of_refusal,
    suspect_of_silence,
)
from netdiag.topology.graph import Hop, HopKind, NetworkView, PathEnd, PlaceKind
from netdiag.topology.path.attempts import ends_packets
from netdiag.topology.path.name_lookup import Resolver
from netdiag.topology.path.prediction import PathPredictor

MOST_REPAIRS = 6
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
    predicted = connection.predicted
    for certainty, suspect in sorted(_suspects(connection), key=lambda one: list(Certainty).index(one[0])):
        earlier = found.get(suspect.mechanism)
        if earlier is not None:
            new: tuple[str, ...] = (suspect.because, *suspect.evidence)
            evidence = tuple(line for line in dict.fromkeys((*earlier.evidence, *new)) if line != earlier.because)
            found[suspect.mechanism] = replace(earlier, evidence=evidence)
            continue
        # What the model says of a mechanism is said with and without a look at the machine, which adds its evidence.
        known = predicted.because if predicted is not None and predicted.mechanism is suspect.mechanism else ""
        because = known or suspect.because
        evidence = (suspect.because, *suspect.evidence) if because != suspect.because else suspect.evidence
        found[suspect.mechanism] = Cause(
            mechanism=suspect.mechanism,
            certainty=certainty,
            because=because,
            evidence=evidence,
            repairs=_repairs(connection, suspect, resolver),
        )
    return tuple(found.values())


def _suspects(connection: FailedConnection) -> Iterator[tuple[Certainty, Suspect]]:
    seen, deciding = connection.seen, connection.deciding
    connects = deciding is not None and not deciding.errno and deciding.attempts > 0
    if deciding is not None and not connects and _may_be_rules(connection):
        proven = deciding.proven
        for counted in deciding.ending:
            certainty = Certainty.PROVEN if counted is proven else Certainty.POSSIBLE
            suspect = suspect_of_rule(connection, counted.netns, counted.rule)
            times = f"its counter rose by {', '.join(map(str, counted.packets))} for {deciding.attempts} first packets"
            others = ", but other packets count there too" if counted.foreign else ", and not without them"
            line = f"{rule_name(counted.rule)}: {times}{others}"
            yield certainty, replace(suspect, evidence=(*suspect.evidence, line))
    on_path = _of_path(connection, connects=connects)
    if on_path is not None:
        agrees = not isinstance(seen, Failed) or connection.path.end in _BY_REASON.get(seen.reason, ())
        yield Certainty.FOUND if agrees else Certainty.POSSIBLE, on_path
    predicted = connection.predicted
    if predicted is not None and predicted.mechanism is not None:
        said = "the deployment's files and settings predict it"
        address = Address(host=connection.path.destination, port=connection.path.port)
        remedy = Remedy(text=predicted_repair(predicted.mechanism, address, predicted.container).text)
        yield (
            Certainty.PREDICTED,
            Suspect(mechanism=predicted.mechanism, because=predicted.because, evidence=(said,), remedies=(remedy,)),
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
    if isinstance(seen, Failed) and seen.mechanism is Mechanism.PATH_MTU:
        return suspect_of_mtu(connection, seen.because)
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
        return Repair(text=remedy.text, confirmed=False, because=NOT_TRIED)
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


_HOST_ALIASES = ("host.docker.internal", "gateway.docker.internal")
# In the error for name servers that do not answer or fail, unlike the one for a name that does not exist.
_SILENT = ("no answer from name server", " says ")


def suspect_of_name(connection: FailedConnection) -> Suspect:
    """The suspect for a name that does not resolve."""
    name = connection.path.destination.rstrip(".").lower()
    who = connection.client_name
    owners = [one for one in connection.topology.containers.values() if name in _names(one)]
    said = (connection.path.because,)
    inside = connection.container(connection.path.source)
    if name in _HOST_ALIASES and not owners:
        return Suspect(
            mechanism=Mechanism.HOST_ALIAS_MISSING,
            because=f'{who} does not resolve "{name}": on Linux it needs an extra_hosts entry',
            evidence=said,
            remedies=tuple(_host_gateway(connection, name)),
        )
    if not owners:
        return _unknown_name(connection, name, who)
    running = [one for one in owners if one.state.has_process]
    if not running:
        return Suspect(
            mechanism=Mechanism.NAME_OF_STOPPED,
            because=name_of_stopped(name, owners[0].state.exit_code),
            evidence=(f"the engine reports {owners[0].name} as {owners[0].state.status.value}",),
            remedies=(remedies.start(connection, owners[0], connection.path.port),),
        )
    views = connection.networks_at(connection.path.source)
    if inside is None or all(view.network.default_bridge for view in views):
        because = f'"{name}" is the name of a container, but {who} has no embedded DNS to resolve it'
        found = tuple(_without_dns(connection, running[0], inside=inside is not None))
        return Suspect(mechanism=Mechanism.NO_EMBEDDED_DNS, because=because, evidence=said, remedies=found)
    theirs = ", ".join(view.network.name for view in connection.container_networks(running[0])) or "no network"
    mine = ", ".join(view.network.name for view in views)
    return Suspect(
        mechanism=Mechanism.NAME_ON_OTHER_NETWORK,
        because=f'"{name}" is {running[0].name} on {theirs}, but {who} is on {mine}',
        evidence=said,
        remedies=tuple(_on_one_network(connection, running[0], inside)),
    )


def _unknown_name(connection: FailedConnection, name: str, who: str) -> Suspect:
    seen = connection.seen.because if isinstance(connection.seen, Failed) else ""
    if "." in name and any(word in seen for word in _SILENT):
        return Suspect(
            mechanism=Mechanism.NAME_SERVER_SILENT,
            because=f'the DNS servers of {who} do not answer for "{name}"',
            evidence=(seen,),
            remedies=(
                Remedy(
                    text=f"configure a DNS server that answers for {who}: dns in its service, or the engine's --dns"
                ),
            ),
        )
    known = sorted({one for c in connection.topology.containers.values() if c.state.has_process for one in _names(c)})
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    found = []
    for one in close:
        owner = next(c for c in connection.topology.containers.values() if c.state.has_process and one in _names(c))
        address = next((a for e in owner.networks for a in e.addresses), "")
        found.append(
            Remedy(text=f'connect to "{one}", the name of {owner.name}', destination=address, port=connection.path.port)
        )
    return Suspect(
        mechanism=Mechanism.NO_SUCH_NAME,
        because=f'no container has the name "{name}"',
        evidence=(connection.path.because, *([f"closest name: {close[0]}"] if close else [])),
        remedies=tuple(found),
    )


def _host_gateway(connection: FailedConnection, name: str) -> Iterator[Remedy]:
    text = f'add extra_hosts: ["{name}:host-gateway"] to {connection.client_name}'
    gateways = [g for view in connection.networks_at(connection.path.source) for g in view.network.gateways]
    if gateways:
        yield Remedy(text=text, destination=gateways[0], port=connection.path.port)


def _without_dns(connection: FailedConnection, container: Container, *, inside: bool) -> Iterator[Remedy]:
    """Without an embedded DNS: a published port, or a network that has one."""
    port = connection.path.port
    if inside:
        yield from _on_one_network(connection, container, connection.container(connection.path.source))
        return
    there = next(
        (p for p in connection.topology.published if p.in_force and (p.container, p.target) == (container.id, port)),
        None,
    )
    host = remedies.host_address(connection)
    if there is not None and host:
        text = f"connect to {host}:{there.published}, where {container.name} publishes the port"
        yield Remedy(text=text, destination=host, port=there.published)
    elif host:
        yield remedies.publish_port(connection, container, port)


def _on_one_network(connection: FailedConnection, container: Container, client: Container | None) -> Iterator[Remedy]:
    """Client and container on one user-defined network."""
    who = connection.client_name
    for view in connection.container_networks(container):
        address = _address(container, view)
        if not view.network.default_bridge and view.bridge is not None and address and view.network.icc:
            change = remedies.with_network(connection.path.source, view)
            text = f"attach {who} to network {view.network.name}"
            yield Remedy(text=text, change=change, destination=address, port=connection.path.port)
    netns = connection.netns_of(container)
    for view in connection.container_networks(client) if client is not None and netns is not None else ():
        if not view.network.default_bridge and view.bridge is not None and view.network.icc and view.network.subnets:
            address = remedies.free_address(connection.topology, view)
            text = f"attach {container.name} to network {view.network.name}"
            change = remedies.with_network(netns or 0, view, address=address)
            yield Remedy(text=text, change=change, destination=address, port=connection.path.port)


def _address(container: Container, view: NetworkView) -> str:
    endpoint = next((e for e in container.networks if e.network == view.network.name), None)
    return endpoint.addresses[0] if endpoint is not None and endpoint.addresses else ""


def _names(container: Container) -> set[str]:
    found = {container.name, container.short_id, container.hostname, container.service or ""}
    found |= {alias for endpoint in container.networks for alias in endpoint.aliases}
    return {name.lower() for name in found if name}


_USER_CHAIN = "DOCKER-USER"
_IPTABLES_DEVICE = re.compile(r"(!?)\s*(-i|-o)\s+(\S+)")
_NFT_DEVICE = re.compile(r"(iifname|oifname)\s+(!=\s*)?\"?([^\s\"{}]+)")


def suspect_of_rule(connection: FailedConnection, netns: int, rule: RuleAddress) -> Suspect:
    """The suspect for a rule that ended the connection."""
    where = f"{rule_name(rule)} on {connection.place_name(netns)}"
    evidence = (f"{where}: {rule.text}",)
    if _is_from_engine(connection, netns, rule):
        return _of_engine(connection, netns, rule, evidence)
    lifted = Remedy(text=removal(rule, connection.place_name(netns)), change=remedies.without_rule(netns, rule))
    if not rule.number:
        forward = "forward" in rule.chain.lower()
        mechanism = Mechanism.FORWARD_POLICY if forward else Mechanism.HOST_FIREWALL
        because = f"the policy of {rule.chain} on {connection.place_name(netns)} drops packets that no rule accepts"
        return Suspect(mechanism=mechanism, because=because, evidence=evidence, remedies=(lifted,))
    if "reject" in rule.text.lower():
        because = f"{where} rejects it"
        return Suspect(mechanism=Mechanism.REJECTED, because=because, evidence=evidence, remedies=(lifted,))
    because = f"{where}, which is not the engine's, drops it"
    return Suspect(mechanism=Mechanism.HOST_FIREWALL, because=because, evidence=evidence, remedies=(lifted,))


def rule_name(rule: RuleAddress) -> str:
    """A rule in a sentence: "rule 3 of FORWARD (iptables filter, handle 12)"."""
    tool = "nftables" if rule.origin is Origin.NFTABLES else "iptables"
    tool += " (legacy)" if rule.origin is Origin.IPTABLES_LEGACY else ""
    family = " IPv6" if rule.family == "ip6" else ""
    handle = f", handle {rule.handle}" if rule.handle is not None else ""
    which = f"rule {rule.number}" if rule.number else "the policy"
    return f"{which} of {rule.chain} ({tool}{family} table {rule.table}{handle})"


def removal(rule: RuleAddress, where: str) -> str:
    """How to remove a rule."""
    if rule.origin is Origin.NFTABLES:
        if not rule.number:
            command = f"nft chain {rule.family} {rule.table} {rule.chain} '{{ policy accept; }}'"
        else:
            command = f"nft delete rule {rule.family} {rule.table} {rule.chain} handle {rule.handle}"
    else:
        tool = "ip6tables" if rule.family == "ip6" else "iptables"
        tool += "-legacy" if rule.origin is Origin.IPTABLES_LEGACY else ""
        last = f"-D {rule.chain} {rule.number}" if rule.number else f"-P {rule.chain} ACCEPT"
        command = f"{tool} -t {rule.table} {last}"
    return f"delete the rule on {where}, or accept the connection before it: {command}"


def devices(rule: RuleAddress) -> Iterator[tuple[str, str, bool]]:
    """The devices that a rule names: "i" or "o", the name, and whether any other device is meant."""
    for negated, side, name in _IPTABLES_DEVICE.findall(rule.text):
        yield side[1], name, bool(negated)
    for side, negated, name in _NFT_DEVICE.findall(rule.text):
        yield side[0], name, bool(negated)
    # filter-forward-in__br-1234 of engine 29: reached for that device only
    beyond = re.fullmatch(r"filter-forward-(in|out)__(.+)", rule.chain)
    if beyond is not None:
        yield beyond[1][0], beyond[2], False


def _is_from_engine(connection: FailedConnection, netns: int, rule: RuleAddress) -> bool:
    if netns != connection.host or not rule.number:
        return False
    if rule.chain.startswith("DOCKER"):
        return rule.chain != _USER_CHAIN
    if rule.origin is Origin.NFTABLES:
        return rule.table.startswith("docker-")
    bridges = [name for _, name, _ in devices(rule) if connection.network_by_bridge(name) is not None]
    if rule.table == "raw":
        return rule.chain == "PREROUTING" and bool(bridges)
    # 20.10 puts the rules of icc=false right into FORWARD
    return rule.chain == "FORWARD" and len(bridges) == 2 and len(set(bridges)) == 1


def _of_engine(connection: FailedConnection, netns: int, rule: RuleAddress, evidence: tuple[str, ...]) -> Suspect:
    met = list(devices(rule))
    views = [view for _, name, _ in met if (view := connection.network_by_bridge(name)) is not None]
    plain = [name for _, name, negated in met if not negated]
    same = len(plain) == 2 and plain[0] == plain[1]
    source = connection.client_name
    because = evidence[0].partition(": ")[0]
    if _isolates_internal(connection, rule, views):
        return _internal_egress(connection, source, because, evidence)
    if connection.is_translated or (connection.published and connection.is_host_address(connection.path.address)):
        said = f"{source} connects to a published port of the docker host, and {because} drops it on the way back in"
        return Suspect(
            mechanism=Mechanism.HAIRPIN_DROPPED,
            because=said,
            evidence=evidence,
            remedies=tuple(remedies.bypass_published_port(connection)),
        )
    if same or (views and not views[0].network.icc and len(set(plain)) == 1):
        network = views[0].network.name if views else plain[0]
        said = f"network {network} does not let its containers reach one another (icc=false): {because}"
        lift = Remedy(
            text=f"create network {network} without com.docker.network.bridge.enable_icc=false",
            change=remedies.with_accepting_rule(netns, rule),
        )
        found = (*remedies.attach_to_network(connection, without=network), lift)
        return Suspect(mechanism=Mechanism.ICC_OFF, because=said, evidence=evidence, remedies=found)
    place = connection.topology.place(connection.path.source)
    outside = place is None or place.kind is not PlaceKind.CONTAINER
    if outside:
        said = f"the client connects to a container's address from outside its network, which {because} drops"
        found = tuple(remedies.publish(connection))
        return Suspect(mechanism=Mechanism.DIRECT_ACCESS_DROPPED, because=said, evidence=evidence, remedies=found)
    said = f"{source} is on another network than {connection.path.address}: {because}"
    found = tuple(remedies.attach_to_network(connection))
    return Suspect(mechanism=Mechanism.NETWORK_ISOLATION, because=said, evidence=evidence, remedies=found)


def _isolates_internal(connection: FailedConnection, rule: RuleAddress, views: list[NetworkView]) -> bool:
    """Whether it is a rule that isolates an internal network."""
    if "INTERNAL" in rule.chain or "INTERNAL" in rule.text:
        return True
    subnets = [
        subnet for view in connection.topology.networks if view.network.internal for subnet in view.network.subnets
    ]
    return any(view.network.internal for view in views) or any(
        re.search(rf"! -[sd] {re.escape(one)}", rule.text) for one in subnets
    )


def _internal_egress(connection: FailedConnection, source: str, because: str, evidence: tuple[str, ...]) -> Suspect:
    said = f"{source} is on internal networks, which packets neither leave nor enter: {because}"
    return Suspect(
        mechanism=Mechanism.INTERNAL_EGRESS,
        because=said,
        evidence=evidence,
        remedies=tuple(remedies.leave_internal_network(connection)),
    )
