"""Two declarations of one thing cannot be merged.

Why: Files of a chain, anchors and extends are laid on top of each other, key by key. A mapping cannot be laid on a
list or a single value.

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
from netdiag.rules.compose_findings import told

ID = "compose-merge"
SEVERITY = Severity.ERROR
CODES = frozenset({"merge"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="write both in the same form")
