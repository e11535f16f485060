"""A file of environment variables is missing or cannot be read.

Why: Without the file the service lacks the variables that make its listeners, and compose does not start anything.
What the file would have said is unknown to this check, too.

Bad:
    services:
      app:
        image: example/app:1
        env_file: [kafka.env]  # <- here

Good:
    services:
      app:
        image: example/app:1
        env_file:
          - path: kafka.env
            required: false

Seen: env file /project/kafka.env not found: stat /project/kafka.env: no such file or directory

Sources: compose-spec, env_file; compose-go, dotenv.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import told

ID = "compose-env-file"
SEVERITY = Severity.ERROR
CODES = frozenset({"env-file"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so."""
    yield from told(project, ID, CODES, hint="create the file beside the compose file, or say `required: false`")
