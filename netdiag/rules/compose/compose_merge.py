"""Two definitions of one setting cannot be merged.

Why: Compose merges the files of a project, anchors and extends key by key. It cannot merge a mapping with a list or a
single value.

Bad:
    services:
      base:
        image: example/app:1
        deploy:
          replicas: 1
      app:
        extends:
          service: base
        deploy: 2  # <- here

Good:
    services:
      base:
        image: example/app:1
        deploy:
          replicas: 1
      app:
        extends:
          service: base
        deploy:
          replicas: 2

Seen: cannot override services.app.deploy

Sources: compose-spec, merge; compose-go, override/merge.go.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import from_problems

ID = "compose-merge"
SEVERITY = Severity.ERROR
CODES = frozenset({"merge"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="use the same form in both places")
