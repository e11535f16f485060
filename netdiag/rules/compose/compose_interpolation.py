"""An expression with a variable is malformed, or its variable has to be set and is not.

Why: Compose replaces $NAME and ${NAME} everywhere in the values. A dollar sign that begins no such expression has to
be written twice, and ${NAME:?message} ends compose where NAME has no value.

Bad:
    services:
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: ${BROKERS:?say where Kafka is}  # <- here

Good:
    services:
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: ${BROKERS:-kafka:9092}

Seen: required variable BROKERS is missing a value: say where Kafka is; Invalid template: "${BROKERS"

Sources: compose-spec, interpolation; compose-go, template.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import told

ID = "compose-interpolation"
SEVERITY = Severity.ERROR
CODES = frozenset({"interpolation", "required-variable"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(
        project, ID, CODES, hint="give the variable a value in .env or a default, and write $$ for a dollar sign"
    )
