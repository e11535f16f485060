"""A mapping has the same key twice.

Why: YAML requires the keys of a mapping to differ, and Compose refuses the file. A more lenient parser would silently
use one of the two values, and perhaps the wrong one.

Bad:
    services:
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092
          KAFKA_BROKERS: kafka:29092  # <- here

Good:
    services:
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Seen: mapping key "KAFKA_BROKERS" already defined at line 5

Sources: YAML 1.2, 3.2.1.1; compose-spec, section Compose file.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import from_problems

ID = "compose-duplicate-key"
SEVERITY = Severity.ERROR
CODES = frozenset({"duplicate-key"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(project, ID, CODES, hint="remove one of the two keys")
