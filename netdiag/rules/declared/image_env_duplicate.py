"""A list sets a variable of a broker twice, with different values.

Why: Compose uses the last entry and prints no warning. Lists that combine two examples often contain both entries, and
a reader may trust the first.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181
          - KAFKA_LISTENERS=PLAINTEXT://:29092
          - KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://kafka:29092
          - KAFKA_NUM_PARTITIONS=3
          - KAFKA_NUM_PARTITIONS=6  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          - KAFKA_ZOOKEEPER_CONNECT=zookeeper:2181
          - KAFKA_LISTENERS=PLAINTEXT://:29092
          - KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://kafka:29092
          - KAFKA_NUM_PARTITIONS=6

Seen: nothing: the first value has no effect

Sources: compose-spec, environment; compose-go, types.NewMappingWithEquals.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Related, Severity

ID = "image-env-duplicate"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every variable of a broker that an earlier entry sets to another value."""
    for broker in deployment.brokers:
        for variable, value in broker.declared.items():
            if not value.replaced:
                continue
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{variable} of {broker.name} is set {len(value.replaced) + 1} times, and the last entry wins",
                location=value.at(),
                related=tuple(Related(location=place, message="this entry has no effect") for place in value.replaced),
                why="Compose uses the last entry of a list and drops the others without a warning",
                hint=f"keep one {variable}",
                service=broker.name,
            )
