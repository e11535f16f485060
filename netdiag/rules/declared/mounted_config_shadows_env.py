"""A mounted configuration file and variables configure the same broker.

Why: The variables in a Compose file look like the broker's configuration. A command that starts Kafka directly ignores
them, and so does Bitnami's image if a server.properties is mounted. apache/kafka appends them to the file, so the
variable wins and the line in the file has no effect.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        command: kafka-server-start /etc/kafka/own/server.properties
        environment:
          KAFKA_LISTENERS: PLAINTEXT://:9092  # <- here
        volumes: ["./config:/etc/kafka/own"]

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        command: kafka-server-start /etc/kafka/own/server.properties
        volumes: ["./config:/etc/kafka/own"]

Seen: a changed variable has no effect

Sources: kafka.Kafka; Bitnami's libkafka.sh, kafka_initialize; KafkaDockerWrapper.prepareServerConfigs of apache/kafka.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, ConfigFile, Deployment
from netdiag.findings import Finding, Related, Severity

ID = "mounted-config-shadows-env"
SEVERITY = Severity.NOTE


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker with variables that a mounted file disables, or that override its lines."""
    for broker in deployment.brokers:
        file = broker.config_file
        if file is None:
            continue
        if file.unused:
            has = "has" if len(file.unused) == 1 else "have"
            message = f"{broker.name} uses the mounted {file.name}, so {', '.join(file.unused)} {has} no effect"
            yield _finding(broker, file, file.unused[0], message, f"remove the variables, or do not mount {file.name}")
        for name, variable in file.replaced.items():
            message = f"{variable} of {broker.name} overrides {name} in the mounted {file.name}"
            yield _finding(broker, file, variable, message, f"set {name} in only one of the two places")


def _finding(broker: Broker, file: ConfigFile, variable: str, message: str, hint: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=message,
        location=broker.declared[variable].at(),
        related=(Related(location=file.where, message=f"{file.name} is mounted here"),),
        why="only one of the two configures the broker",
        hint=hint,
        service=broker.name,
    )
