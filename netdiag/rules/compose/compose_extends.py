"""A service extends a service or file that does not exist.

Why: extends copies a service from the same file or another one. If the file or the service is missing, or the chain
leads back to itself, Compose refuses the project, and netdiag knows only part of the service.

Bad:
    services:
      kafka:
        extends:
          service: base  # <- here
        image: example/kafka:1

Good:
    services:
      base:
        image: example/kafka:1
      kafka:
        extends:
          service: base

Seen: cannot extend service "kafka" in compose.yml: service "base" not found

Sources: compose-spec, extends; compose-go, loader/extends.go.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import from_problems

ID = "compose-extends"
SEVERITY = Severity.ERROR
CODES = frozenset({"extends"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="name an existing service in an existing file")
