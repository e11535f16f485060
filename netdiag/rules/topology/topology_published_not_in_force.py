"""A running container asks for a published port and does not have it.

Why: the engine publishes through a network that leads outside. A container that is on internal networks only, or was
disconnected from the network that carried the port, keeps its wish, and nobody listens on the docker host.

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
    """One finding for every port that a running container asks for in vain."""
    host = host_of(topology)
    for port in topology.published:
        container = topology.containers.get(port.container)
        if host is None or container is None or not container.state.has_process or not port.asked or port.in_force:
            continue
        # On the host's network ports are not published, and on a routed one they are without a port of the host.
        routed = any((b.target, b.protocol, b.published) == (port.target, port.protocol, None) for b in container.ports)
        if routed or container.network_mode == "host":
            continue
        yield finding(
            ID,
            SEVERITY,
            at_place(topology, host[0].netns, port.key),
            f"{container.name} asks for {port.key}, which is not in force",
            why="the engine publishes through a network that leads outside, and the container is on none now",
            hint=f"connect {container.name} to a network that is not internal, and restart it",
            service=container.name,
        )
