"""The broker advertises 0.0.0.0.

Why: 0.0.0.0 says "bind every address"; as an address to connect to it means nothing to another machine. Without
advertised.listeners the broker advertises what it binds.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://0.0.0.0:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP
    address.

Sources: KafkaConfig.validateValues, KAFKA-4260 (1.0).
"""

from collections.abc import Iterator

from netdiag.deployment.member import Deployment
from netdiag.findings import Finding, Severity

ID = "advertised-wildcard"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised broker endpoint on 0.0.0.0, written or inherited from listeners."""
    for broker in deployment.configured:
        written = bool(broker.config.value("advertised.listeners"))
        name = "advertised.listeners" if written else "listeners"
        if not broker.config.is_broker:
            continue
        for entry in broker.config.advertised_listeners:
            if entry.endpoint.host != "0.0.0.0":
                continue
            inherited = "" if written else ", inherited from listeners because advertised.listeners is not set"
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{entry.endpoint.listener} of {broker.name} advertises 0.0.0.0{inherited}",
                location=broker.place(name, entry.host_start, entry.host_end),
                why="0.0.0.0 can be bound but not connected to from elsewhere",
                hint=f"advertise a name that clients resolve, for example {entry.endpoint.listener}://"
                f"{broker.member.service or broker.name}:{entry.endpoint.port} for containers",
                service=broker.name,
                listener=entry.endpoint.listener,
                broker_prints="advertised.listeners cannot use the nonroutable meta-address 0.0.0.0",
            )
