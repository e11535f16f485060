"""A listener bound by name listens on only one of the container's networks.

Why: A host name stands for one address. In a container on several networks, the listener binds its address on the
network that the name resolves to and refuses clients on the others.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [front, back]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://kafka:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    networks:
      front:
      back:

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [front, back]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    networks:
      front:
      back:

Seen: Connect to ipv4#172.19.0.3:9092 failed: Connection refused

Sources: InetSocketAddress uses the first address of a name; Docker's DNS returns the address on the first network.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.sockets import Reach, binding
from netdiag.deployment.repairs import replace_text
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, endpoint_text

ID = "listener-bound-to-one-network"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener that binds one network of a container on several."""
    for broker in deployment.serving:
        if len(broker.member.attachments) < 2:
            continue
        for entry in broker.config.listeners:
            bound = binding(deployment, broker, entry)
            if bound.reach is Reach.ONE_NETWORK and bound.network is not None:
                yield _finding(broker, entry, bound.network)


def _finding(broker: Broker, entry: ListenerEntry, network: str) -> Finding:
    endpoint = entry.endpoint
    refused = [a for a in broker.member.attachments if a.network != network]
    everywhere = "0.0.0.0" if broker.config.value("advertised.listeners") else ""
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'listener {endpoint.listener} of {broker.name} binds "{endpoint.host}", its address on {network}: '
        f"it refuses clients on {', '.join(a.network for a in refused)}",
        location=broker.place("listeners", entry.host_start, entry.host_end),
        related=tuple(
            Related(location=a.where, message=f"clients on {a.network} are refused") for a in refused if a.where
        ),
        why="the name resolves to one address, that of the first network by name, and the socket binds only this "
        "address",
        hint=f"bind all addresses: {endpoint_text(endpoint.listener, everywhere, endpoint.port)}",
        service=broker.name,
        listener=endpoint.listener,
        edits=replace_text(broker, "listeners", entry.host_start, entry.host_end, everywhere),
    )
