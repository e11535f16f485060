"""The other end of a cable is in a namespace that nobody can see.

Why: a veth device is one end of a cable. Where no process, file or descriptor leads to the namespace of the other end,
whoever made it has lost it: nobody can look there, and what is sent into the cable is gone.

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

Seen: `ip -d link` says "link-netnsid" with a number that `ip netns list-id` does not know a name for

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
    """One finding for every end without another, where all namespaces could be looked for.

    A machine that is a container itself has such a device towards the machine around it: that one is no port.
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
                    f"the other end of {device_of(topology, at)} is in a namespace that nobody can see",
                    why="whoever made the cable has lost the namespace at its other end: what is sent there is gone",
                    hint=f"remove it (ip link delete dev {quoted(link.ifname)}), or restart what made it",
                )
