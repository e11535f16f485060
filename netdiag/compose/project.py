"""The compose model: what a project declares, every value with its place in the files."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from netdiag.compose.positions import Text
from netdiag.compose.problems import Origin, Problem
from netdiag.findings import FileLocation
from netdiag.patterns import regex
from netdiag.values import dataclass

Command = tuple[Text, ...] | Text | None
_SHELL = regex(r"(?:^|[\s/])(?:ba|da|a|k|z)?sh(?:$|\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One published port: the `target` in the container, the `published` port on the host.

    `published` is None when compose picks the port when the container starts (`ephemeral`), out of
    `published_range` if one is given. `text` is the whole entry; for the long syntax its value is the short
    form and none of its characters can be edited. `host_ip` is "" when none is given.
    """

    target: int
    published: int | None
    host_ip: str
    protocol: str
    text: Text
    target_span: FileLocation | None = None
    published_span: FileLocation | None = None
    host_ip_span: FileLocation | None = None
    published_range: tuple[int, int] | None = None
    name: str | None = None
    mode: str = "ingress"

    @property
    def ephemeral(self) -> bool:
        """Whether the host port is only known once the container runs."""
        return self.published is None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """A variable of a service; value None: passed through from compose's environment, which lacks it.

    `shadowed` are earlier declarations of the same variable that this one replaces, `via` is the merge key
    or the env_file entry that brought it here.
    """

    name: str
    value: Text | None
    key_span: FileLocation
    entry_span: FileLocation
    form: Literal["map", "list", "env_file"]
    via: FileLocation | None = None
    shadowed: tuple[FileLocation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceNetwork:
    """An attachment to a network; `span` is the entry, for the implicit default the key of the service."""

    network: str
    span: FileLocation
    aliases: tuple[Text, ...] = ()
    ipv4_address: Text | None = None
    ipv6_address: Text | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A top-level network; `name` is what the engine calls it, None while the project has no name."""

    key: str
    name: str | None
    span: FileLocation
    driver: Text | None = None
    internal: bool = False
    external: bool = False
    subnets: tuple[Text, ...] = ()
    gateway: Text | None = None
    driver_opts: Mapping[str, Text] = field(default_factory=dict)
    ipv6: bool = False
    implicit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraHost:
    """A line of the container's hosts file."""

    name: str
    address: str
    span: FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A legacy link: inside this service, `alias` names the other service."""

    service: str
    alias: str
    span: FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A service that is started before."""

    service: str
    condition: str
    required: bool
    span: FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A mount; source is None for an anonymous volume, `host_path` the source of a bind mount.

    A relative `host_path` starts from the project's folder.
    """

    source: Text | None
    target: str
    read_only: bool
    span: FileLocation
    type: str = "volume"
    host_path: str | None = None
    subpath: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """A config of the project at a path of a service's container; `span` is where the service names it.

    It is its `content`, or the `file` that holds it, seen from the project's folder; neither is one from elsewhere.
    """

    target: str
    span: FileLocation
    content: Text | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvFile:
    """A file of environment variables: `path` as the service names it, `file` seen from the project's folder."""

    path: Text
    file: str
    required: bool = True
    format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What a service is built from: the folder and the Dockerfile in it, both as they can be opened.

    `args` are the build arguments, None for one whose value compose's environment lacks.
    """

    context: str
    dockerfile: str
    span: FileLocation
    args: Mapping[str, str | None] = field(default_factory=dict)
    target: str | None = None
    inline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    """What `deploy` says to a swarm: `on_every_node` where a task runs on each (mode global without constraints)."""

    endpoint_mode: Text | None = None
    on_every_node: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A declared unit; `span` is its key. A None or empty field is absent from the files.

    `secrets` are those that are files of the project, as mounts of these files. `path` are the keys and indexes that
    lead to it in a file that is not Compose's, `variables_key` what its variables stand under there. `keys` are those
    that a Compose file has of it.
    """

    name: str
    span: FileLocation
    image: Text | None = None
    build: bool = False
    build_from: Build | None = None
    container_name: Text | None = None
    hostname: Text | None = None
    domainname: Text | None = None
    network_mode: Text | None = None
    networks: tuple[ServiceNetwork, ...] = ()
    ports: tuple[Port, ...] = ()
    expose: tuple[Text, ...] = ()
    environment: Mapping[str, EnvironmentVariable] = field(default_factory=dict)
    command: Command = None
    entrypoint: Command = None
    extra_hosts: tuple[ExtraHost, ...] = ()
    links: tuple[Link, ...] = ()
    external_links: tuple[Text, ...] = ()
    profiles: tuple[str, ...] = ()
    depends_on: tuple[Dependency, ...] = ()
    scale: int = 1
    deploy: Deploy | None = None
    volumes: tuple[Volume, ...] = ()
    configs: tuple[ServiceConfig, ...] = ()
    secrets: tuple[Volume, ...] = ()
    healthcheck: Command = None
    healthcheck_disabled: bool = False
    env_files: tuple[EnvFile, ...] = ()
    lacks_env_file: bool = False
    labels: Mapping[str, Text] = field(default_factory=dict)
    dns: tuple[Text, ...] = ()
    dns_search: tuple[Text, ...] = ()
    user: Text | None = None
    path: tuple[str | int, ...] = ()
    variables_key: str = "environment"
    keys: frozenset[str] = frozenset()

    def active(self, profiles: tuple[str, ...]) -> bool:
        """Whether `docker compose up` with these active profiles starts the service; `*` is all of them."""
        return not self.profiles or "*" in profiles or any(name in profiles for name in self.profiles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A compose project as its files declare it, with what compose would refuse or warn about.

    `volumes` are what the engine calls each of them, None while the project has no name. `origins` tell what was drawn
    in from where, `service_spans` where its own `files` (the whole of each) declare a service.
    """

    name: str | None
    path: str
    services: Mapping[str, Service]
    networks: Mapping[str, Network]
    volumes: Mapping[str, str | None] = field(default_factory=dict)
    disabled: Mapping[str, Service] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    origins: tuple[Origin, ...] = ()
    service_spans: Mapping[str, tuple[FileLocation, ...]] = field(default_factory=dict)
    files: tuple[FileLocation, ...] = ()

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What compose says and goes on."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What makes compose refuse the project."""
        return tuple(problem for problem in self.problems if problem.severity == "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnescapedVariable:
    """One such variable: `span` is the expression, `where` the field that holds it."""

    service: Service
    where: str
    variable: str
    span: FileLocation


def unescaped_variables(project: Project) -> tuple[UnescapedVariable, ...]:
    """Every expression without a value that the container itself gives one: by its environment or in the script."""
    return tuple(found for service in project.services.values() for found in _unescaped_in_service(service))


def _unescaped_in_service(service: Service) -> Iterator[UnescapedVariable]:
    started = (*_command_texts(service.entrypoint), *_command_texts(service.command))
    if _SHELL.search(" ".join(text.value for text in started)):
        yield from _unescaped_in_texts(service, "command", started)
    test = _command_texts(service.healthcheck)
    if test and (isinstance(service.healthcheck, Text) or test[0].value == "CMD-SHELL"):
        yield from _unescaped_in_texts(service, "healthcheck", test)


def _command_texts(command: Command) -> tuple[Text, ...]:
    if command is None:
        return ()
    return (command,) if isinstance(command, Text) else command


def _unescaped_in_texts(service: Service, where: str, texts: tuple[Text, ...]) -> Iterator[UnescapedVariable]:
    script = "\n".join(text.value for text in texts)
    for text in texts:
        found: set[str] = set()
        for segment in text.segments:
            name = segment.variable
            if not segment.unset or name is None or name in found or text.source is None:
                continue
            found.add(name)
            given = service.environment.get(name)
            if (given is not None and given.value is not None) or _is_assigned(script, name):
                span = text.source.span(segment.start, segment.end)
                yield UnescapedVariable(service=service, where=where, variable=name, span=span)


def _is_assigned(script: str, name: str) -> bool:
    escaped = re.escape(name)
    return re.search(rf"(?:^|[\s;&|(\"'])(?:{escaped}=|(?:for|read)\s+{escaped}\b)", script) is not None
