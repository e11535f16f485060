"""A compose file becomes a Project: the one door of this package.

Values in, values out: the caller hands over the text of the file, the variables and a function that reads
the files it names. What cannot be read at all raises ComposeError; what compose would refuse although it can
be read is in `Project.problems`, with the rest of the project read as far as it is unambiguous.
"""

from collections.abc import Mapping as MappingABC
from dataclasses import replace

from netdiag.compose.checks import check_project, check_schema
from netdiag.compose.interpolate import Lookup, interpolate
from netdiag.compose.merge import merge_files
from netdiag.compose.positions import Source, Text, literal
from netdiag.compose.problems import Problems
from netdiag.compose.project import Network, Project, Service
from netdiag.compose.service import (
    DEFAULT_NETWORK,
    mounted_configs,
    mounted_secrets,
    read_networks,
    read_service,
    read_volumes,
)
from netdiag.compose.values import FieldReader, Mapping, ReadFile, Scope, no_files
from netdiag.compose.yaml_tree import MappingNode, ScalarNode, load_nodes

ALL_PROFILES = ("*",)


def load(
    source: Source,
    *,
    overrides: tuple[Source, ...] = (),
    dotenv: MappingABC[str, Text] | None = None,
    environ: MappingABC[str, str] | None = None,
    profiles: tuple[str, ...] = ALL_PROFILES,
    read: ReadFile = no_files,
    name: str | None = None,
    default_name: str | None = None,
    folder: str = "",
) -> Project:
    """The project that a compose file declares, with the files of `overrides` merged onto it in their order.

    The process environment wins over `dotenv`. `folder` is the project's, from which the relative paths of its
    files start; `read` gives the bytes of a file that the project names (env_file, extends, include) by its path
    with that folder before it, None when there is none; spans into such a file carry that path. `name` is the
    project name given by the user, `default_name` the one to use when neither the user, COMPOSE_PROJECT_NAME nor
    the files give one (the name of the project's folder).
    Services of inactive profiles end up in `Project.disabled`.
    """
    problems = Problems()
    sources = (source, *overrides)
    given = _lookup(dotenv or {}, environ or {}, name)
    lookup = _with_name(given, sources, default_name)
    top = merge_files(sources, Scope(folder="" if folder == "." else folder, lookup=lookup), read, problems)
    project = _project_name(top, problems, given, name, default_name)
    services = _services(top, problems, lookup, read)
    active = {key: service for key, service in services.items() if service.active(profiles)}
    networks = read_networks(problems, top, project)
    _imply_default(networks, active, project)
    loaded = Project(
        name=project,
        path=source.path,
        services=active,
        networks=networks,
        volumes=read_volumes(problems, top, project),
        disabled={key: service for key, service in services.items() if key not in active},
    )
    check_schema(top, problems)
    check_project(loaded, top, problems)
    return _with_problems(loaded, problems, sources)


def normalized_name(name: str) -> str:
    """A project name as compose makes it out of any text: lower case, letters, digits, `_` and `-`."""
    kept = "".join(char for char in name.lower() if char.isascii() and (char.isalnum() or char in "_-"))
    return kept.lstrip("_-")


def _lookup(dotenv: MappingABC[str, Text], environ: MappingABC[str, str], name: str | None) -> Lookup:
    def value_of(variable: str) -> Text | str | None:
        if variable == "COMPOSE_PROJECT_NAME" and name is not None:
            return name
        value = environ.get(variable)
        return dotenv.get(variable) if value is None else value

    return value_of


def _with_name(given: Lookup, sources: tuple[Source, ...], default_name: str | None) -> Lookup:
    """The name of the project is a variable, too, whoever gave it."""

    def value_of(variable: str) -> Text | str | None:
        value = given(variable)
        if variable != "COMPOSE_PROJECT_NAME" or (value is not None and str(value)):
            return value
        return _given_name(sources, given, default_name)

    return value_of


def _given_name(sources: tuple[Source, ...], lookup: Lookup, default_name: str | None) -> str | None:
    """The name that the files give, the last of them wins, else that of the folder."""
    name = ""
    for source in sources:
        for node in load_nodes(source):
            for key, value in node.pairs if isinstance(node, MappingNode) else ():
                if isinstance(key, ScalarNode) and key.value == "name" and isinstance(value, ScalarNode):
                    name = value.value or name
    given, _ = interpolate(literal(name), lookup)
    return normalized_name(given.value) or normalized_name(default_name or "") or None


def _project_name(
    top: Mapping, problems: Problems, lookup: Lookup, name: str | None, default_name: str | None
) -> str | None:
    if name is not None:
        return name
    given = lookup("COMPOSE_PROJECT_NAME")
    if given is not None and str(given):
        return str(given)
    own = FieldReader(problems, "project").text(top, "name")
    if own is not None and own.value:
        if normalized_name(own.value):
            return normalized_name(own.value)
        problems.error("name", f"project name {own.value!r} contains no letter or digit", own.span)
    return normalized_name(default_name or "") or None


def _services(top: Mapping, problems: Problems, lookup: Lookup, read: ReadFile) -> dict[str, Service]:
    declared = FieldReader(problems, "project").mapping(top, "services")
    if declared is None:
        return {}
    found = {name: read_service(problems, name, entry, lookup, read) for name, entry in declared.entries.items()}
    if top.get("secrets") is None and top.get("configs") is None:
        return found
    return {
        name: replace(service, secrets=mounted_secrets(top, name), configs=mounted_configs(top, name))
        for name, service in found.items()
    }


def _imply_default(networks: dict[str, Network], services: dict[str, Service], project: str | None) -> None:
    """The default network exists when a service is on it and the file does not declare it."""
    if DEFAULT_NETWORK in networks:
        return
    for service in services.values():
        for attached in service.networks:
            if attached.network == DEFAULT_NETWORK:
                name = None if project is None else f"{project}_{DEFAULT_NETWORK}"
                networks[DEFAULT_NETWORK] = Network(key=DEFAULT_NETWORK, name=name, span=attached.span, implicit=True)
                return


def _with_problems(project: Project, problems: Problems, sources: tuple[Source, ...]) -> Project:
    return replace(
        project,
        problems=problems.all(),
        origins=tuple(problems.origins),
        service_spans={name: tuple(spans) for name, spans in problems.service_spans.items()},
        files=tuple(source.span(0, len(source.data)) for source in sources),
    )
