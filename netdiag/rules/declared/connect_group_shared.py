"""Connect workers of one group keep their state in different topics.

Why: All workers of a `group.id` are one Connect cluster, and must name the same topics for configurations, offsets and
status. If two clusters are given one group ID, one worker leads both. Its position in its own topic is not that of the
others, who rejoin the group again and again and do no work.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      orders:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment: &connect
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_CONFIG_STORAGE_TOPIC: orders-configs
          CONNECT_OFFSET_STORAGE_TOPIC: orders-offsets
          CONNECT_STATUS_STORAGE_TOPIC: orders-status
          CONNECT_KEY_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_VALUE_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_REST_ADVERTISED_HOST_NAME: orders
      payments:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment:
          <<: *connect
          CONNECT_CONFIG_STORAGE_TOPIC: payments-configs  # <- here
          CONNECT_OFFSET_STORAGE_TOPIC: payments-offsets
          CONNECT_STATUS_STORAGE_TOPIC: payments-status
          CONNECT_REST_ADVERTISED_HOST_NAME: payments

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      orders:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment: &connect
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_CONFIG_STORAGE_TOPIC: orders-configs
          CONNECT_OFFSET_STORAGE_TOPIC: orders-offsets
          CONNECT_STATUS_STORAGE_TOPIC: orders-status
          CONNECT_KEY_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_VALUE_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_REST_ADVERTISED_HOST_NAME: orders
      payments:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment:
          <<: *connect
          CONNECT_GROUP_ID: payments
          CONNECT_CONFIG_STORAGE_TOPIC: payments-configs
          CONNECT_OFFSET_STORAGE_TOPIC: payments-offsets
          CONNECT_STATUS_STORAGE_TOPIC: payments-status
          CONNECT_REST_ADVERTISED_HOST_NAME: payments

Seen: Current config state offset -1 does not match group assignment 1. Forcing rebalance.

Sources: the documentation of Kafka Connect (group.id, config.storage.topic); DistributedHerder.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment, RestNeighbour
from netdiag.deployment.neighbours import Neighbourhood
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.rest_services import CONNECT_TOPICS, RestService

ID = "connect-group-shared"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every worker whose topics differ from those of an earlier one, or of one beside those asked."""
    neighbourhood = Neighbourhood(deployment)
    for worker in deployment.neighbours:
        if worker.config.service is not RestService.CONNECT or worker.config.group is None:
            continue
        for other in neighbourhood.earlier_workers(worker):
            name = _difference(worker, other) if other.config.group == worker.config.group else ""
            if name:
                yield _finding(worker, other, name)
                break


def _difference(one: RestNeighbour, other: RestNeighbour) -> str:
    """The first property of the two that names another topic; empty where none is known to."""
    for name in CONNECT_TOPICS:
        mine, others = one.config.value(name), other.config.value(name)
        if mine and others and mine != others:
            return name
    return ""


def _finding(worker: RestNeighbour, other: RestNeighbour, name: str) -> Finding:
    mine, others = worker.config.value(name), other.config.value(name)
    group = worker.config.group
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{worker.name} and {other.name} are in group "{group}", but {worker.name} keeps its state in "{mine}" '
        f'and {other.name} in "{others}"',
        location=worker.place(name),
        related=(
            Related(location=other.place(name), message=f"{name} of {other.name}"),
            Related(location=worker.place("group.id"), message="the group ID of both"),
        ),
        why="the workers of a group share its connectors, and read their configurations from one topic",
        hint="give each Connect cluster a group ID of its own, or all workers of one cluster the same topics",
        service=worker.name,
    )
