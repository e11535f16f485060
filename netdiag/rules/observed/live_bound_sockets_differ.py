"""A running broker does not listen on a port of its configuration.

Why: The process in the container does not match the container's configuration: it is still starting, it failed to bind,
or another program runs there.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      ports: {kafka: [8080]}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      ports: {kafka: [9092, 45123]}

Seen: no line "Awaiting socket connections on 0.0.0.0:9092." in the log

Sources: /proc/PID/net/tcp and tcp6 of the container; SocketServer.openServerSocket.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity

ID = "live-bound-sockets-differ"
SEVERITY = Severity.WARNING


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener of a running broker on whose port nothing listens."""
    for broker in view.deployment.serving:
        ports = view.ports.get(broker.name)
        if ports is None or broker.name in view.stopped:
            continue
        for entry in broker.config.listeners:
            endpoint = entry.endpoint
            if endpoint.port == 0 or endpoint.port in ports:
                continue
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"listener {endpoint.listener} of {broker.name} is configured on port {endpoint.port}, but "
                f"nothing listens there",
                location=ContainerLocation(container=broker.name, part=endpoint.listener),
                why="the broker is still starting, failed to bind, or is not the process in the container",
                hint=f"read the log of {broker.name}, and check again once it has started",
                service=broker.name,
                listener=endpoint.listener,
            )
