"""What a packet filter rule that drops or rejects is for: isolation by the engine, or a firewall.

The engine's rules are recognised by their chains and by the bridges that they name (moby,
libnetwork/drivers/bridge, from 20.10 to 29, iptables and nftables).
"""

import re
from collections.abc import Iterator

from netdiag.deployment.model.contact import Mechanism
from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.topology.causes import remedies
from netdiag.topology.causes.failed_connection import FailedConnection, Remedy, Suspect
from netdiag.topology.graph import NetworkView, PlaceKind

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
