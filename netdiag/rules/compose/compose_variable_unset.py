"""A variable in the Compose file is not set.

Why: Compose replaces a variable that neither the shell nor .env sets with an empty string. Another shell may set it, so
this is only a note; if it breaks a listener, a rule about listeners reports that. A file has one note for all such
variables, one for those that images consist of, and one for each that an address of a broker depends on.

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

from collections.abc import Iterator, Sequence
from dataclasses import replace

from netdiag.compose.positions import Text
from netdiag.compose.problems import Problem
from netdiag.compose.project import Project, Service, unescaped_variables
from netdiag.findings import FileLocation, Finding, Related, Severity
from netdiag.patterns import regex
from netdiag.rules.compose_findings import finding, some_of, unset_images

ID = "compose-variable-unset"
SEVERITY = Severity.NOTE
CODES = frozenset({"unset-variable"})
# What decides where a broker listens, and what it tells clients.
_ADDRESS = regex(r"(?:^|_)(?:LISTENERS|ADVERTISED_(?:HOST|PORT|LISTENERS)\w*|QUORUM_VOTERS|ZOOKEEPER_CONNECT)$")
_HINT = "set {} in .env, or give {} a default: ${{NAME:-default}}"
_MOST_NAMES = 8


def check(project: Project) -> Iterator[Finding]:
    """The variables without a value that are not required and not meant for the container's shell.

    If an image consists only of such variables, Compose refuses the service: still a note, which names the service.
    """
    required = [problem.span for problem in project.problems if problem.code == "required-variable"]
    elsewhere = {
        (span.path, span.start) for span in (*required, *(found.span for found in unescaped_variables(project)))
    }
    unset = [
        problem
        for problem in project.problems
        if problem.code in CODES and (problem.span.path, problem.span.start) not in elsewhere
    ]
    images = unset_images(project)
    addresses = [text for service in project.services.values() for text in _addresses(service)]
    nameless = [p for p in unset if any(_within(p.span, text.span) for _, text in images)]
    single = [p for p in unset if p not in nameless and any(_within(p.span, text.span) for text in addresses)]
    if nameless:
        yield _without_image(nameless, images)
    by_name: dict[str, list[Problem]] = {}
    for problem in single:
        by_name.setdefault(_variable(problem), []).append(problem)
    for problems in by_name.values():
        yield _counted(problems)
    rest = [p for p in unset if p not in nameless and _variable(p) not in by_name]
    if rest:
        yield _counted(rest)


def _addresses(service: Service) -> Iterator[Text]:
    """The values of a service that decide what a broker listens on and advertises."""
    found = [v.value for name, v in service.environment.items() if v.value is not None and _ADDRESS.search(name)]
    yield from found
    if found:
        yield from (port.text for port in service.ports)


def _counted(problems: Sequence[Problem]) -> Finding:
    """One finding for all of them."""
    first, *others = problems
    names = tuple(dict.fromkeys(map(_variable, problems)))
    one = finding(first, ID, _HINT.format("it", "it"))
    if len(names) == 1:
        return replace(one, related=_again(others))
    message = f"{len(names)} variables are not set, so Compose uses empty strings: {some_of(names)}"
    return replace(one, message=message, hint=_HINT.format("them", "them"), service=None)


def _without_image(problems: Sequence[Problem], images: Sequence[tuple[str, Text]]) -> Finding:
    """The services whose images are nothing but unset variables, as one."""
    meant = [(name, text) for name, text in images if any(_within(p.span, text.span) for p in problems)]
    services = tuple(dict.fromkeys(name for name, _ in meant))
    names = tuple(dict.fromkeys(variable for _, text in meant for variable in text.unset))
    have = f"{some_of(services)} {'have' if services[1:] else 'has'} no image"
    message = f"{have}, because {some_of(names)} {'are' if names[1:] else 'is'} not set"
    hint = _HINT.format(*(("them", "them") if names[1:] else ("it", "it")))
    return replace(finding(problems[0], ID, hint), message=message, service=services[0])


def _variable(problem: Problem) -> str:
    return problem.message.split("'")[1]


def _again(problems: Sequence[Problem]) -> tuple[Related, ...]:
    return tuple(Related(location=problem.span, message="used again") for problem in problems[:_MOST_NAMES])


def _within(inner: FileLocation, outer: FileLocation) -> bool:
    return inner.path == outer.path and outer.start <= inner.start and inner.end <= outer.end
