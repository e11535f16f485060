"""A variable without CFG_ is ignored, or overrides the one with it.

Why: Bitnami's images read variables that start with KAFKA_CFG_, and a fixed list of names without CFG_. That list never
includes the controller listener names, and only newer images include roles, node ID and voters. If both names of a
property are set, the one without CFG_ wins.

Bad:
    services:
      kafka:
        image: bitnamilegacy/kafka:3.9
        environment:
          KAFKA_CFG_NODE_ID: 1
          KAFKA_CFG_PROCESS_ROLES: broker,controller
          KAFKA_CFG_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER  # <- here

Good:
    services:
      kafka:
        image: bitnamilegacy/kafka:3.9
        environment:
          KAFKA_CFG_NODE_ID: 1
          KAFKA_CFG_PROCESS_ROLES: broker,controller
          KAFKA_CFG_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CFG_CONTROLLER_LISTENER_NAMES: CONTROLLER

Seen: Role 'controller' enabled but environment variable KAFKA_CFG_CONTROLLER_LISTENER_NAMES was not provided.

Sources: kafka_create_alias_environment_variables in libkafka.sh of bitnami/containers.
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import ignored_aliases
from netdiag.deployment.model.deployment import Broker, DeclaredValue, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.bitnami import PREFIX
from netdiag.kafka.images.reference import ImageFamily

ID = "image-env-alias-ignored"
SEVERITY = Severity.ERROR
_NAMES = "CONTROLLER_LISTENER_NAMES"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every variable that is ignored because CFG_ is missing, and for every overridden one."""
    for broker in deployment.brokers:
        if broker.config.family is not ImageFamily.BITNAMI or broker.is_configured_by_file:
            continue
        for tail in ignored_aliases(broker):
            yield _ignored(broker, tail)
        yield from _beaten(broker)


def _ignored(broker: Broker, tail: str) -> Finding:
    variable = f"KAFKA_{tail}"
    prints = None
    if tail == _NAMES and broker.config.is_controller:
        prints = f"Role 'controller' enabled but environment variable {PREFIX}{tail} was not provided."
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.member.image} does not read {variable} of {broker.name}",
        location=broker.declared[variable].at(),
        why="the image reads only some properties without CFG_, and not this one",
        hint=f"rename it to {PREFIX}{tail}",
        service=broker.name,
        broker_prints=prints,
    )


def _beaten(broker: Broker) -> Iterator[Finding]:
    for variable, declared in broker.declared.items():
        holds = _winner(broker, variable)
        if holds is not None and holds.value.strip() != declared.value.strip():
            yield Finding(
                rule=ID,
                severity=Severity.WARNING,
                message=f"{broker.name} sets {variable}, but {holds.variable} has another value and wins",
                location=declared.at(),
                related=(Related(location=holds.at(), message="the value that Kafka gets"),),
                why="the image copies the variable without CFG_ over the one with CFG_",
                hint=f"remove {holds.variable}",
                service=broker.name,
            )


def _winner(broker: Broker, variable: str) -> DeclaredValue | None:
    """The value that overrides this variable's."""
    if not variable.startswith(PREFIX):
        return None
    for setting in broker.config.settings.values():
        if setting.variable == f"KAFKA_{variable.removeprefix(PREFIX)}":
            return broker.declared.get(setting.variable)
    return None
