"""Two Connect clusters keep their state in one topic.

Why: Each `group.id` is a Connect cluster, and needs topics of its own. Clusters that share `config.storage.topic` both
run every connector; if they share the topic for offsets or status, connectors of the same name continue at each other's
offsets, or show each other's state.

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
          CONNECT_GROUP_ID: orders
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
          CONNECT_CONFIG_STORAGE_TOPIC: orders-configs  # <- here
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
          CONNECT_GROUP_ID: orders
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

Seen: a connector that was created in one cluster also runs in the other.

Sources: the documentation of Kafka Connect (config.storage.topic, offset.storage.topic, status.storage.topic).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment, RestNeighbour
from netdiag.deployment.neighbours import Neighbourhood
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.rest_services import CONNECT_TOPICS, RestService

ID = "connect-topics-shared"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every worker that shares a topic with an earlier one of another group."""
    neighbourhood = Neighbourhood(deployment)
    for worker in deployment.neighbours:
        if worker.config.service is not RestService.CONNECT or worker.config.group is None:
            continue
        for other in neighbourhood.earlier_workers(worker):
            shared = _shared(worker, other)
            if shared and other.config.group not in (None, worker.config.group):
                yield _finding(worker, other, shared)
                break


def _shared(one: RestNeighbour, other: RestNeighbour) -> str:
    """The first property of the two that names one topic; empty where none does."""
    return next((name for name in CONNECT_TOPICS if _topic(one, name) and _topic(one, name) == _topic(other, name)), "")


def _topic(worker: RestNeighbour, name: str) -> str | None:
    return worker.config.value(name)


def _finding(worker: RestNeighbour, other: RestNeighbour, name: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY if name == CONNECT_TOPICS[0] else Severity.WARNING,
        message=f'{worker.name} of group "{worker.config.group}" and {other.name} of group "{other.config.group}" '
        f'share "{_topic(worker, name)}" as {name}',
        location=worker.place(name),
        related=(Related(location=other.place(name), message=f"{name} of {other.name}"),),
        why="each group is a Connect cluster, and needs topics of its own",
        hint=f"give each group a {name} of its own, or both the same group ID if they are one cluster",
        service=worker.name,
    )
