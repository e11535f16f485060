"""A listener binds an address that its container does not have.

Why: A container has loopback and its addresses on its networks. It cannot bind an address of the docker host or of
another container, so the broker exits.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://192.168.8.133:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://192.168.8.133:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://0.0.0.0:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://192.168.8.133:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Socket server failed to bind to 192.168.8.133:9092: Cannot assign requested address.

Sources: SocketServer.openServerSocket, bind(2) EADDRNOTAVAIL.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.listener_access import published_for
from netdiag.deployment.prediction.sockets import Binding, Reach, binding
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, bracketed

ID = "listener-bound-to-foreign-address"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener on an address that the container certainly does not have."""
    for broker in deployment.configured:
        for entry in broker.config.listeners:
            bound = binding(deployment, broker, entry)
            if bound.reach is Reach.FOREIGN:
                yield _finding(broker, entry, bound)


def _finding(broker: Broker, entry: ListenerEntry, bound: Binding) -> Finding:
    endpoint = entry.endpoint
    ports = published_for(broker, entry)
    everywhere = "0.0.0.0" if broker.config.value("advertised.listeners") else ""
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'listener {endpoint.listener} of {broker.name} binds "{endpoint.host}", which is not an address of '
        f"its container",
        location=broker.place("listeners", entry.host_start, entry.host_end),
        related=tuple(
            Related(location=p.where, message="clients outside connect through this port") for p in ports[:1]
        ),
        why=f"{bound.because}; addresses of the docker host belong in advertised.listeners, not in listeners",
        hint=f"bind all addresses: {endpoint.listener}://{everywhere}:{endpoint.port}",
        service=broker.name,
        listener=endpoint.listener,
        edits=broker.edit("listeners", entry.host_start, entry.host_end, everywhere),
        broker_prints=f"Socket server failed to bind to {bracketed(endpoint.host)}:{endpoint.port}",
    )
