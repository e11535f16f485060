"""A port of a bridge is off, or the bridge lets nothing through it.

Why: a bridge hands frames only to ports that are up and in the state forwarding. Whoever hangs from another port is
not there for the rest: its neighbours ask for its address and get no answer.

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
from netdiag.linux.link import Link
from netdiag.rules.topology_findings import at_device, device_name, device_of, finding, place_name, quoted
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.segments import BRIDGE, end_of, is_pair

ID = "topology-port-not-forwarding"
SEVERITY = Severity.ERROR

# The bridge is about to forward; states of the spanning tree that pass by themselves.
_PASSING = ("listening", "learning")


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every port that lets nothing through, and that is not off because nothing is to be there."""
    for inode, facts in topology.inventory.namespaces.items():
        for port in facts.links:
            bridge = None if port.master is None else facts.link(port.master)
            if bridge is None or bridge.kind != BRIDGE or not bridge.up:
                continue
            at = LinkId(netns=inode, ifindex=port.ifindex)
            told = _told(topology, at, port)
            if told is not None:
                yield _finding(topology, at, bridge, told)


def _told(topology: Topology, at: LinkId, port: Link) -> tuple[Severity, str, str] | None:
    """How bad, what is wrong, what to do; None for a port that is in order."""
    other = end_of(topology.inventory, at)
    far = None if other is None else topology.inventory.link(other)
    if is_pair(port) and far is None:
        # A cable without its other end is another rule's matter.
        return None
    if not port.up:
        # libvirt and others keep a switched-off device in a bridge, for its hardware address.
        stand_in = port.kind in ("dummy", "tun")
        return None if stand_in else (SEVERITY, "is switched off", f"ip link set dev {quoted(port.ifname)} up")
    if is_pair(port) and far is not None and not far.up and other is not None:
        return SEVERITY, f"has no carrier: {device_of(topology, other)} is switched off", "switch the other end on"
    state = port.port.get("state")
    if not port.carrier:
        return None if port.kind == "tun" else (Severity.NOTE, "has no carrier", "look what it is plugged into")
    if state in ("forwarding", None):
        return None
    if state in _PASSING:
        return Severity.NOTE, f"does not forward yet: it is {state}", "wait for the spanning tree, and look again"
    if state == "blocking":
        hint = "look for the second way between the bridges that made the spanning tree block it"
        return Severity.WARNING, "does not forward: the spanning tree blocks it", hint
    return SEVERITY, f"does not forward: its state is {state}", f"bridge link set dev {quoted(port.ifname)} state 3"


def _finding(topology: Topology, at: LinkId, bridge: Link, told: tuple[Severity, str, str]) -> Finding:
    severity, wrong, hint = told
    other = end_of(topology.inventory, at)
    behind = () if other is None else (Related(location=at_device(topology, other), message="is cut off by it"),)
    who = "" if other is None else f", behind which {place_name(topology, other.netns)} is,"
    return finding(
        ID,
        severity,
        at_device(topology, at),
        f"port {device_name(topology, at)} of bridge {bridge.ifname}{who} {wrong}",
        why="a bridge hands frames only to ports that are up and forwarding: whoever is behind it is not there",
        hint=hint,
        related=behind,
    )
