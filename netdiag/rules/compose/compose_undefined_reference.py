"""A service refers to something that the files do not define.

Why: Networks and named volumes must be defined at the top level, and depends_on, links and network_mode must name
existing services, or Compose refuses the project. A service in an inactive profile does not exist either.

Bad:
    services:
      app:
        image: example/app:1
        depends_on: [kafka]  # <- here

Good:
    services:
      app:
        image: example/app:1
        depends_on: [kafka]
      kafka:
        image: example/kafka:1

Seen: service "app" depends on undefined service "kafka": invalid compose project

Sources: compose-spec, networks, volumes, depends_on; compose-go, loader/validate.go.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import from_problems

ID = "compose-undefined-reference"
SEVERITY = Severity.ERROR
CODES = frozenset(f"undefined-{what}" for what in ("config", "network", "secret", "service", "volume"))


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="define it, or correct the name")
