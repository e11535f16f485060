"""What the files of a project declare about its services, for a comparison with what runs.

Only what the comparison needs, each value with its place.
"""

from collections.abc import Mapping
from dataclasses import field

from netdiag.compose.project import Project, Service
from netdiag.deployment.sources.compose import runs_kafka
from netdiag.findings import FileLocation
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredText:
    """A value and where it is written; None for one that the files leave to something else."""

    value: str
    where: FileLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredPort:
    """A port that is to be published; `published` None is any free one."""

    target: int
    published: int | None
    host_ip: str
    protocol: str
    where: FileLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredService:
    """One service. `networks` are the engine's names of them; `environment` holds what the files set.

    `is_built`: the image is made on the spot, whatever it is called. `is_broker`: it starts Kafka.
    """

    name: str
    where: FileLocation | None
    image: DeclaredText | None = None
    is_built: bool = False
    is_broker: bool = False
    environment: Mapping[str, DeclaredText] = field(default_factory=dict, repr=False)
    ports: tuple[DeclaredPort, ...] = ()
    networks: Mapping[str, FileLocation | None] = field(default_factory=dict)
    network_mode: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedRefusal:
    """A finding about the files that says what the broker of a service prints instead of starting."""

    rule: str
    service: str
    prints: str
    message: str
    hint: str
    where: FileLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredServices:
    """The services of the files by name, and the refusals to start that follow from them."""

    services: Mapping[str, DeclaredService] = field(default_factory=dict)
    predicted_refusals: tuple[PredictedRefusal, ...] = ()


def declared_services(project: Project, running: str | None = None) -> Mapping[str, DeclaredService]:
    """The services that `docker compose up` starts; `running` is the name of the project that runs, where it differs.

    A variable that compose passes through from its own environment is left out: what it was then, nobody knows.
    """
    return {
        name: _declared_service(project, service, running or project.name) for name, service in project.services.items()
    }


def _declared_service(project: Project, service: Service, running: str | None) -> DeclaredService:
    image = service.image
    return DeclaredService(
        name=service.name,
        where=service.span,
        image=DeclaredText(value=image.value, where=image.span) if image is not None else None,
        is_built=service.build or service.build_from is not None,
        is_broker=runs_kafka(service),
        environment={
            name: DeclaredText(value=variable.value.value, where=variable.entry_span)
            for name, variable in service.environment.items()
            if variable.value is not None
        },
        ports=tuple(
            DeclaredPort(
                target=port.target,
                published=port.published,
                host_ip=port.host_ip,
                protocol=port.protocol,
                where=port.text.span,
            )
            for port in service.ports
        ),
        networks=_engine_networks(project, service, running),
        network_mode=service.network_mode.value if service.network_mode else "",
    )


def _engine_networks(project: Project, service: Service, running: str | None) -> dict[str, FileLocation | None]:
    if service.network_mode is not None:
        return {}
    found = {network.network: network.span for network in service.networks}
    names = found or {"default": service.span}
    return {_engine_name(project, key, running): where for key, where in names.items()}


def _engine_name(project: Project, key: str, running: str | None) -> str:
    """What the engine calls a network; the project's name is in front of those that have none of their own."""
    declared = project.networks.get(key)
    own = declared.name if declared else None
    return own if own and own != f"{project.name or ''}_{key}" else f"{running or ''}_{key}"
