"""A controller advertises another address than its voter entry has.

Why: Since Kafka 3.9 a controller may advertise its controller listener, and the other nodes connect to the address that
the leader advertises, not to the one in controller.quorum.voters. If it advertises localhost or another port, they
cannot reach it.

Bad:
    services:
      kafka-1:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092,CONTROLLER://localhost:9093  # <- here
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093
      kafka-2:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093

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
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093
      kafka-2:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka-1:9093,2@kafka-2:9093

Seen: INVALID_VOTER_KEY; [RaftManager id=2] Connection to node 1 (localhost/127.0.0.1:9093) could not be established.

Sources: KafkaConfig.effectiveAdvertisedControllerListeners (3.9 and newer), KIP-853, KAFKA-20380.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, Voter, is_loopback

ID = "kraft-advertised-controller-differs"
SEVERITY = Severity.WARNING
_NAME = "advertised.listeners"
_VOTERS = "controller.quorum.voters"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised controller listener whose address differs from the node's own voter entry."""
    for broker in deployment.configured:
        config = broker.config
        takes_it = config.is_newest or (config.version is not None and config.version.at_least(3, 9))
        if not takes_it or not config.is_controller or not config.value(_NAME):
            continue
        own = next((voter for voter in config.well_formed_voters if voter.node_id == config.node_id), None)
        if own is None or not _has_company(deployment, broker):
            continue
        for entry in config.advertised_controller_listeners:
            if _leads_elsewhere(broker, entry, own):
                yield _finding(broker, entry, own)


def _has_company(deployment: Deployment, broker: Broker) -> bool:
    if len(broker.config.well_formed_voters) > 1:
        return True
    return any(b is not broker and b.config.quorum == broker.config.quorum for b in deployment.configured)


def _leads_elsewhere(broker: Broker, entry: ListenerEntry, own: Voter) -> bool:
    """Whether the port differs, or is loopback instead of a name; two names may belong to one container."""
    if not entry.endpoint.host or is_loopback(own.host):
        return False
    return entry.endpoint.port != own.port or is_loopback(entry.endpoint.host)


def _finding(broker: Broker, entry: ListenerEntry, own: Voter) -> Finding:
    endpoint = entry.endpoint
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} advertises "{endpoint}", but its voter entry has {own.host}:{own.port}',
        location=broker.place(_NAME, entry.start, entry.end),
        related=(
            Related(location=broker.place(_VOTERS, own.start, own.end), message="the address in its voter entry"),
        ),
        why="the other nodes connect to the address that the leader advertises, not to the one in their voters",
        hint=f"remove {endpoint.listener} from {_NAME}, or advertise {own.host}:{own.port}",
        service=broker.name,
        listener=endpoint.listener,
    )
