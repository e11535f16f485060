"""What `docker stack deploy` makes of a Compose file: what it ignores and refuses, and what it calls services.

Sources: docker/cli, cli/compose/types/types.go (UnsupportedProperties, DeprecatedProperties, ForbiddenProperties),
cli/compose/schema/data/config_schema_v3.13.json, cli/compose/convert/service.go and opts/port.go; moby,
libnetwork/service_common.go (addEndpointNameResolution) and agent.go.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.compose.project import EnvironmentVariable, Project, Service

# Settings about the network that it reads past.
_IGNORED = ("container_name", "depends_on", "external_links", "links", "mac_address", "network_mode")
_FORBIDDEN = ("cpu_quota", "cpu_shares", "cpuset", "mem_limit", "memswap_limit", "volume_driver", "volumes_from")
# Keys of today's Compose files that the schema of version 3 does not have.
_NOT_IN_SCHEMA = (
    "cpus",
    "develop",
    "gpus",
    "mem_reservation",
    "platform",
    "post_start",
    "pre_stop",
    "profiles",
    "provider",
    "pull_policy",
    "runtime",
    "scale",
)


def as_stack(project: Project) -> Project:
    """The project as a stack: without what is ignored, and with values that hold templates unknown."""
    return replace(project, services={name: _as_swarm_service(one) for name, one in project.services.items()})


def stack_notes(project: Project) -> Iterator[str]:
    """What `docker stack deploy` refuses and ignores: a line for each service, and one for what draws in others."""
    drawn_in = sorted({origin.kind for origin in project.origins}.intersection(("extends", "include")))
    if drawn_in:
        yield f"docker stack deploy refuses {' and '.join(drawn_in)}"
    for service in (*project.services.values(), *project.disabled.values()):
        refused = sorted(service.keys.intersection((*_FORBIDDEN, *_NOT_IN_SCHEMA)))
        ignored = sorted(service.keys.intersection(_IGNORED))
        if any(d.condition != "service_started" for d in service.depends_on):
            refused.append("conditions of depends_on")
            ignored = [key for key in ignored if key != "depends_on"]
        ignored += ["addresses of published ports"] if any(port.host_ip for port in service.ports) else []
        ignored += ["addresses on networks"] if any(n.ipv4_address or n.ipv6_address for n in service.networks) else []
        for verb, settings in (("refuses", refused), ("ignores", ignored)):
            if settings:
                yield f"docker stack deploy {verb} of {service.name}: {', '.join(settings)}"


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
        hostname=None if service.hostname and _is_template(service.hostname.value) else service.hostname,
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
