"""Nodes of one quorum have different cluster IDs.

Why: The image formats a node's storage with CLUSTER_ID before the node starts. Controllers answer only nodes of their
own cluster, so a node with another cluster ID never receives metadata.

Bad:
    services:
      controller:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: controller
          KAFKA_LISTENERS: CONTROLLER://:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
          CLUSTER_ID: MkU3OEVBNTcwNTJENDM2Qg
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
          CLUSTER_ID: 4L6g3nShT-eMCtK--X86sw  # <- here

Good:
    services:
      controller:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: controller
          KAFKA_LISTENERS: CONTROLLER://:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
          CLUSTER_ID: MkU3OEVBNTcwNTJENDM2Qg
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
          CLUSTER_ID: MkU3OEVBNTcwNTJENDM2Qg

Seen: INCONSISTENT_CLUSTER_ID

Sources: KafkaRaftClient.hasValidClusterId, KIP-595; docker/resources/common-scripts/configure;
    kafka_kraft_storage_initialize in libkafka.sh of bitnami/containers.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import BrokerChange
from netdiag.findings import Edit, Finding, Location, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.listeners import is_loopback

ID = "cluster-id-inconsistent"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every node whose ID differs from that of most nodes with the same voters, or is generated."""
    quorums: dict[str, list[Broker]] = {}
    inventing: dict[str, list[Broker]] = {}
    for broker in deployment.configured:
        config = broker.config
        shared = any(not is_loopback(voter.host) for voter in config.well_formed_voters)
        if config.mode is not Mode.KRAFT or not shared:
            continue
        if config.cluster_id is not None:
            quorums.setdefault(config.quorum, []).append(broker)
        elif _makes_one_up(broker):
            inventing.setdefault(config.quorum, []).append(broker)
    for nodes in quorums.values():
        yield from _strangers(nodes)
    for quorum, nodes in inventing.items():
        if len(nodes) + len(quorums.get(quorum, ())) > 1:
            yield from (_made_up(node) for node in nodes)


def _makes_one_up(broker: Broker) -> bool:
    """Whether the image formats the storage with a random ID: Bitnami's, unless the ID comes another way."""
    others = ("KAFKA_SKIP_KRAFT_STORAGE_INIT", "KAFKA_KRAFT_CLUSTER_ID_FILE", "KAFKA_CLUSTER_ID_FILE")
    elsewhere = any(name in broker.declared for name in others)
    return broker.config.family is ImageFamily.BITNAMI and not elsewhere and not broker.is_configured_by_file


def _made_up(node: Broker) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{node.name} has no cluster ID, so {node.member.image} generates a different one for each node",
        location=node.member.where,
        why="controllers answer only nodes with their own cluster ID",
        hint="set KAFKA_KRAFT_CLUSTER_ID to the same ID on every node of the cluster",
        service=node.name,
    )


def _strangers(nodes: Sequence[Broker]) -> Iterator[Finding]:
    usual = Counter(node.config.cluster_id for node in nodes).most_common(1)[0][0]
    reference = next(node for node in nodes if node.config.cluster_id == usual)
    for node in nodes:
        if node.config.cluster_id == usual:
            continue
        given = "" if _given(node) else " (the default of its image)"
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'{node.name} has cluster ID "{node.config.cluster_id}"{given}, but {reference.name} has "{usual}"',
            location=_place(node),
            related=(Related(location=_place(reference), message=f"the cluster ID of {reference.name}"),),
            why="controllers answer only nodes with their own cluster ID",
            hint=f"set {_variable(node)} to {usual} on every node of the cluster, and format their storage again",
            service=node.name,
            edits=_edits(node, usual or ""),
        )


def _given(node: Broker) -> str | None:
    return next((name for name in node.config.cluster_id_variables if name in node.declared), None)


def _variable(node: Broker) -> str:
    return _given(node) or node.config.cluster_id_variables[-1]


def _place(node: Broker) -> Location:
    declared = node.declared.get(_variable(node))
    return declared.at() if declared else node.member.where


def _edits(node: Broker, usual: str) -> tuple[Edit, ...]:
    declared = node.declared.get(_variable(node))
    rewriting = BrokerChange(node)
    if declared is not None:
        return rewriting.replace(declared, 0, len(declared.value), usual).edits()
    setting = node.config.settings.get("node.id")
    return rewriting.add_variable(_variable(node), usual, setting.variable if setting else None).edits()
