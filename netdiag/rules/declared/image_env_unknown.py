"""A variable is a misspelling of an important one and has no effect.

Why: Images turn every variable with their prefix into a property, and Kafka ignores properties that it does not know,
so nothing reports a misspelled name.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_INTER_BROKER_LISTENERS_NAME: PLAINTEXT  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT

Seen: nothing: the setting has no effect

Sources: AbstractConfig.logUnused; KafkaDockerWrapper.getKafkaConfigFromEnv.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.property_names import PROPERTY_NAMES

ID = "image-env-unknown"
SEVERITY = Severity.WARNING
# What decides whether clients and nodes find the broker, and is too long to be matched by chance.
_VITAL = (
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
    "controller.listener.names",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
    "process.roles",
    "zookeeper.connect",
)
_LARGEST = 64


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every unknown property within two letters of a vital one that is not set."""
    for broker in deployment.brokers:
        settings = broker.config.settings
        if broker.config.family in (ImageFamily.OTHER, ImageFamily.REDPANDA):
            continue
        written = {name for name, setting in settings.items() if setting.provenance is Provenance.VARIABLE}
        for name in sorted(written):
            variable = settings[name].variable
            if variable is None or name in PROPERTY_NAMES or variable not in broker.declared or len(name) > _LARGEST:
                continue
            meant = next((vital for vital in _VITAL if vital not in written and is_close(name, vital)), None)
            if meant is None:
                continue
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'{variable} of {broker.name} sets "{name}", which is not a Kafka property',
                location=broker.declared[variable].at(),
                why="Kafka ignores properties that it does not know",
                hint=f"rename it to {_spelled(meant, variable, name)} if you mean {meant}",
                service=broker.name,
            )


def _spelled(meant: str, variable: str, name: str) -> str:
    """The property that is meant, spelled as `variable` spells `name`: as in a file, or behind the same prefix."""
    if name in variable:
        return meant
    # What stands for a dot has one character or several; letters stay letters.
    letters, end = sum(map(str.isalnum, name)), len(variable)
    while letters and end:
        end -= 1
        letters -= variable[end].isalnum()
    return variable[:end] + meant.upper().replace(".", "_")


def is_close(name: str, other: str) -> bool:
    """Whether at most two letters have to be inserted, deleted or replaced."""
    if abs(len(name) - len(other)) > 2:
        return False
    before = list(range(len(other) + 1))
    for row, letter in enumerate(name, start=1):
        here = [row]
        for column, wanted in enumerate(other, start=1):
            changed = before[column - 1] + (letter != wanted)
            here.append(min(before[column] + 1, here[column - 1] + 1, changed))
        before = here
    return before[-1] <= 2
