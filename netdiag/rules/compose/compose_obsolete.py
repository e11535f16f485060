"""A form that compose no longer wants.

Why: Compose still takes it, with a warning; a later release may not. The obsolete `version` is left alone: it has no
effect and stands in every second file.

Bad:
    services:
      app:
        image: example/app:1
    networks:
      default:
        external:
          name: kafka  # <- here

Good:
    services:
      app:
        image: example/app:1
    networks:
      default:
        external: true
        name: kafka

Seen: networks.default: external.name is deprecated. Please set name and external: true

Sources: compose-spec, networks.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import told

ID = "compose-obsolete"
SEVERITY = Severity.NOTE
CODES = frozenset({"deprecated"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="use the form of today")
