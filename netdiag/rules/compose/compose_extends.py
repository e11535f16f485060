"""A service extends something that is not there.

Why: extends takes a service over from the same file or another one. Where the file or the service is missing, or the
chain leads back to itself, compose refuses the project, and this check knows only a part of the service.

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
from netdiag.rules.compose_findings import told

ID = "compose-extends"
SEVERITY = Severity.ERROR
CODES = frozenset({"extends"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="name a service that exists, in a file that exists")
