"""A running container has no network, although it should have one.

Why: A container that was disconnected from its last network, or whose network device was removed, keeps running. Its
process sees only loopback, so clients cannot reach what it advertises and publishes.

Bad:
    places:
      host: {}
      kafka:  # <- here
        mode: kafka
      other:  # <- here
        links: {}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16, members: {other: 172.20.0.3}}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
      batch:
        mode: none
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Seen: "Network is unreachable" inside; "Connection refused" at its published ports

Sources: Docker documentation, docker network disconnect, none network driver.
"""

from collections.abc import Iterator

from netdiag.engine.container import Container
from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_place, finding, is_broker, running_places, several
from netdiag.topology.graph import Topology

ID = "topology-container-without-network"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every container with only loopback, unless its network mode asks for that."""
    for place, facts, container in running_places(topology):
        own = container.network_mode not in ("none", "host") and not container.network_mode.startswith("container:")
        if not own or not container.state.has_process or any(not link.loopback for link in facts.links):
            continue
        networks = [each.network for each in container.networks]
        yield finding(
            ID,
            SEVERITY if is_broker(topology, container.id) or networks else Severity.WARNING,
            at_place(topology, place.netns),
            _message(container, networks),
            why="its process sees only loopback, so clients cannot reach what it advertises and publishes",
            hint=f"run `docker restart {container.name}`"
            if networks
            else f"run `docker network connect NETWORK {container.name}`",
            service=container.name,
        )


def _message(container: Container, networks: list[str]) -> str:
    if networks:
        return f"the engine has {container.name} on {several(networks)}, but the container has only loopback"
    return f"{container.name} is running without a network"
