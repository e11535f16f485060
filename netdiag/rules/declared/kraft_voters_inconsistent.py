"""The nodes of a quorum have different lists of voters.

Why: Every node of a quorum needs the same list, but Kafka does not compare them. A node whose list contains only itself
elects itself, and exits when it learns that the others elected another leader. If it learns of the election in time, it
follows the leader until something restarts, so the outcome varies from start to start.

Bad:
    services:
      kafka-1:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093
      kafka-2:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093
      kafka-3:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 3
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-3:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 3@kafka-3:9093  # <- here

Good:
    services:
      kafka-1:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093
      kafka-2:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093
      kafka-3:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 3
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-3:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093

Seen: Received request or response with leader OptionalInt[1] and epoch 1 which is inconsistent with current leader
    OptionalInt[3] and epoch 1

Sources: KIP-595; QuorumState, KafkaRaftClient; seen with 3.9.1 and 4.3.1.
"""

from collections.abc import Iterator, Mapping

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import BrokerConfig

ID = "kraft-voters-inconsistent"
SEVERITY = Severity.WARNING
_VOTERS = "controller.quorum.voters"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every node whose list differs from that of a node that names it, or that it names."""
    called = {name: b for b in deployment.configured for name in b.member.all_names if b.config.is_controller}
    told: set[str] = set()
    for broker in deployment.configured:
        for other in _named_by(broker, called):
            if _ids(broker.config) == _ids(other.config) or not (_is_whole(broker) and _is_whole(other)):
                continue
            wrong, right = _culprit(broker, other)
            if wrong.name not in told:
                told.add(wrong.name)
                yield _finding(wrong, right)


def _named_by(broker: Broker, called: Mapping[str, Broker]) -> Iterator[Broker]:
    """The controllers in these files that the list of `broker` names, by name and ID."""
    for voter in broker.config.well_formed_voters:
        other = called.get(voter.host)
        if other is not None and other is not broker and other.config.node_id == voter.node_id:
            yield other


def _ids(config: BrokerConfig) -> frozenset[int]:
    return frozenset(voter.node_id for voter in config.well_formed_voters)


def _is_whole(broker: Broker) -> bool:
    """Whether the list is known, and no other rule reports that it cannot be right by itself."""
    config = broker.config
    if not config.voter_entries or len(config.well_formed_voters) != len(config.voter_entries):
        return False
    return config.node_id is not None and (config.node_id in _ids(config)) == config.is_controller


def _culprit(one: Broker, other: Broker) -> tuple[Broker, Broker]:
    """The one that is probably wrong: the node with only the broker role, else the one with the shorter list."""

    def doubt(broker: Broker) -> tuple[bool, int]:
        return (broker.config.is_controller, len(_ids(broker.config)))

    return (one, other) if doubt(one) < doubt(other) else (other, one)


def _finding(broker: Broker, other: Broker) -> Finding:
    missing = sorted(_ids(other.config) - _ids(broker.config))
    extra = sorted(_ids(broker.config) - _ids(other.config))
    said = [f"lacks {', '.join(map(str, missing))}"] if missing else []
    said += [f"also has {', '.join(map(str, extra))}"] if extra else []
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} has other voters than {other.name}: its list {' and '.join(said)}",
        location=broker.place(_VOTERS),
        related=(Related(location=other.place(_VOTERS), message=f"the voters of {other.name}"),),
        why="the voters form one quorum only if all nodes have the same list, and Kafka does not compare the lists",
        hint="set the same controller.quorum.voters on every node",
        service=broker.name,
    )
