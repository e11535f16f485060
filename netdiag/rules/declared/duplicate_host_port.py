"""Two services publish the same port of the docker host.

Why: a port of the host belongs to one container; the engine refuses to start the second.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      proxy:
        image: example/proxy:1
        ports: ["9092:80"]  # <- here

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      proxy:
        image: example/proxy:1
        ports: ["9093:80"]

Seen: Bind for 0.0.0.0:9092 failed: port is already allocated

Sources: libnetwork's port allocator; an address of 0.0.0.0 conflicts with every other.
"""

from collections.abc import Iterator

from netdiag.deployment.member import Deployment, Member, NetworkMode, PublishedPort
from netdiag.deployment.repairs import move_host_port
from netdiag.findings import Finding, Related, Severity

ID = "duplicate-host-port"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every published port that an earlier service has, where one of the two is a broker."""
    brokers = {broker.name for broker in deployment.brokers}
    taken: list[tuple[Member, PublishedPort]] = []
    for member in deployment.members:
        if member.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
            continue
        for port in member.published:
            clash = next(((m, p) for m, p in taken if m is not member and _clash(p, port)), None)
            if clash and {clash[0].name, member.name} & brokers:
                yield _finding(deployment, member, port, *clash)
            taken.append((member, port))


def _clash(one: PublishedPort, other: PublishedPort) -> bool:
    if one.published is None or one.published != other.published or one.protocol != other.protocol:
        return False
    return one.on_all_addresses or other.on_all_addresses or one.host_ip == other.host_ip


def _finding(
    deployment: Deployment, member: Member, port: PublishedPort, other: Member, taken: PublishedPort
) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{member.name} publishes port {port.published} of the docker host, which {other.name} publishes too",
        location=port.where,
        related=(Related(location=taken.where, message=f"{other.name} has the port"),),
        why="the engine refuses to start the second container",
        hint="publish another port of the host, and advertise that one",
        service=member.name,
        edits=move_host_port(deployment, member, port),
    )
