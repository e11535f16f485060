"""A variable for a listener needs a double underscore for the one in its name.

Why: These images turn `_` in a variable into a dot and `__` into an underscore. A variable for listener PLAINTEXT_HOST
with a single underscore sets a property of a listener "plaintext.host" instead, which does not exist, so the broker
ignores it.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENT_IN://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,CLIENT_IN://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENT_IN:PLAINTEXT
          KAFKA_LISTENER_NAME_CLIENT_IN_MAX_CONNECTIONS: 10  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,CLIENT_IN://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,CLIENT_IN://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CLIENT_IN:PLAINTEXT
          KAFKA_LISTENER_NAME_CLIENT__IN_MAX_CONNECTIONS: 10

Seen: nothing: the setting has no effect

Sources: KafkaDockerWrapper.getKafkaConfigFromEnv; env_to_props of Confluent's images; ListenerName.configPrefix.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "listener-prefix-underscore"
SEVERITY = Severity.WARNING
_PREFIX = "KAFKA_LISTENER_NAME_"
_ESCAPING = (
    ImageFamily.APACHE,
    ImageFamily.CONFLUENT,
    ImageFamily.CONFLUENT_LOCAL,
    ImageFamily.FAST_DATA_DEV,
)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every such variable of a listener that the broker has."""
    for broker in deployment.configured:
        if broker.config.family not in _ESCAPING:
            continue
        names = {entry.endpoint.listener for entry in broker.config.listeners if "_" in entry.endpoint.listener}
        for variable in sorted(broker.declared):
            rest = variable.removeprefix(_PREFIX)
            listener = next((name for name in names if rest.upper().startswith(f"{name}_")), None)
            if rest == variable or listener is None:
                continue
            right = _PREFIX + listener.replace("_", "__") + rest[len(listener) :]
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{variable} of {broker.name} does not apply to listener {listener}",
                location=broker.declared[variable].at(),
                why="the image turns one underscore into a dot, and no listener has a dot in that place",
                hint=f"rename it to {right}",
                service=broker.name,
                listener=listener,
            )
