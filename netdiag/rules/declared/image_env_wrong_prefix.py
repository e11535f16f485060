"""A variable has the prefix of another image.

Why: Bitnami's images read KAFKA_CFG_, those of Apache and Confluent KAFKA_. There the longer prefix names the property
cfg.something, which Kafka ignores: the broker runs as if the variable were not there.

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
          KAFKA_CFG_NUM_PARTITIONS: 3  # <- here

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
          KAFKA_NUM_PARTITIONS: 3

Seen: nothing: the setting has no effect

Sources: KafkaDockerWrapper.getKafkaConfigFromEnv; kafka-env.sh and libkafka.sh of bitnami/containers.
"""

from collections.abc import Iterator

from netdiag.deployment.ignored_variables import ignored_aliases, ignored_variables
from netdiag.deployment.member import Broker, Deployment
from netdiag.deployment.repairs import drop_variable, rename_variable
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.bitnami import property_of

ID = "image-env-wrong-prefix"
SEVERITY = Severity.ERROR
_PREFIX = "cfg."
# What decides whether clients and nodes find the broker.
_VITAL = ("listener", "process.roles", "node.id", "broker.id", "quorum", "zookeeper.connect", "inter.broker")


def _without_cfg(broker: Broker) -> Iterator[Finding]:
    """Variables that lack Bitnami's CFG_; those that look like one of its aliases are image-env-alias-ignored's."""
    if broker.is_configured_by_file:
        return
    for tail in ignored_variables(broker):
        if tail in ignored_aliases(broker):
            continue
        vital = any(word in property_of(tail) for word in _VITAL)
        yield Finding(
            rule=ID,
            severity=SEVERITY if vital else Severity.WARNING,
            message=f"{broker.member.image} does not read KAFKA_{tail} of {broker.name}",
            location=broker.declared[f"KAFKA_{tail}"].at(),
            why="Bitnami's images read KAFKA_CFG_, and only a few names without CFG_",
            hint=f"call it KAFKA_CFG_{tail}",
            service=broker.name,
        )


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every such variable; a warning where the broker works without, a note where it is set as well."""
    for broker in deployment.brokers:
        yield from _without_cfg(broker)
        settings = broker.config.settings
        for name in sorted(settings):
            variable = settings[name].variable
            if not name.startswith(_PREFIX) or variable is None:
                continue
            meant = name.removeprefix(_PREFIX)
            known = meant in settings
            vital = any(word in meant for word in _VITAL)
            related = (Related(location=broker.place(meant), message="what holds"),) if known else ()
            yield Finding(
                rule=ID,
                severity=Severity.NOTE if known else SEVERITY if vital else Severity.WARNING,
                message=f"{broker.member.image} takes {variable} of {broker.name} for the property {name}",
                location=broker.place(name),
                related=related,
                why="KAFKA_CFG_ is the prefix of Bitnami's images; Kafka ignores properties that it does not know",
                hint=f"remove {variable}" if known else f"call it {variable.replace('KAFKA_CFG_', 'KAFKA_', 1)}",
                service=broker.name,
                edits=drop_variable(broker.member, variable)
                if known
                else rename_variable(broker.member, variable, variable.replace("KAFKA_CFG_", "KAFKA_", 1)),
            )
