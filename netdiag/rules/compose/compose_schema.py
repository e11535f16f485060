"""A value has a form that compose does not take.

Why: Every field of a compose file has its type and its grammar: ports, volumes and hosts lists have short forms of
their own, and a service needs an image or something to build one from. Compose refuses the whole project over one of
them; what else stands in the file is checked all the same.

Bad:
    services:
      kafka:
        image: example/kafka:1
        ports: 9092  # <- here

Good:
    services:
      kafka:
        image: example/kafka:1
        ports: ["9092:9092"]

Seen: validating compose.yml: services.kafka.ports must be a array

Sources: compose-spec, schema/compose-spec.json.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.problems import told

ID = "compose-schema"
SEVERITY = Severity.ERROR
CODES = frozenset({"schema", "extra-host", "volume", "port", "environment", "healthcheck", "name", "no-image"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="write it in a form that `docker compose config` takes")
