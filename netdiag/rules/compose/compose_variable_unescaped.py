"""Compose replaces a variable that was meant for the shell in the container.

Why: $NAME in a command is replaced by compose, before any container exists, from the shell and .env of the docker
host. A variable of the container, from its `environment` or set by the script itself, needs two dollar signs. A warning
where Kafka is started or spoken to that way, else a note.

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

from netdiag.compose.project import Project
from netdiag.compose.unescaped import Unescaped, unescaped
from netdiag.deployment.written import location
from netdiag.findings import Edit, Finding, Severity

ID = "compose-variable-unescaped"
SEVERITY = Severity.WARNING
CODES: frozenset[str] = frozenset()
_KAFKA = re.compile("kafka|redpanda", re.IGNORECASE)


def check(project: Project) -> Iterator[Finding]:
    """One finding for every variable that compose took out of a command."""
    for found in unescaped(project):
        yield _finding(found)


def _finding(found: Unescaped) -> Finding:
    service, name = found.service, found.variable
    image = service.image.value if service.image else ""
    about_kafka = _KAFKA.search(image) or name.upper().startswith("KAFKA")
    return Finding(
        rule=ID,
        severity=SEVERITY if about_kafka else Severity.NOTE,
        message=f"compose replaces {name} in the {found.where} of {service.name} by nothing: "
        "the container's own variable is meant",
        location=location(found.span),
        why="compose replaces variables before the container's shell sees the command",
        hint=f"write $${name} or $${{{name}}}",
        service=service.name,
        edits=(Edit(path=found.span.path, start=found.span.start, end=found.span.start, replacement="$"),),
    )
