"""A variable has the prefix of another image.

Why: Bitnami's images read KAFKA_CFG_ variables; Apache's and Confluent's images read KAFKA_ variables and turn
KAFKA_CFG_SOMETHING into the property cfg.something, which Kafka ignores. The broker runs as if the variable were not
set.

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

from collections.abc import Iterator, Sequence

from netdiag.deployment.misread_settings import ignored_aliases, ignored_variables
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import remove_variable, rename_variable
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.bitnami import property_of
from netdiag.kafka.images.settings import Setting

ID = "image-env-wrong-prefix"
SEVERITY = Severity.ERROR
_PREFIX = "cfg."
_WHY = "KAFKA_CFG_ is the prefix of Bitnami's images; Kafka ignores properties that it does not know"
# What decides whether clients and nodes find the broker.
_VITAL = ("listener", "process.roles", "node.id", "broker.id", "quorum", "zookeeper.connect", "inter.broker")


def _without_cfg(broker: Broker) -> Iterator[Finding]:
    """Variables that lack Bitnami's CFG_; those that look like an alias belong to image-env-alias-ignored."""
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
            why="Bitnami's images read only KAFKA_CFG_ variables, and a few names without CFG_",
            hint=f"rename it to KAFKA_CFG_{tail}",
            service=broker.name,
        )


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every such variable, a warning if the broker works without it.

    One note for all variables of an image that are also set right.
    """
    twice: dict[str, list[tuple[Broker, Setting]]] = {}
    for broker in deployment.brokers:
        yield from _without_cfg(broker)
        settings = broker.config.settings
        for name in sorted(settings):
            variable = settings[name].variable
            if not name.startswith(_PREFIX) or variable is None:
                continue
            meant = name.removeprefix(_PREFIX)
            if meant in settings:
                twice.setdefault(broker.member.image, []).append((broker, settings[name]))
                continue
            vital = any(word in meant for word in _VITAL)
            renamed = variable.replace("KAFKA_CFG_", "KAFKA_", 1)
            yield Finding(
                rule=ID,
                severity=SEVERITY if vital else Severity.WARNING,
                message=f'{broker.member.image} turns {variable} of {broker.name} into the unknown property "{name}"',
                location=broker.place(name),
                why=_WHY,
                hint=f"rename it to {renamed}",
                service=broker.name,
                edits=rename_variable(broker.member, variable, renamed),
            )
    for found in twice.values():
        yield _set_twice(found)


def _set_twice(found: Sequence[tuple[Broker, Setting]]) -> Finding:
    (broker, first), *others = found
    brokers = ", ".join(dict.fromkeys(each.name for each, _ in found))
    variables = tuple(dict.fromkeys(setting.variable or "" for _, setting in found))
    into = f'the unknown property "{first.name}"' if len(variables) == 1 else "unknown properties"
    edits = (edit for each, setting in found for edit in remove_variable(each.member, setting.variable or ""))
    meant = first.name.removeprefix(_PREFIX)
    return Finding(
        rule=ID,
        severity=Severity.NOTE,
        message=f"{broker.member.image} turns {', '.join(variables)} of {brokers} into {into}",
        location=broker.place(first.name),
        related=(
            Related(location=broker.place(meant), message="the value that Kafka gets"),
            *(Related(location=each.place(setting.name), message=f"{each.name}, too") for each, setting in others[:8]),
        ),
        why=_WHY,
        hint=f"remove {'it' if len(variables) == 1 else 'them'}: each is also set without CFG_",
        service=broker.name,
        edits=tuple(dict.fromkeys(edits)),
    )
