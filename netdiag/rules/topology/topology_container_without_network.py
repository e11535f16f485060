"""A running container has no network, although it did not ask for none.

Why: a container that was disconnected from its last network, or whose device was taken away, keeps running. Its process
sees loopback only; what it advertises and publishes leads nowhere.

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
    """One finding for every container with nothing but loopback that the engine or the user thinks is connected."""
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
            why="its process sees loopback only: what it advertises and publishes leads nowhere",
            hint=f"docker restart {container.name}" if networks else f"docker network connect NETWORK {container.name}",
            service=container.name,
        )


def _message(container: Container, networks: list[str]) -> str:
    if networks:
        return f"{container.name} is on {several(networks)} for the engine, but has no device but loopback"
    return f"{container.name} runs without any network"
