"""The engine does not publish a port that a running container asks for.

Why: The engine publishes ports through a network that is not internal. A container that is only on internal networks,
or was disconnected from the network that carried the port, keeps the setting, but nothing listens on the docker host.

Bad:
    places:
      host: {}
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, in_force: false}  # <- here

Good:
    places:
      host: {}
      kafka: {links: {eth0: {addresses: [172.20.0.2/16]}}}
      stopped: {status: exited}
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092}
      - {key: "0.0.0.0:9093/tcp", container: stopped, target: 9092, in_force: false}

Seen: "Connection refused"; `docker port` prints nothing

Sources: Docker Engine API, HostConfig.PortBindings and NetworkSettings.Ports.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.topology_findings import at_place, finding, host_of
from netdiag.topology.graph import Topology

ID = "topology-published-not-in-force"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every port of a running container that is configured but not published."""
    host = host_of(topology)
    for port in topology.published:
        container = topology.containers.get(port.container)
        if host is None or container is None or not container.state.has_process or not port.asked or port.in_force:
            continue
        # On the host's network ports are not published, and a routed network publishes without a host port.
        routed = any((b.target, b.protocol, b.published) == (port.target, port.protocol, None) for b in container.ports)
        if routed or container.network_mode == "host":
            continue
        yield finding(
            ID,
            SEVERITY,
            at_place(topology, host[0].netns, port.key),
            f'{container.name} asks for the published port "{port.key}", but the engine does not publish it',
            why="the engine publishes ports through a network that is not internal, and the container is on none",
            hint=f"connect {container.name} to a network that is not internal, and restart it",
            service=container.name,
        )
