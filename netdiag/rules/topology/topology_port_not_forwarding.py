"""A bridge port is down or does not forward.

Why: A bridge sends frames only to ports that are up and in the forwarding state. A device behind another port is
unreachable: its neighbors' ARP requests get no answer.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0, up: false, state: disabled}  # <- here
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16], carrier: false}}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}

Seen: "No route to host" after three seconds; `bridge link` says "state disabled" or "state blocking"

Sources: linux/if_bridge.h (BR_STATE_*), IEEE 802.1D section 8.4.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.linux.rtnetlink import Link
from netdiag.rules.topology_findings import at_device, device_name, device_of, finding, place_name, quoted
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.segments import BRIDGE, end_of, is_pair

ID = "topology-port-not-forwarding"
SEVERITY = Severity.ERROR

# The bridge is about to forward; states of the spanning tree that pass by themselves.
_PASSING = ("listening", "learning")


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every port that does not forward, unless it is down because nothing should be there."""
    for inode, facts in topology.inventory.namespaces.items():
        for port in facts.links:
            bridge = None if port.master is None else facts.link(port.master)
            if bridge is None or bridge.kind != BRIDGE or not bridge.up:
                continue
            at = LinkId(netns=inode, ifindex=port.ifindex)
            told = _defect(topology, at, port)
            if told is not None:
                yield _finding(topology, at, bridge, told)


def _defect(topology: Topology, at: LinkId, port: Link) -> tuple[Severity, str, str] | None:
    """The severity, what is wrong and the repair; None for a port that works."""
    other = end_of(topology.inventory, at)
    far = None if other is None else topology.inventory.link(other)
    if is_pair(port) and far is None:
        # topology-veth-peer-missing reports a veth device without its peer.
        return None
    if not port.up:
        # libvirt and others keep a device that is down in a bridge, for its MAC address.
        stand_in = port.kind in ("dummy", "tun")
        return None if stand_in else (SEVERITY, "is down", f"run `ip link set dev {quoted(port.ifname)} up`")
    if is_pair(port) and far is not None and not far.up and other is not None:
        return SEVERITY, f"has no carrier: {device_of(topology, other)} is down", "set the peer device up"
    state = port.port.get("state")
    if not port.carrier:
        return None if port.kind == "tun" else (Severity.NOTE, "has no carrier", "check what it is connected to")
    if state in ("forwarding", None):
        return None
    if state in _PASSING:
        return Severity.NOTE, f"does not forward yet: it is {state}", "wait for the spanning tree, then check again"
    if state == "blocking":
        hint = "look for the second path between the bridges, which made the spanning tree block the port"
        return Severity.WARNING, "does not forward: the spanning tree blocks it", hint
    return (
        SEVERITY,
        f"does not forward: its state is {state}",
        f"run `bridge link set dev {quoted(port.ifname)} state 3`",
    )


def _finding(topology: Topology, at: LinkId, bridge: Link, told: tuple[Severity, str, str]) -> Finding:
    severity, wrong, hint = told
    other = end_of(topology.inventory, at)
    behind = () if other is None else (Related(location=at_device(topology, other), message="is behind this port"),)
    who = "" if other is None else f" (towards {place_name(topology, other.netns)})"
    return finding(
        ID,
        severity,
        at_device(topology, at),
        f"port {device_name(topology, at)} of bridge {bridge.ifname}{who} {wrong}",
        why="a bridge sends frames only to ports that are up and forwarding, so the device behind it is unreachable",
        hint=hint,
        related=behind,
    )
