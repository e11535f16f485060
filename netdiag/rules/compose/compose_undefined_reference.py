"""A service refers to something that the files do not declare.

Why: Networks and named volumes have to be declared at the top level, and depends_on, links and network_mode can only
name services that exist. Compose refuses the project. A service of a profile that is not switched on does not exist
either.

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
from netdiag.rules.compose_findings import told

ID = "compose-undefined-reference"
SEVERITY = Severity.ERROR
CODES = frozenset(f"undefined-{what}" for what in ("config", "network", "secret", "service", "volume"))


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="declare it, or correct the name")
