"""A service with Kafka broker variables runs ZooKeeper.

Why: ZooKeeper images ignore KAFKA_ variables. No broker starts, and clients that connect to this service find none.

Bad:
    services:
      kafka:  # <- here
        image: zookeeper:3.9
        environment:
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    services:
      zookeeper:
        image: zookeeper:3.9
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: Connection refused

Sources: zookeeper's docker-entrypoint.sh; configure of cp-zookeeper; wurstmeister/zookeeper-docker.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.patterns import regex

ID = "image-not-kafka"
SEVERITY = Severity.ERROR
_ZOOKEEPER = regex(r"(?:^|/)(?:cp-)?zookeeper(?:[:@]|$)")
_BROKERS = ("KAFKA_LISTENERS", "KAFKA_ADVERTISED_LISTENERS", "KAFKA_CFG_LISTENERS", "KAFKA_CFG_ADVERTISED_LISTENERS")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every such service, except a ZooKeeper that brokers connect to."""
    sought = {host for broker in deployment.brokers for host in _hosts(broker)}
    for member in deployment.others:
        told = next((name for name in _BROKERS if "://" in member.variables.get(name, "")), None)
        if told is None or not _ZOOKEEPER.search(member.image) or sought & {*member.all_names, *member.hostnames}:
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{member.name} sets {told}, but {member.image} runs ZooKeeper",
            location=member.where,
            why="the image starts no broker, whatever its variables are",
            hint="use a Kafka image, or remove the variables",
            service=member.name,
        )


def _hosts(broker: Broker) -> tuple[str, ...]:
    """The hosts of a broker's ZooKeepers, without the path at the end."""
    addresses = (broker.config.value("zookeeper.connect") or "").partition("/")[0].split(",")
    return tuple(address.strip().rpartition(":")[0] for address in addresses)
