"""An included file is missing or at odds with this one.

Why: include adds the services of another compose project. Where a file is missing, includes itself or declares
something that this file declares differently, compose refuses the project.

Bad:
    include:
      - kafka/compose.yml  # <- here
    services:
      app:
        image: example/app:1

Good:
    services:
      app:
        image: example/app:1

Seen: open /project/kafka/compose.yml: no such file or directory

Sources: compose-spec, include; compose-go, loader/include.go.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import told

ID = "compose-include"
SEVERITY = Severity.ERROR
CODES = frozenset({"include"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="check the path, which starts from the folder of this file")
