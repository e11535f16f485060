"""A file holds no compose project.

Why: A document of the file is empty, which compose refuses. A file that cannot be read at all (no YAML, not UTF-8, no
mapping) is none of the findings: it is reported as unreadable, with exit status 3.

Bad:
    ---
    ---  # <- here
    services:
      app:
        image: example/app:1

Good:
    services:
      app:
        image: example/app:1

Seen: empty compose file; yaml: line 3: mapping values are not allowed in this context

Sources: YAML 1.2, chapter 9; compose-spec, section Compose file.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import told

ID = "compose-syntax"
SEVERITY = Severity.ERROR
CODES = frozenset({"document"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="remove the document, or fill it")
