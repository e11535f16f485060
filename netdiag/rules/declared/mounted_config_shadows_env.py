"""A mounted configuration file and the variables speak of the same broker.

Why: who reads the compose file takes the variables for the configuration. A command that starts Kafka itself looks at
none of them, and neither does Bitnami's image once a server.properties is mounted; apache/kafka appends them to the
file, so that the variable wins and the line of the file is dead.

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

Seen: a variable is changed, and nothing changes

Sources: kafka.Kafka; Bitnami's libkafka.sh, kafka_initialize; KafkaDockerWrapper.prepareServerConfigs of apache/kafka.
"""

from collections.abc import Iterator

from netdiag.deployment.member import Broker, ConfigFile, Deployment
from netdiag.findings import Finding, Related, Severity

ID = "mounted-config-shadows-env"
SEVERITY = Severity.NOTE


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker with variables that a mounted file makes useless, or that make its lines so."""
    for broker in deployment.brokers:
        file = broker.config_file
        if file is None:
            continue
        if file.unused:
            message = f"{broker.name} is configured by the mounted {file.name}: {', '.join(file.unused)} mean nothing"
            yield _finding(broker, file, file.unused[0], message, f"remove the variables, or do not mount {file.name}")
        for name, variable in file.replaced.items():
            message = f"{variable} of {broker.name} replaces {name} of the mounted {file.name}"
            yield _finding(broker, file, variable, message, f"say {name} in one of the two places")


def _finding(broker: Broker, file: ConfigFile, variable: str, message: str, hint: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=message,
        location=broker.declared[variable].at(),
        related=(Related(location=file.where, message=f"{file.name} is mounted here"),),
        why="two places claim to configure the broker, and only one of them does",
        hint=hint,
        service=broker.name,
    )
