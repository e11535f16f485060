"""The data directory was written by another cluster or another node.

Why: A broker writes its cluster ID and its node ID into meta.properties when it formats its data directory, and
compares them whenever it starts. If a folder or volume of an earlier cluster is mounted, it exits. The IDs of a file in
a folder beside the Compose file are known before the broker starts. A broker that uses ZooKeeper also refuses a
directory that was formatted for KRaft.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          CLUSTER_ID: MkU3OEVBNTcwNTJENDM2Qg
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_LOG_DIRS: /var/lib/kafka/data
        volumes:
          - ./data:/var/lib/kafka/data  # <- here
    x-files:
      data/meta.properties: |
        version=1
        cluster.id=0Qftv9yBTAmf2iDPSlIk7g
        node.id=1

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          CLUSTER_ID: 0Qftv9yBTAmf2iDPSlIk7g
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_LOG_DIRS: /var/lib/kafka/data
        volumes:
          - ./data:/var/lib/kafka/data
    x-files:
      data/meta.properties: |
        version=1
        cluster.id=0Qftv9yBTAmf2iDPSlIk7g
        node.id=1

Seen: Invalid cluster.id in: /var/lib/kafka/data/meta.properties. Expected MkU3OEVBNTcwNTJENDM2Qg, but read
    0Qftv9yBTAmf2iDPSlIk7g; Stored node id 2 doesn't match previous node id 1

Sources: MetaPropertiesEnsemble.verify, MetaProperties and Formatter of Kafka 3.9 and 4.x; KafkaServer.startup of 3.9.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, StoredIdentity
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import BrokerConfig, Mode
from netdiag.kafka.storage import MetaProperties, UnreadableMetaProperties

ID = "stale-data-directory"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every data directory that its broker refuses."""
    for broker in deployment.configured:
        for stored in broker.stored:
            if isinstance(stored.meta, UnreadableMetaProperties):
                yield _finding(
                    broker,
                    stored,
                    f"{broker.name} cannot read {stored.path}: {stored.meta}",
                    "restore the file, or mount an empty directory if you do not need the data",
                    f"Error while reading meta.properties file {stored.path}",
                )
            else:
                yield from _differences(broker, stored, stored.meta)


def _differences(broker: Broker, stored: StoredIdentity, meta: MetaProperties) -> Iterator[Finding]:
    cluster_id, node_id = broker.config.cluster_id, broker.config.node_id
    if broker.config.mode is Mode.ZOOKEEPER and meta.version:
        yield _finding(
            broker,
            stored,
            f"the data directory of {broker.name} is formatted for KRaft, and {broker.name} uses ZooKeeper",
            f"start {broker.name} in KRaft mode, or mount an empty directory if you do not need the data",
            f"Found unexpected version in {stored.path}",
        )
        return
    if broker.config.mode is Mode.KRAFT and None not in (cluster_id, meta.cluster_id) and cluster_id != meta.cluster_id:
        names = broker.config.cluster_id_variables
        variable = next((name for name in names if name in broker.declared), names[0])
        yield _finding(
            broker,
            stored,
            f"the data directory of {broker.name} belongs to cluster {meta.cluster_id}, not to {cluster_id}",
            f"set {variable} to {meta.cluster_id}, or mount an empty directory if you do not need the data",
            f"Invalid cluster.id in: {stored.path}. Expected {cluster_id}, but read {meta.cluster_id}",
        )
    if None not in (node_id, meta.node_id) and node_id != meta.node_id:
        yield _finding(
            broker,
            stored,
            f"the data directory of {broker.name} belongs to node {meta.node_id}, not to {node_id}",
            f"give {broker.name} the directory of node {node_id}, or an empty one if you do not need the data",
            f"Stored node id {meta.node_id} doesn't match previous node id {node_id} in {stored.path}",
        )


def _is_since_3_7(config: BrokerConfig) -> bool:
    return config.is_newest or (config.version is not None and config.version.at_least(3, 7))


def _finding(broker: Broker, stored: StoredIdentity, message: str, hint: str, prints: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=message,
        location=stored.where,
        why="a broker compares the IDs in its data directory with its own when it starts, and exits if they differ",
        hint=hint,
        service=broker.name,
        # Before 3.7 another class compared the files, in other words.
        broker_prints=prints if _is_since_3_7(broker.config) else None,
    )
