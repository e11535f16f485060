"""A file contains an empty document.

Why: Compose refuses an empty document. A file that cannot be read at all (not YAML, not UTF-8, not a mapping) is an
error of the run: netdiag reports it as unreadable and exits with status 3. In JSON, it is among the findings, too.

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
from netdiag.rules.compose_findings import from_problems

ID = "compose-syntax"
SEVERITY = Severity.ERROR
CODES = frozenset({"document"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="remove the document, or add the services to it")
