"""Services that are built here: the image below them, and what their Dockerfile adds to it.

A service whose Dockerfile lies in the project is judged as one of the image that it starts from, with the ENV values
beneath its own variables. Of any other nothing is known.
"""

from dataclasses import dataclass, replace

from netdiag.compose.positions import Source, Text
from netdiag.compose.project import Command, EnvironmentVariable, Service
from netdiag.deployment.dockerfile import Built, read_dockerfile
from netdiag.deployment.mounts import Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Based:
    """A service as it starts; `is_changed` where its build may have replaced configuration or start script."""

    service: Service
    is_changed: bool = False


def based(service: Service, read: Read) -> Based:
    """The service on the image that it is really made from; itself where nothing shows from what."""
    build = service.build_from
    if build is None or build.inline:
        return Based(service=service)
    data = read(build.dockerfile)
    made = read_dockerfile(Source(build.dockerfile, data), build.args, build.target) if data is not None else None
    if made is None or made.image is None:
        return Based(service=service)
    variables = {name: _variable(name, text) for name, text in made.environment.items()}
    command, entrypoint = _started(service, made)
    found = replace(
        service,
        image=made.image,
        environment={**variables, **service.environment},
        command=command,
        entrypoint=entrypoint,
    )
    return Based(service=found, is_changed=made.is_changed)


def _variable(name: str, text: Text) -> EnvironmentVariable:
    return EnvironmentVariable(name=name, value=text, key_span=text.span, entry_span=text.span, form="env_file")


def _started(service: Service, made: Built) -> tuple[Command, Command]:
    """What is executed: a service's own entrypoint drops the command of its image."""
    image = made.image
    if image is None:
        return service.command, service.entrypoint

    def words(found: tuple[str, ...] | None) -> Command:
        return None if not found else tuple(Text(value=word, span=image.span) for word in found)

    entrypoint = service.entrypoint if service.entrypoint is not None else words(made.entrypoint)
    command = service.command
    if command is None and service.entrypoint is None:
        command = words(made.command)
    return command, entrypoint
