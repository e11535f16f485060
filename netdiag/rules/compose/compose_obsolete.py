"""A setting has a form that Compose has deprecated.

Why: Compose still accepts it and prints a warning; a later release may refuse it. The obsolete `version` is not
reported: it has no effect, and many files still have it.

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
from netdiag.rules.compose_findings import from_problems

ID = "compose-obsolete"
SEVERITY = Severity.NOTE
CODES = frozenset({"deprecated"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose warns about."""
    yield from from_problems(
        project, ID, CODES, hint="replace `external: {name: x}` with `external: true` and `name: x`"
    )
