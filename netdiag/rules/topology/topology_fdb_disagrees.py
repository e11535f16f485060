"""Frames for an address go to the wrong device or port.

Why: A sender looks up the MAC address in its neighbor table, and the bridge looks up the port in its forwarding table.
If an entry does not match the device that has the address (a manual entry, a copied MAC address), frames go to another
device, which drops them.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka-1 eth0}
          veth2: {master: br-kafka, peer: kafka-2 eth0}
        neighbours:
          - {address: 172.20.0.2, dev: br-kafka, mac: "02:42:ac:14:00:02"}  # <- here
          - {address: 172.20.0.3, dev: br-kafka, mac: "02:42:ac:14:00:99", state: PERMANENT}  # <- here
        fdb:
          - {mac: "02:42:ac:14:00:02", dev: veth2, state: static}
      kafka-1:
        links: {eth0: {addresses: [172.20.0.2/16], mac: "02:42:ac:14:00:02"}}
      kafka-2:
        links: {eth0: {addresses: [172.20.0.3/16], mac: "02:42:ac:14:00:03"}}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka-1 eth0}
          veth2: {master: br-kafka, peer: kafka-2 eth0}
        neighbours:
          - {address: 172.20.0.2, dev: br-kafka, mac: "02:42:ac:14:00:02"}
          - {address: 172.20.0.3, dev: br-kafka, mac: "02:42:ac:14:00:99", state: STALE}
        fdb:
          - {mac: "02:42:ac:14:00:02", dev: veth1}
      kafka-1:
        links: {eth0: {addresses: [172.20.0.2/16], mac: "02:42:ac:14:00:02"}}
      kafka-2:
        links: {eth0: {addresses: [172.20.0.3/16], mac: "02:42:ac:14:00:03"}}

Seen: timeouts to one container, while all its devices are up and other containers reach each other

Sources: RFC 826; net/bridge/br_fdb.c; Documentation/networking/ip-sysctl.rst (neigh).
"""

from collections.abc import Iterable, Iterator, Mapping

from netdiag.findings import Finding, Related, Severity
from netdiag.linux.rtnetlink import Neighbour
from netdiag.rules.topology_findings import addresses_at, at_device, device_name, device_of, finding, quoted
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.segments import Segment, Station, segment_by_link

ID = "topology-fdb-disagrees"
SEVERITY = Severity.WARNING

# Entries that the kernel uses without a new request. It checks a stale entry before it relies on it.
_BELIEVED = frozenset({"REACHABLE", "PERMANENT"})


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every neighbor entry whose frames do not reach the one device that has the address."""
    found = segment_by_link(topology.segments)
    having = _having(topology, found.values())
    for inode, facts in topology.inventory.namespaces.items():
        for entry in facts.neighbours:
            at = LinkId(netns=inode, ifindex=entry.ifindex)
            segment = found.get(at)
            end = None if segment is None else _holder(having[id(segment)], at, entry)
            if segment is None or end is None or not _BELIEVED & set(entry.states):
                continue
            if entry.lladdr != end.link.address:
                yield _of_neighbour(topology, at, entry, end)
                continue
            port = _learned_at(topology, segment, end)
            if port is not None and end.port is not None:
                yield _of_bridge(topology, at, entry, end, port)


def _having(topology: Topology, found: Iterable[Segment]) -> dict[int, dict[str, list[Station]]]:
    """The devices that have an address, by segment."""
    having: dict[int, dict[str, list[Station]]] = {}
    for segment in {id(each): each for each in found}.values():
        here = having.setdefault(id(segment), {})
        for end in segment.ends:
            for each in addresses_at(topology, end.at):
                here.setdefault(each.address, []).append(end)
    return having


def _holder(having: Mapping[str, list[Station]], at: LinkId, entry: Neighbour) -> Station | None:
    """The device that has the address; None if none is visible, or several are, which another rule reports."""
    ends = [end for end in having.get(entry.address, ()) if end.at != at]
    return ends[0] if len(ends) == 1 and entry.lladdr and not entry.proxy else None


def _learned_at(topology: Topology, segment: Segment, end: Station) -> LinkId | None:
    """The port of the end's own bridge that the bridge uses for its MAC address, if it is not the end's port."""
    port = None if end.port is None else topology.inventory.link(end.port)
    if end.port is None or port is None or port.master is None:
        return None
    fdb = topology.inventory.namespaces[end.port.netns].fdb
    here = [each for each in fdb if each.lladdr == end.link.address and each.master == port.master]
    learned = {each.ifindex for each in here if end.vlan is None or each.vlan in (None, end.vlan)}
    # topology-duplicate-mac reports two devices with one MAC address.
    alone = sum(other.link.address == end.link.address for other in segment.ends) == 1
    if not learned or port.ifindex in learned or not alone:
        return None
    return LinkId(netns=end.port.netns, ifindex=min(learned))


def _of_neighbour(topology: Topology, at: LinkId, entry: Neighbour, end: Station) -> Finding:
    return finding(
        ID,
        SEVERITY,
        at_device(topology, at, entry.address),
        f'{device_of(topology, at)} resolves {entry.address} to "{entry.lladdr}", but {device_of(topology, end.at)} '
        f"has that address at {end.link.address}",
        why="frames for the address carry the MAC address of another device, which drops them",
        hint=f"run `ip neigh del {entry.address} dev {quoted(device_name(topology, at))}`",
        related=[Related(location=at_device(topology, end.at), message=f"has {entry.address}")],
    )


def _of_bridge(topology: Topology, at: LinkId, entry: Neighbour, end: Station, port: LinkId) -> Finding:
    assert end.port is not None
    return finding(
        ID,
        SEVERITY,
        at_device(topology, at, entry.address),
        f"frames for {entry.address} ({entry.lladdr}) go to port {device_name(topology, port)}, but "
        f"{device_of(topology, end.at)} is behind port {device_name(topology, end.port)}",
        why="the bridge's forwarding table has another port than the one that leads to the device",
        hint=f"run `bridge fdb del {entry.lladdr} dev {quoted(device_name(topology, port))} master`",
        related=[Related(location=at_device(topology, port, entry.lladdr), message="the port that the bridge uses")],
    )
