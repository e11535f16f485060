"""What the files of a project say of its services, for a comparison with what runs."""

from collections.abc import Mapping

from netdiag.compose.project import Project, Service
from netdiag.deployment.as_declared import DeclaredPort, DeclaredService, DeclaredText
from netdiag.deployment.from_compose import runs_kafka
from netdiag.deployment.written import location
from netdiag.findings import FileLocation


def declared_services(project: Project, running: str | None = None) -> Mapping[str, DeclaredService]:
    """The services that `docker compose up` starts; `running` is the name of the project that runs, where it differs.

    A variable that compose passes through from its own environment is left out: what it was then, nobody knows.
    """
    return {name: _service(project, service, running or project.name) for name, service in project.services.items()}


def _service(project: Project, service: Service, running: str | None) -> DeclaredService:
    image = service.image
    return DeclaredService(
        name=service.name,
        where=location(service.span),
        image=DeclaredText(value=image.value, where=location(image.span)) if image is not None else None,
        is_built=service.build or service.build_from is not None,
        is_broker=runs_kafka(service),
        environment={
            name: DeclaredText(value=variable.value.value, where=location(variable.entry_span))
            for name, variable in service.environment.items()
            if variable.value is not None
        },
        ports=tuple(
            DeclaredPort(
                target=port.target,
                published=port.published,
                host_ip=port.host_ip,
                protocol=port.protocol,
                where=location(port.text.span),
            )
            for port in service.ports
        ),
        networks=_networks(project, service, running),
        network_mode=service.network_mode.value if service.network_mode else "",
    )


def _networks(project: Project, service: Service, running: str | None) -> dict[str, FileLocation | None]:
    if service.network_mode is not None:
        return {}
    found = {network.network: location(network.span) for network in service.networks}
    names = found or {"default": location(service.span)}
    return {_name(project, key, running): where for key, where in names.items()}


def _name(project: Project, key: str, running: str | None) -> str:
    """What the engine calls a network; the project's name is in front of those that have none of their own."""
    declared = project.networks.get(key)
    own = declared.name if declared else None
    return own if own and own != f"{project.name or ''}_{key}" else f"{running or ''}_{key}"
