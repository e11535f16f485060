"""A published port has no docker-proxy.

Why: With the userland proxy, the engine starts one process for each published port. It serves clients that NAT rules do
not: the docker host itself over localhost, and containers on other networks. If it is killed, the engine does not start
it again.

Bad:
    places:
      host: {links: {eth0: {addresses: [192.0.2.1/24]}}}
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    userland_proxy: true
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, proxies: []}  # <- here

Good:
    places:
      host: {links: {eth0: {addresses: [192.0.2.1/24]}}}
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    userland_proxy: true
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, proxies: [40]}

Seen: "Connection refused" or a timeout from another container that connects to the docker host, while other machines
    connect

Sources: moby, libnetwork/portmapper and cmd/docker-proxy; Docker documentation, packet filtering and firewalls.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_place, finding, host_of
from netdiag.topology.graph import Topology

ID = "topology-proxy-missing"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every port in force without its proxy, if the engine uses proxies and processes are visible."""
    host = host_of(topology)
    if host is None or not topology.inventory.complete:
        return
    # If the setting is unknown, proxies of other ports show that they are in use.
    in_use = topology.userland_proxy
    if in_use is None:
        in_use = any(port.proxies for port in topology.published)
    for port in topology.published:
        if not (in_use and port.asked and port.in_force) or port.proxies or port.protocol not in ("tcp", "udp"):
            continue
        container = topology.containers.get(port.container)
        yield finding(
            ID,
            SEVERITY,
            at_place(topology, host[0].netns, port.key),
            f'"{port.key}" has no docker-proxy, although the engine uses the userland proxy',
            why="without it, containers on other networks and, with some engines, the docker host cannot reach the "
            "port",
            hint=f"restart {container.name if container else 'the container'}, so that the engine starts its proxies "
            f"again",
            service=container.name if container else None,
        )
