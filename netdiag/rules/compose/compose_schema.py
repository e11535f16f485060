"""A value has a form that compose does not take.

Why: Every field of a compose file has its type and its grammar: ports, volumes and hosts lists have short forms of
their own, and a service needs an image or something to build one from. Compose refuses the whole project over one of
them; what else stands in the file is checked all the same.

Bad:
    services:
      kafka:
        image: example/kafka:1
        ports: 9092  # <- here

Good:
    services:
      kafka:
        image: example/kafka:1
        ports: ["9092:9092"]

Seen: validating compose.yml: services.kafka.ports must be a array

Sources: compose-spec, schema/compose-spec.json.
"""

from collections.abc import Iterator

from netdiag.compose.project import Project
from netdiag.findings import Finding, Severity
from netdiag.rules.compose_findings import finding, unset_images

ID = "compose-schema"
SEVERITY = Severity.ERROR
CODES = frozenset({"schema", "extra-host", "volume", "port", "environment", "healthcheck", "name", "no-image"})


def check(project: Project) -> Iterator[Finding]:
    """One finding for every place at which compose says so.

    A service without image is left out where another finding says why: a variable, or a base that is not there.
    """
    explained = {text.span for _, text in unset_images(project)}
    extending = {problem.service for problem in project.problems if problem.code == "extends"}
    for problem in project.problems:
        if problem.code not in CODES:
            continue
        if problem.code == "no-image":
            service = {**project.services, **project.disabled}.get(problem.service or "")
            image = service.image if service is not None else None
            if problem.service in extending or (image is not None and image.span in explained):
                continue
        yield finding(problem, ID, "write it in a form that `docker compose config` takes")
