"""Services wait for each other in a circle.

Why: depends_on, links and a shared network namespace say who has to be there first. In a circle nobody can be the
first one, and compose refuses the project.

Bad:
    services:
      kafka:
        image: example/kafka:1
        depends_on: [app]
      app:
        image: example/app:1
        depends_on: [kafka]  # <- here

Good:
    services:
      kafka:
        image: example/kafka:1
      app:
        image: example/app:1
        depends_on: [kafka]

Seen: dependency cycle detected: app -> kafka -> app

Sources: compose-spec, depends_on; compose-go, graph.CheckCycle.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import told

ID = "compose-dependency-cycle"
SEVERITY = Severity.ERROR
CODES = frozenset({"circle"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="take one of the dependencies away")
