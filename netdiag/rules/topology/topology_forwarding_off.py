"""The docker host does not forward packets.

Why: A docker host routes packets between its container networks and other networks. If net.ipv4.ip_forward is off, the
kernel drops all packets that are not for the host itself: other machines cannot use published ports, and containers
reach no other machine.

Bad:
    places:
      host:  # <- here
        settings: {ip_forward: false}
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Good:
    places:
      host:
        settings: {ip_forward: true}
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Seen: timeouts from other machines and from containers, while the docker host itself reaches everything

Sources: Linux kernel documentation, ip-sysctl (ip_forward); Docker documentation, packet filtering and firewalls.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_place, finding, host_of, several
from netdiag.topology.graph import PublishedBy, Topology

ID = "topology-forwarding-off"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for each IP version that is not forwarded, if a network or port relies on it."""
    host = host_of(topology)
    if host is None:
        return
    settings = host[1].settings
    for version, forwarding, name in (
        (4, settings.ip_forward, "net.ipv4.ip_forward"),
        (6, settings.ipv6_forwarding, "net.ipv6.conf.all.forwarding"),
    ):
        relying = _relying(topology, version)
        if forwarding is False and relying:
            yield finding(
                ID,
                SEVERITY,
                at_place(topology, host[0].netns, name),
                f"{host[0].name} does not forward IPv{version}, which {several(relying)} need",
                why="the kernel drops packets that are not for the docker host itself, so containers are cut off",
                hint=f"run `sysctl -w {name}=1`, and find out what switched it off (files in /etc/sysctl.d)",
            )


def _relying(topology: Topology, version: int) -> list[str]:
    """Networks whose containers need to reach other machines, and ports that NAT rules send to containers."""
    colon = version == 6
    networks = [
        f"network {view.network.name}"
        for view in topology.networks
        if view.bridge is not None
        and not view.network.internal
        and any((":" in member.address) is colon for member in view.members if member.address)
    ]
    ports = [
        f"port {port.key}"
        for port in topology.published
        if port.in_force and PublishedBy.DNAT in port.by and (":" in port.to_address) is colon
    ]
    return [*networks, *ports]
