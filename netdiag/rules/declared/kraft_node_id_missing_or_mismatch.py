"""A node has no node ID, or two different ones.

Why: The nodes of a KRaft cluster identify one another by node.id, which has no default. broker.id is its older name; if
both are set, they must be equal.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_BROKER_ID: 2  # <- here

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: You must set `node.id` to the same value as `broker.id`.

Sources: KafkaConfig.validateValues (3.1 and newer), KAFKA-18331 (4.0).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import remove_property, set_property
from netdiag.digits import number_of
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.bitnami import Generation, generation
from netdiag.kafka.images.reference import ImageFamily

ID = "kraft-node-id-missing-or-mismatch"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every KRaft node without an ID and for every node with two different IDs."""
    for broker in deployment.configured:
        settings = broker.config.settings
        if "node.id" not in settings and ("broker.id" not in settings or _insists(broker)):
            if broker.config.mode is Mode.KRAFT:
                yield _missing(broker)
        elif _differ(broker) and not broker.config.is_older_than(3, 1):
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{broker.name} sets node.id to {settings['node.id'].value} and broker.id to "
                f"{settings['broker.id'].value}",
                location=broker.place("broker.id"),
                related=(Related(location=broker.place("node.id"), message="the other ID"),),
                why="both are names of the same setting",
                hint="remove KAFKA_BROKER_ID, or set both to the same value",
                service=broker.name,
                edits=remove_property(broker, "broker.id"),
                broker_prints="You must set `node.id` to the same value as `broker.id`.",
            )


def _insists(broker: Broker) -> bool:
    """Whether the image's script ignores broker.id: Bitnami's, since it leaves roles to the user."""
    config = broker.config
    return config.family is ImageFamily.BITNAMI and generation(config.tag, config.version) is Generation.EXPLICIT


def _differ(broker: Broker) -> bool:
    ids = {number_of((broker.config.value(name) or "").strip()) for name in ("node.id", "broker.id")}
    return len(ids) == 2 and None not in ids


def _missing(broker: Broker) -> Finding:
    prints = 'Missing required configuration "node.id" which has no default value.'
    if broker.config.is_older_than(4):
        prints = "Missing configuration `node.id` which is required when `process.roles` is defined"
    bitnami = _insists(broker)
    if bitnami:
        prints = "KRaft mode requires an unique node.id"
    own = [v.node_id for v in broker.config.well_formed_voters if v.host in broker.member.all_names]
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} is a KRaft node but does not set node.id",
        location=broker.place("process.roles"),
        why="the nodes of the quorum identify one another by ID",
        hint=f"set {'KAFKA_CFG_NODE_ID' if bitnami else 'KAFKA_NODE_ID'} to a number that no other node has",
        service=broker.name,
        edits=set_property(broker, "node.id", str(own[0]), "process.roles") if len(own) == 1 else (),
        broker_prints=prints,
    )
