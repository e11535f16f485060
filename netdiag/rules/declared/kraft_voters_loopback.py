"""A voter entry with localhost means the node itself.

Why: Every node connects to the voters from its own container, where localhost is the node itself. This works in a
cluster with one node; with more nodes, the election never ends.

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
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093,2@localhost:9093  # <- here
      kafka-2:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9093,2@localhost:9093  # <- here

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

Seen: Connection to node 2 (localhost/127.0.0.1:9093) could not be established. Node may not be available.

Sources: QuorumConfig.parseVoterConnections (0.0.0.0 is refused since 3.8), KIP-595.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode
from netdiag.deployment.prediction.client_namespace import network_owner
from netdiag.deployment.repairs import name_voters
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import Voter, is_loopback

ID = "kraft-voters-loopback"
SEVERITY = Severity.ERROR
_VOTERS = "controller.quorum.voters"
_WILDCARD = "0.0.0.0"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every node, at the first voter that it cannot find in its own container."""
    for broker in deployment.configured:
        for voter in broker.config.well_formed_voters:
            if voter.host == _WILDCARD and not broker.config.is_older_than(3, 8):
                yield _finding(deployment, broker, voter, prints=f"Host string ({_WILDCARD}) is not routeable")
                break
            if (is_loopback(voter.host) or voter.host == _WILDCARD) and not _is_here(deployment, broker, voter):
                yield _finding(deployment, broker, voter, prints=None)
                break


def _is_here(deployment: Deployment, broker: Broker, voter: Voter) -> bool:
    """Whether the voter can share the network namespace of the broker: itself, a sharer, or any on the docker host."""
    if broker.config.is_controller and broker.config.node_id in (voter.node_id, None):
        return True
    owner = network_owner(deployment, broker.member)
    if owner.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
        return True
    beside = (b for b in deployment.brokers if network_owner(deployment, b.member) is owner)
    return any(other.config.node_id == voter.node_id for other in beside)


def _finding(deployment: Deployment, broker: Broker, voter: Voter, prints: str | None) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} expects controller {voter.node_id} at "{voter.host}", which is {broker.name} itself',
        location=broker.place(_VOTERS, voter.start, voter.end),
        why="localhost means the container that a process runs in",
        hint=f"use the name of the service that runs node {voter.node_id}: {voter.node_id}@SERVICE:{voter.port}",
        service=broker.name,
        edits=name_voters(deployment, broker, lambda v: is_loopback(v.host) or v.host == _WILDCARD),
        broker_prints=prints,
    )
