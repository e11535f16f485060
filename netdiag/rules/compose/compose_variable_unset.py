"""A variable in the Compose file is not set.

Why: Compose replaces a variable that neither the shell nor .env sets with an empty string. Another shell may set it, so
this is only a note; if it breaks a listener, a rule about listeners reports that.

Bad:
    services:
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: ${KAFKA_HOST}:9092  # <- here

Good:
    services:
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: ${KAFKA_HOST:-kafka}:9092

Seen: The "KAFKA_HOST" variable is not set. Defaulting to a blank string.

Sources: compose-spec, interpolation.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.compose.project import Project, unescaped_variables
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.rules.compose_findings import finding, unset_images

ID = "compose-variable-unset"
SEVERITY = Severity.NOTE
CODES = frozenset({"unset-variable"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every variable without a value that is not required and not meant for the container's shell.

    If an image consists only of such variables, Compose refuses the service: still a note, which names the service.
    """
    required = [problem.span for problem in project.problems if problem.code == "required-variable"]
    elsewhere = {
        (span.path, span.start) for span in (*required, *(found.span for found in unescaped_variables(project)))
    }
    images = unset_images(project)
    for problem in project.problems:
        if problem.code in CODES and (problem.span.path, problem.span.start) not in elsewhere:
            one = finding(problem, ID, "set it in .env, or give it a default: ${NAME:-default}")
            service, text = next((i for i in images if _within(problem.span, i[1].span)), (None, None))
            if text is not None:
                names = " and ".join(text.unset)
                message = f"{service} has no image, because {names} {'are' if len(text.unset) > 1 else 'is'} not set"
                one = replace(one, message=message, service=service)
            yield one


def _within(inner: FileLocation, outer: FileLocation) -> bool:
    return inner.path == outer.path and outer.start <= inner.start and inner.end <= outer.end
