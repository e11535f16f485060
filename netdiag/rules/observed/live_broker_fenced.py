"""A broker is registered, but fenced.

Why: The controller fences a broker whose heartbeats it does not get, or that has not caught up yet. A fenced broker
leads no partition, and Metadata does not name it.

Bad:
    services:
      kafka:
        image: apache/kafka:4.3.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,CONTROLLER://0.0.0.0:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
          KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1
          KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
    x-observed:
      registered:
        log:
          brokers:
            1: {at: ["PLAINTEXT://kafka:9092"], fenced: true}  # <- here

Good:
    services:
      kafka:
        image: apache/kafka:4.3.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,CONTROLLER://0.0.0.0:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
          KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1
          KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
    x-observed:
      registered:
        log:
          brokers:
            1: {at: ["PLAINTEXT://kafka:9092"], fenced: false}

Seen: a broker that runs but that no client is told of; partitions whose only replica is on it have no leader

Sources: KIP-631; DescribeCluster from version 2 on (KIP-1073), or the metadata log.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity

ID = "live-broker-fenced"
SEVERITY = Severity.WARNING


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every broker that is fenced, unless another source has it alive."""
    found = view.registered
    registry = found.registry if found else None
    if found is None or registry is None:
        return
    for broker in registry.brokers:
        if not broker.is_fenced:
            continue
        node = next(iter(found.of_node(broker.node_id)), None)
        name = node.member if node else f"node {broker.node_id}"
        who = f"{name} (node {broker.node_id})" if node else name
        why, hint = "the controller gets no heartbeat from it", "if it is gone for good, unregister it"
        if node is not None:
            why = f"it does not run: {node.stopped}" if node.stopped else why
            why = (
                f"the controller gets no heartbeat from it, and it does not answer: {node.silent}"
                if node.silent
                else why
            )
            hint = f"find out why {name} does not reach the controller, or has not caught up"
            hint = f"start {name}" if node.stopped else hint
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{who} is registered, but fenced: it leads no partition, and no client is told of it",
            location=ContainerLocation(container=name, part="registration"),
            why=f"{why} ({registry.source})",
            hint=hint,
            service=node.member if node else None,
        )
