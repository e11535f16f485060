"""The relays of a deployment: what the services of compose files and running containers pass connections on to.

A service's command and the configuration that it mounts are read, from the compose file or below the project's folder;
of a running container, its command. A relay that accepts a port under a service's profile that is not active is none.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from netdiag.compose.positions import Source, Text, assemble
from netdiag.compose.project import Service
from netdiag.compose.values import ReadFile
from netdiag.deployment.model.deployment import DeclaredValue, Deployment, Relay, RelayTarget
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.sources.compose_text import ComposeValue
from netdiag.deployment.sources.relay_programs import (
    LARGEST_TEXT,
    Forwarding,
    ForwardingTarget,
    configuration_file,
    forwardings_in_command,
    forwardings_in_file,
)
from netdiag.deployment.sources.startup import SHELLS, command_lines, command_words, mounted_file
from netdiag.findings import ContainerLocation, Location
from netdiag.patterns import regex

if TYPE_CHECKING:
    # Not needed for files.
    from netdiag.engine.container import Container

_COMMAND_END = regex(r"[;&|\n]+|\bexec\b")
_TextOf = Callable[[ForwardingTarget], DeclaredValue | None]


def declared_relays(services: Iterable[Service], read: ReadFile) -> tuple[Relay, ...]:
    """The relays that these services start."""
    return tuple(relay for service in services for relay in _of_service(service, read))


def running_relays(containers: Iterable["Container"], names: Mapping[str, str]) -> tuple[Relay, ...]:
    """The relays that containers start by their commands; `names` are those of the members, by container id."""
    return tuple(
        relay(found, names[one.id], ContainerLocation(container=one.name, part="command"), lambda target: None)
        for one in containers
        for line in _container_commands(one)
        for found in forwardings_in_command(line)
    )


def of_running(relays: Iterable[Relay], deployment: Deployment) -> tuple[Relay, ...]:
    """Of the relays that files declare, those of containers whose commands do not tell of them, as plain values."""
    told = {(one.member, one.port) for one in deployment.relays}
    return tuple(
        replace(one, targets=tuple(replace(target, declared=None) for target in one.targets))
        for one in relays
        if one.member in deployment.by_name and (one.member, one.port) not in told
    )


def _container_commands(container: "Container") -> Iterator[tuple[str, ...]]:
    """The words that a container executes; a script for a shell is split at blanks and at the ends of its commands."""
    words = (*container.entrypoint, *container.command)
    if len(words) > 2 and posixpath.basename(words[0]) in SHELLS and words[1].startswith("-"):
        script = words[2][:LARGEST_TEXT]
        return (tuple(part.split()) for part in _COMMAND_END.split(script))
    return iter((words,))


def relay(forwarding: Forwarding, member: str | None, where: Location, text_of: _TextOf) -> Relay:
    """What a program is told to do, in the namespace of a member (None: the docker host)."""
    return Relay(
        program=forwarding.program,
        member=member,
        host=forwarding.host,
        port=forwarding.port,
        targets=tuple(
            RelayTarget(address=Address(host=one.host, port=one.port), declared=text_of(one))
            for one in forwarding.targets
        ),
        where=where,
        through=forwarding.through,
    )


def _of_service(service: Service, read: ReadFile) -> Iterator[Relay]:
    entry, command = command_words(service)
    image = service.image.value if service.image is not None and service.entrypoint is None else ""
    for line in command_lines(service):
        words = [word.value for word in line]

        def in_command(target: ForwardingTarget, line: Sequence[object] = line) -> DeclaredValue:
            text = line[target.word].text  # type: ignore[attr-defined]
            return ComposeValue(variable="command", text=text.slice(target.start, target.end))

        found = () if any(word.is_open for word in line) else forwardings_in_command(words, image)
        for one in found:
            yield relay(one, service.name, service.span, in_command)
    named = configuration_file([word.value for word in (*entry, *command)], image)
    content = file_content(service, read, named.path) if named is not None and named.path else None
    if named is None or content is None or len(content) > LARGEST_TEXT:
        return

    def in_file(target: ForwardingTarget) -> DeclaredValue:
        return ComposeValue(
            variable=f"the configuration of {service.name}", text=content.slice(target.start, target.end)
        )

    for one in forwardings_in_file(named.program, Source(content.span.path, content.value)):
        yield relay(one, service.name, service.span, in_file)


def file_content(service: Service, read: ReadFile, path: str) -> Text | None:
    """The file at a path of a service's container: a config of the project, or what is mounted there."""
    found = mounted_file(service, path, read)
    if found is None or found.source is None:
        return None if found is None else found.content
    try:
        text = found.source.text
    except UnicodeDecodeError:
        return None
    return assemble(found.source, [(text, 0, len(text))], 0, len(text))
