"""The advertised port differs from the published port.

Why: The client bootstraps on the published port and then connects to the advertised one, where nothing listens or
another broker answers.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9093:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092  # <- here
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9093:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Connect to ipv4#127.0.0.1:9092 failed: Connection refused, or no error because another cluster answers

Sources: KIP-103; compose-spec, ports.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, PublishedPort
from netdiag.deployment.prediction.listener_access import listener_of, published_for, published_to_wrong_port
from netdiag.deployment.repairs import replace_text
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, endpoint_text, is_loopback

ID = "advertised-port-differs-from-published"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every host-facing endpoint whose listener is published on other ports only."""
    for broker in deployment.serving:
        for entry in broker.config.advertised_listeners:
            host = entry.endpoint.host
            bound = listener_of(broker, entry.endpoint.listener)
            if bound is None or not (is_loopback(host) or host in deployment.host_addresses):
                continue
            if published_to_wrong_port(deployment, broker, entry):
                continue
            ports = published_for(broker, bound)
            numbers = [p.published for p in ports]
            if ports and None not in numbers and entry.endpoint.port not in numbers:
                yield _finding(deployment, broker, entry, ports[0])


def _finding(deployment: Deployment, broker: Broker, entry: ListenerEntry, port: PublishedPort) -> Finding:
    endpoint = entry.endpoint
    owner = next(
        (
            m.name
            for m in deployment.members
            for p in m.published
            if p.published == endpoint.port and m != broker.member
        ),
        None,
    )
    lands = f"where {owner} answers" if owner else "which no container publishes"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"listener {endpoint.listener} of {broker.name} is published on port {port.published}, but sends "
        f"clients "
        f'to "{endpoint.host}:{endpoint.port}", {lands}',
        location=broker.place("advertised.listeners", entry.port_start, entry.port_end),
        related=(Related(location=port.where, message=f"published on port {port.published} of the docker host"),),
        why="after the bootstrap, a client uses only the advertised port",
        hint=f"advertise {endpoint_text(endpoint.listener, endpoint.host, port.published)}",
        service=broker.name,
        listener=endpoint.listener,
        edits=_edits(broker, entry, port),
    )


def _edits(broker: Broker, entry: ListenerEntry, port: PublishedPort) -> tuple[Edit, ...]:
    if entry.port_start == entry.port_end:
        # Redpanda's default, which no file sets.
        return ()
    return replace_text(broker, "advertised.listeners", entry.port_start, entry.port_end, str(port.published))
