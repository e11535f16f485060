"""An interpolation is malformed, or its required variable is not set.

Why: Compose replaces $NAME and ${NAME} in all values. A literal dollar sign must be doubled, and ${NAME:?message} makes
Compose exit if NAME has no value.

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
from netdiag.rules.compose_findings import from_problems

ID = "compose-interpolation"
SEVERITY = Severity.ERROR
CODES = frozenset({"interpolation", "required-variable"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, frozenset({"interpolation"}), hint="write $$ for a literal dollar sign")
    yield from from_problems(
        project, ID, frozenset({"required-variable"}), hint="set the variable in .env or in the shell"
    )
