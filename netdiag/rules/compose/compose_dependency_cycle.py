"""Services depend on one another in a cycle.

Why: depends_on, links and a shared network namespace decide which service starts first. In a cycle none can start
first, and Compose refuses the project.

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
from netdiag.rules.compose_findings import from_problems

ID = "compose-dependency-cycle"
SEVERITY = Severity.ERROR
CODES = frozenset({"circle"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="remove one of the dependencies")
