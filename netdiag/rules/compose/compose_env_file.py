"""An environment file is missing or cannot be read.

Why: Without the file, the service lacks variables that may set its listeners, and Compose starts nothing. netdiag does
not know these variables either.

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
from netdiag.rules.compose_findings import from_problems

ID = "compose-env-file"
SEVERITY = Severity.ERROR
CODES = frozenset({"env-file"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses."""
    yield from from_problems(
        project, ID, CODES, hint="create the file beside the Compose file, or set `required: false`"
    )
