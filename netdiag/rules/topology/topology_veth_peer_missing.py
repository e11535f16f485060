"""The peer of a veth device is in a namespace that is not visible.

Why: Packets sent to a veth device arrive at its peer. If no process, file or descriptor leads to the peer's namespace,
the program that created the pair has lost it: the namespace cannot be inspected, and the packets are lost.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {kind: veth, master: br-kafka}  # <- here

Good:
    places:
      host:
        links:
          eth0: {kind: veth, addresses: [192.0.2.7/24]}
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}

Seen: `ip -d link` shows "link-netnsid" with a number for which `ip netns list-id` has no name

Sources: rtnetlink(7), IFLA_LINK_NETNSID in linux/if_link.h.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_device, device_of, finding, quoted
from netdiag.topology.graph import Topology
from netdiag.topology.inventory import LinkId
from netdiag.topology.segments import end_of, is_pair

ID = "topology-veth-peer-missing"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every veth device without a visible peer, if all namespaces could be searched.

    A machine that is itself a container has such a device, towards its host: it is not a bridge port.
    """
    inventory = topology.inventory
    if not inventory.complete or not all(facts.entered for facts in inventory.namespaces.values()):
        return
    outermost = inventory.own if inventory.root is None else inventory.root
    for inode, facts in inventory.namespaces.items():
        for link in facts.links:
            at = LinkId(netns=inode, ifindex=link.ifindex)
            outwards = inode == outermost and link.master is None
            if is_pair(link) and not outwards and end_of(inventory, at) is None:
                yield finding(
                    ID,
                    SEVERITY,
                    at_device(topology, at),
                    f"the peer of {device_of(topology, at)} is in a namespace that is not visible",
                    why="the program that created the veth pair has lost the peer's namespace, and packets to it are "
                    "lost",
                    hint=f"remove it (`ip link delete dev {quoted(link.ifname)}`), or restart the program that created "
                    f"it",
                )
