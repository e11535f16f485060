"""The MTU becomes smaller along a path.

Why: A sender knows only the MTU of its own device. If a bridge, the peer of a veth pair, a tunnel or the outgoing
device has a smaller one, large packets are dropped: silently by bridges and veth pairs, with an ICMP message by
routers, which firewalls often drop. Connections succeed, small requests work, and the first large message hangs.

Bad:
    places:
      host:
        links:
          eth0: {addresses: [192.0.2.10/24], mtu: 1400}
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
          veth2: {master: br-kafka, peer: jumbo eth0}
        gateway: 192.0.2.1
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}  # <- here
      jumbo:
        links: {eth0: {addresses: [172.20.0.3/16], mtu: 9000}}  # <- here
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Good:
    places:
      host:
        links:
          eth0: {addresses: [192.0.2.10/24], mtu: 1400}
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16], mtu: 1400}
          veth1: {master: br-kafka, peer: kafka eth0, mtu: 1400}
          vxlan0: {kind: vxlan, parent: host eth0, mtu: 1350}
        gateway: 192.0.2.1
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16], mtu: 1400}}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Seen: a client fetches metadata, then producing or fetching ends with a TimeoutException

Sources: RFC 1191; RFC 7348 section 4.3; drivers/net/veth.c.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.linux.rtnetlink import Link
from netdiag.rules.topology_findings import MAIN_TABLE, at_device, device_of, finding, host_of
from netdiag.topology.graph import Member, NetworkView, Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.segments import end_of, is_pair

ID = "topology-mtu-shrinks"
SEVERITY = Severity.WARNING

# Outer Ethernet, IPv4, UDP and VXLAN headers; 20 more over IPv6.
_VXLAN = 50


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every device whose packets do not fit the next device on their path."""
    outgoing = _outgoing(topology)
    told: set[LinkId] = set()
    for inode, facts in topology.inventory.namespaces.items():
        for link in facts.links:
            at = LinkId(netns=inode, ifindex=link.ifindex)
            narrow = _narrower(topology, at, link)
            if narrow is not None:
                told.add(at)
                yield _finding(topology, at, link, *narrow)
    for view in topology.networks:
        for member in view.members:
            if outgoing is not None and member.inside is not None and member.inside not in told:
                yield from _on_the_way_out(topology, view, member, outgoing)


def _narrower(topology: Topology, at: LinkId, link: Link) -> tuple[LinkId, str] | None:
    """What accepts less than the device sends: its veth peer, the device below it, a port of its bond."""
    inventory = topology.inventory
    other = end_of(inventory, at)
    far = None if other is None else inventory.link(other)
    if is_pair(link) and other is not None and far is not None and link.mtu > far.mtu:
        return other, "drops larger packets silently"
    here = None if link.link is None or link.link_netnsid is not None else LinkId(netns=at.netns, ifindex=link.link)
    parent = None if is_pair(link) else other or here
    under = None if parent is None else inventory.link(parent)
    overhead = _VXLAN if link.kind == "vxlan" else 0
    if parent is not None and under is not None and link.mtu + overhead > under.mtu:
        more = f", and {overhead} bytes of headers for each" if overhead else ""
        return parent, f"carries its packets{more}"
    if link.kind in ("bond", "team"):
        for port in inventory.namespaces[at.netns].links:
            if port.master == link.ifindex and port.mtu < link.mtu:
                return LinkId(netns=at.netns, ifindex=port.ifindex), "is one of its ports"
    return None


def _outgoing(topology: Topology) -> LinkId | None:
    """The docker host's device of its IPv4 default route."""
    host = host_of(topology)
    if host is None:
        return None
    defaults = [
        route
        for route in host[1].routes
        if route.destination == "0.0.0.0/0" and route.table == MAIN_TABLE and route.type == "unicast" and route.hops
    ]
    number = min(defaults, key=lambda route: route.priority).hops[0].ifindex if defaults else None
    return None if number is None else LinkId(netns=host[1].netns.inode, ifindex=number)


def _on_the_way_out(topology: Topology, view: NetworkView, member: Member, outgoing: LinkId) -> Iterator[Finding]:
    inside, out = member.inside, topology.inventory.link(outgoing)
    link = None if inside is None else topology.inventory.link(inside)
    bridge = None if view.bridge is None else topology.inventory.link(view.bridge)
    if inside is None or link is None or bridge is None or out is None or view.bridge is None:
        return
    if link.mtu > bridge.mtu:
        yield _finding(topology, inside, link, view.bridge, "drops larger packets silently")
    elif link.mtu > out.mtu and not view.network.internal:
        why = "answers larger packets with an ICMP message, which firewalls often drop"
        yield _finding(topology, inside, link, outgoing, why)


def _finding(topology: Topology, at: LinkId, link: Link, narrow: LinkId, how: str) -> Finding:
    under = topology.inventory.link(narrow)
    less = under.mtu if under is not None else 0
    return finding(
        ID,
        SEVERITY,
        at_device(topology, at),
        f"{device_of(topology, at)} sends packets of up to {link.mtu} bytes, but {device_of(topology, narrow)} accepts "
        f"{less}",
        why=f"the device with the smaller MTU {how}: small messages pass, large ones hang",
        hint="set com.docker.network.driver.mtu of the network, or the MTU of the device, to the smallest MTU on the "
        "path",
        related=[Related(location=at_device(topology, narrow), message=f"accepts {less} bytes")],
    )
