"""An included file is missing or conflicts with this one.

Why: include adds the services of another Compose project. If the file is missing, includes itself or declares a
resource differently from this file, Compose refuses the project.

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
from netdiag.rules.compose_findings import from_problems

ID = "compose-include"
SEVERITY = Severity.ERROR
CODES = frozenset({"include"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="check the path, which is relative to the folder of this file")
