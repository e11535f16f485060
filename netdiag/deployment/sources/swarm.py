"""What `docker stack deploy` makes of a Compose file: what it ignores and refuses, and what it calls services.

Sources: docker/cli, cli/compose/types/types.go (UnsupportedProperties, DeprecatedProperties),
cli/compose/convert/service.go and opts/port.go; moby,
libnetwork/service_common.go (addEndpointNameResolution) and agent.go.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from netdiag.compose.positions import Source
from netdiag.compose.project import EnvironmentVariable, Project, Service
from netdiag.compose.version_three import refusals

# Settings about the network that it reads past.
_IGNORED = ("container_name", "depends_on", "domainname", "external_links", "links", "mac_address", "network_mode")
# A line names so many of a service's settings, and so many services are told of.
_MOST_SETTINGS, _MOST_LINES = 8, 20
_LONGEST_NAME = 80


def as_stack(project: Project) -> Project:
    """The project as a stack: without what is ignored, and with values that hold templates unknown."""
    return replace(project, services={name: _as_swarm_service(one) for name, one in project.services.items()})


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def without_compose_only(project: Project) -> Project:
    """The project without what only `docker compose` refuses: it does not ignore the names of containers."""
    return replace(project, problems=tuple(one for one in project.problems if one.code != "container-name"))


def stack_notes(project: Project, sources: Iterable[Source]) -> tuple[str, ...]:
    """What `docker stack deploy` refuses and ignores in the files of a project: a line for each service."""
    lines = list(_notes(project, sources))
    more = len(lines) - _MOST_LINES
    return (*lines[:_MOST_LINES], *([f"docker stack deploy refuses or ignores more, {more} lines"] if more > 0 else ()))


def _notes(project: Project, sources: Iterable[Source]) -> Iterator[str]:
    refused: dict[str, dict[str, None]] = {}
    for source in sources:
        for service, setting in refusals(source):
            refused.setdefault(service, {})[setting] = None
    if "" in refused:
        yield f"docker stack deploy refuses {_listed(refused.pop(''))}"
    services = {**project.services, **project.disabled}
    for name in dict.fromkeys((*services, *refused)):
        if name in refused:
            yield f"docker stack deploy refuses of {_cut(name)}: {_listed(refused[name])}"
        if name in services and (ignored := _ignored(services[name])):
            yield f"docker stack deploy ignores of {_cut(name)}: {_listed(dict.fromkeys(ignored))}"


def _ignored(service: Service) -> list[str]:
    found = sorted(service.keys.intersection(_IGNORED))
    found += ["addresses of published ports"] if any(port.host_ip for port in service.ports) else []
    found += ["addresses on networks"] if any(n.ipv4_address or n.ipv6_address for n in service.networks) else []
    return found


def _listed(settings: Mapping[str, None]) -> str:
    names = tuple(settings)
    more = len(names) - _MOST_SETTINGS
    return ", ".join(map(_cut, names[:_MOST_SETTINGS])) + (f" and {more} more" if more > 0 else "")


def names_in_swarm(service: Service) -> tuple[str, ...]:
    """The names of a service on its networks besides aliases and `hostname`; tasks.NAME is every task's address."""
    return (service.name, f"tasks.{service.name}")


def has_virtual_address(service: Service) -> bool:
    """Whether the service's name leads to a virtual address, not to those of the tasks."""
    mode = service.deploy.endpoint_mode if service.deploy else None
    return mode is None or mode.value.lower() != "dnsrr"


def _as_swarm_service(service: Service) -> Service:
    return replace(
        service,
        container_name=None,
        network_mode=None,
        links=(),
        external_links=(),
        networks=tuple(replace(n, ipv4_address=None, ipv6_address=None) for n in service.networks),
        ports=tuple(replace(port, host_ip="", host_ip_span=None) for port in service.ports),
        environment={name: _without_template(variable) for name, variable in service.environment.items()},
    )


def _without_template(variable: EnvironmentVariable) -> EnvironmentVariable:
    """The swarm fills in templates such as {{.Node.Hostname}} for each task."""
    if variable.value is None or not _is_template(variable.value.value):
        return variable
    return replace(variable, value=None)


def _is_template(text: str) -> bool:
    return "{{" in text


def is_named_by_template(service: Service) -> bool:
    """Whether the swarm makes the hostname of each task."""
    return service.hostname is not None and _is_template(service.hostname.value)
