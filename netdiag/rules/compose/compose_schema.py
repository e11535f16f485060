"""A value has a form that Compose does not accept.

Why: Every field of a Compose file has a type and a syntax: ports, volumes and extra_hosts have short forms of their
own, and a service needs an image or a build section. One wrong value makes Compose refuse the whole project; netdiag
checks the rest of the file anyway.

Bad:
    services:
      kafka:
        image: example/app:1
        ports: 9092  # <- here

Good:
    services:
      kafka:
        image: example/app:1
        ports: ["9092:9092"]

Seen: validating compose.yml: services.kafka.ports must be a array

Sources: compose-spec, schema/compose-spec.json.
"""

from collections.abc import Iterator

from netdiag.compose.problems import Problem
from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import findings, unset_images

ID = "compose-schema"
SEVERITY = Severity.ERROR
CODES = frozenset({"schema", "extra-host", "volume", "port", "environment", "healthcheck", "name", "no-image"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place that Compose refuses.

    A service without an image is not reported if another finding has the cause: a variable, or a missing base.
    """
    explained = {text.span for _, text in unset_images(project)}
    extending = {problem.service for problem in project.problems if problem.code == "extends"}

    def is_told_elsewhere(problem: Problem) -> bool:
        service = {**project.services, **project.disabled}.get(problem.service or "")
        image = service.image if service is not None else None
        return problem.service in extending or (image is not None and image.span in explained)

    refused = (
        problem
        for problem in project.problems
        if problem.code in CODES and not (problem.code == "no-image" and is_told_elsewhere(problem))
    )
    yield from findings(project, ID, refused, "write it in a form that `docker compose config` accepts")
