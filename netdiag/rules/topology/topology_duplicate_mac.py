"""Two devices on one segment have the same MAC address.

Why: A bridge stores one port for a MAC address. If two devices share one, the bridge replaces the entry whenever the
other device sends, so frames for both go to the last sender, and connections of both stall and break.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka-1 eth0}
          veth2: {master: br-kafka, peer: kafka-2 eth0}
      kafka-1:
        links:
          eth0: {addresses: [172.20.0.2/16], mac: "02:42:ac:14:00:02"}  # <- here
      kafka-2:
        links:
          eth0: {addresses: [172.20.0.3/16], mac: "02:42:ac:14:00:02"}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka-1 eth0}
          veth2: {master: br-kafka, peer: kafka-2 eth0}
          br-other: {kind: bridge, addresses: [172.21.0.1/16]}
          veth3: {master: br-other, peer: kafka-3 eth0}
      kafka-1:
        links:
          eth0: {addresses: [172.20.0.2/16], mac: "02:42:ac:14:00:02"}
      kafka-2:
        links:
          eth0: {addresses: [172.20.0.3/16], mac: "02:42:ac:14:00:03"}
      kafka-3:
        links:
          eth0: {addresses: [172.21.0.2/16], mac: "02:42:ac:14:00:02"}

Seen: the kernel logs "received packet on veth2 with own address as source address" where the bridge itself is one

Sources: IEEE 802.1D section 7.8; net/bridge/br_fdb.c.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.linux.rtnetlink import Link
from netdiag.rules.topology_findings import at_device, device_of, finding, several
from netdiag.topology.graph import Topology
from netdiag.topology.segments import Station

ID = "topology-duplicate-mac"
SEVERITY = Severity.ERROR

_NONE = ("", "00:00:00:00:00:00")


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every MAC address that several devices of a segment have."""
    for segment in topology.segments:
        sharing: dict[tuple[str, int | None], list[Station]] = {}
        for end in segment.ends:
            if end.link.up and end.link.address not in _NONE and not _borrows(end.link):
                sharing.setdefault((end.link.address, end.vlan), []).append(end)
        for (address, _), ends in sharing.items():
            if len(ends) > 1:
                yield _finding(topology, address, ends)


def _borrows(link: Link) -> bool:
    """Whether the device by design has the address of the device below it."""
    return link.kind in ("ipvlan", "ipvtap") or link.details.get("mode") == "passthru"


def _finding(topology: Topology, address: str, ends: list[Station]) -> Finding:
    named = several(device_of(topology, end.at) for end in ends)
    return finding(
        ID,
        SEVERITY,
        at_device(topology, ends[0].at, address),
        f'{len(ends)} devices on one segment have the MAC address "{address}": {named}',
        why="the bridge sends frames for this address to the device that sent last",
        hint="remove the fixed address (mac_address in Compose files), and recreate one of the containers",
        related=[Related(location=at_device(topology, end.at), message="has it too") for end in ends[1:]],
    )
