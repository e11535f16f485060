"""A service looks like a Kafka broker, but netdiag does not know its image or start script.

Why: The variables show what the broker is meant to do. What an unknown image or script adds to them, and which defaults
it has, no file shows, so netdiag takes every other setting as unknown.

Bad:
    services:
      kafka:  # <- here
        image: registry.example/our-kafka:1.4
        environment:
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      zookeeper:
        image: zookeeper:3.9

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      zookeeper:
        image: zookeeper:3.9

Seen: nothing: the broker may run well

Sources: kafka.Kafka; start-kafka.sh of wurstmeister/kafka; the table [images] of netdiag.toml.
"""

from collections.abc import Iterator, Sequence

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.families import Sign
from netdiag.kafka.images.unknown import ZOOKEEPER, telling_variable

ID = "broker-assumed"
SEVERITY = Severity.NOTE


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for all services of an image that look like brokers by the same sign."""
    groups: dict[tuple[Sign, str], list[Broker]] = {}
    for broker in deployment.brokers:
        if broker.sign is Sign.IMAGE or (broker.sign is Sign.COMMAND and broker.config_file and not broker.is_partial):
            continue
        groups.setdefault((broker.sign, broker.member.image), []).append(broker)
    for first, *others in groups.values():
        names = ", ".join(broker.name for broker in (first, *others))
        looks = "look like Kafka brokers" if others else "looks like a Kafka broker"
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{names} {looks}: {_because(first, others)}",
            location=first.member.where,
            related=tuple(Related(location=b.member.where, message=f"so does {b.name}") for b in others),
            why=_unknown(first),
            hint=_hint(first),
            service=first.name,
        )


def _because(broker: Broker, others: Sequence[Broker]) -> str:
    match broker.sign:
        case Sign.COMMAND:
            return "the command starts Kafka"
        case Sign.NAME:
            return f'the image is called "{broker.member.image}"'
        case Sign.FILE if broker.config_file is not None:
            return f"{broker.config_file.name} is mounted"
        case Sign.PORT:
            port = next((p.target for p in broker.member.published if p.target % 1000 in range(92, 100)), 9092)
            return f"{ZOOKEEPER} is set, and port {port} is published"
        case _:
            told = {telling_variable(each.member.variables) or "" for each in (broker, *others)}
            return f"{' and '.join(sorted(told))} {'are' if len(told) > 1 else 'is'} set"


def _unknown(broker: Broker) -> str:
    match broker.sign:
        case Sign.COMMAND:
            if any(variable.startswith("--override ") for variable in broker.declared):
                return "netdiag cannot read the configuration file, and checks only what --override sets"
            return "netdiag cannot read the configuration file that Kafka starts with, so the listeners are unknown"
        case Sign.NAME:
            return "netdiag does not know this image, and no variable sets its listeners"
        case Sign.PORT:
            return "netdiag does not know what the container starts, and no variable sets its listeners"
        case Sign.FILE:
            return "netdiag does not know this image, and takes the file for all that Kafka reads"
        case Sign.SCRIPT:
            return "netdiag does not know what the start script changes, so it checks only what the variables set"
        case _:
            image = broker.member.image
            if not image and broker.member.is_built:
                return "netdiag does not see what the image is built from, and checks only what the variables set"
            if not image:
                return "the image is not set, so netdiag checks only what the variables set"
            return (
                f'netdiag does not know the image "{image.partition("@")[0]}", and checks only what the variables set'
            )


def _hint(broker: Broker) -> str:
    if broker.sign is Sign.COMMAND:
        return "mount the properties file from the project's folder, so that netdiag can read it"
    if broker.sign is Sign.SCRIPT:
        return "mount the script from the project's folder, and let it end with the start script of the image"
    if broker.sign is Sign.PORT:
        return "set its listeners by variables, or mount its properties file from the project's folder"
    if not broker.member.image and broker.member.is_built:
        return "set image beside build, and name the image that it is built from under [images] in netdiag.toml"
    if not broker.member.image:
        return "set the image"
    return "if it is built from an image that netdiag knows, name that one under [images] in netdiag.toml"
