"""Variables that a command left to the shell of the container, and that compose replaced before, by nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from netdiag.compose.positions import Span, Text
from netdiag.compose.project import Command, Project, Service

_SHELL = re.compile(r"(?:^|[\s/])(?:ba|da|a|k|z)?sh(?:$|\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unescaped:
    """One such variable: `span` is the expression, `where` the field that holds it."""

    service: Service
    where: str
    variable: str
    span: Span


def unescaped(project: Project) -> tuple[Unescaped, ...]:
    """Every expression without a value that the container itself gives one: by its environment or in the script."""
    return tuple(found for service in project.services.values() for found in _of_service(service))


def _of_service(service: Service) -> Iterator[Unescaped]:
    started = (*_texts(service.entrypoint), *_texts(service.command))
    if _SHELL.search(" ".join(text.value for text in started)):
        yield from _taken(service, "command", started)
    test = _texts(service.healthcheck)
    if test and (isinstance(service.healthcheck, Text) or test[0].value == "CMD-SHELL"):
        yield from _taken(service, "healthcheck", test)


def _texts(command: Command) -> tuple[Text, ...]:
    if command is None:
        return ()
    return (command,) if isinstance(command, Text) else command


def _taken(service: Service, where: str, texts: tuple[Text, ...]) -> Iterator[Unescaped]:
    script = "\n".join(text.value for text in texts)
    for text in texts:
        told: set[str] = set()
        for segment in text.segments:
            name = segment.variable
            if not segment.unset or name is None or name in told or text.source is None:
                continue
            told.add(name)
            given = service.environment.get(name)
            if (given is not None and given.value is not None) or _is_assigned(script, name):
                span = text.source.span(segment.start, segment.end)
                yield Unescaped(service=service, where=where, variable=name, span=span)


def _is_assigned(script: str, name: str) -> bool:
    escaped = re.escape(name)
    return re.search(rf"(?:^|[\s;&|(\"'])(?:{escaped}=|(?:for|read)\s+{escaped}\b)", script) is not None
