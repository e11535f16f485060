"""Compose replaces a variable that is meant for the shell in the container.

Why: Compose replaces $NAME in a command before any container exists, with the value from its own shell or .env on the
docker host. A variable of the container, from `environment` or set by the script itself, needs two dollar signs. It is
a warning if the service or the variable belongs to Kafka, and a note otherwise.

Bad:
    services:
      create-topic:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          TOPIC: orders
        command: bash -c "kafka-topics --create --topic $TOPIC --bootstrap-server kafka:9092"  # <- here

Good:
    services:
      create-topic:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          TOPIC: orders
        command: bash -c "kafka-topics --create --topic $$TOPIC --bootstrap-server kafka:9092"

Seen: The "TOPIC" variable is not set. Defaulting to a blank string.

Sources: compose-spec, interpolation.
"""

import re
from collections.abc import Iterator

from netdiag.compose.project import Project, UnescapedVariable, unescaped_variables
from netdiag.findings import Edit, Finding, Severity
from netdiag.patterns import regex

ID = "compose-variable-unescaped"
SEVERITY = Severity.WARNING
CODES: frozenset[str] = frozenset()
_KAFKA = regex("kafka|redpanda", re.IGNORECASE)


def check(project: Project) -> Iterator[Finding]:
    """One finding for every variable that Compose replaces in a command."""
    for found in unescaped_variables(project):
        yield _finding(found)


def _finding(found: UnescapedVariable) -> Finding:
    service, name = found.service, found.variable
    image = service.image.value if service.image else ""
    about_kafka = _KAFKA.search(image) or name.upper().startswith("KAFKA")
    return Finding(
        rule=ID,
        severity=SEVERITY if about_kafka else Severity.NOTE,
        message=f'Compose replaces "${name}" in the {found.where} of {service.name} with an empty string, although the '
        f"container sets it",
        location=found.span,
        why="Compose replaces variables before the container's shell sees the command",
        hint=f"write $${name} or $${{{name}}}",
        service=service.name,
        edits=(Edit(path=found.span.path, start=found.span.start, end=found.span.start, replacement="$"),),
    )
