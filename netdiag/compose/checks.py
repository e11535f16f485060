"""What compose refuses about a project as a whole: undefined networks and services, contradictions."""

import re

from netdiag.compose.mounted import check_mounted
from netdiag.compose.positions import Span
from netdiag.compose.problems import Problems
from netdiag.compose.project import Project, Service
from netdiag.compose.values import Mapping, Sequence, Value, is_null

# What the schema of compose wants to find somewhere in it.
_CONTAINER_NAME = re.compile("[a-zA-Z0-9][a-zA-Z0-9_.-]+")


def check_project(project: Project, top: Mapping, problems: Problems) -> None:
    """Adds to the problems what compose would say about the loaded project."""
    services = top.entries.get("services")
    if services is not None and is_null(services.value):
        problems.error("schema", "services must be a mapping", services.key.span)
    version = top.entries.get("version")
    if version is not None:
        problems.warning("version", "the attribute `version` is obsolete, it is ignored", version.key.span)
    for service in project.services.values():
        declared = _at(top, "services", service.name)
        _check_service(project, service, declared if isinstance(declared, Mapping) else None, problems)
    check_mounted(project, top, problems)
    _check_container_names(project, problems)
    _check_circles(project, problems)


def _at(value: Value | None, *path: str) -> Value | None:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _key(declared: Mapping | None, field: str, otherwise: Span) -> Span:
    entry = declared.entries.get(field) if declared is not None else None
    return otherwise if entry is None else entry.key.span


def _check_service(project: Project, service: Service, declared: Mapping | None, problems: Problems) -> None:
    name, span = service.name, service.span
    if declared is None:
        return
    named = service.image is not None and service.image.value != ""
    if not (
        service.build or named or declared.get("provider") or isinstance(declared.get("image"), Sequence | Mapping)
    ):
        message = f"service {name!r} has neither an image nor a build context"
        problems.error("no-image", message, span, service=name)
    if service.network_mode is not None and service.network_mode.value and service.networks:
        message = f"service {name!r} declares both network_mode and networks"
        place = _key(declared, "networks", span)
        problems.error("network-mode", message, service.network_mode.span, place, service=name)
    for network in service.networks:
        if network.network not in project.networks:
            message = f"service {name!r} refers to undefined network {network.network!r}"
            problems.error("undefined-network", message, network.span, service=name)
    if service.container_name is not None and not _CONTAINER_NAME.search(service.container_name.value):
        message = f"container_name {service.container_name.value!r} is not a name of at least two characters"
        problems.error("schema", message, service.container_name.span, service=name)
    _check_references(project, service, problems)
    _check_healthcheck(service, problems)
    if service.scale < 0:
        problems.error("scale", f"service {name!r} has a negative scale", _key(declared, "scale", span), service=name)
    if service.scale > 1 and service.container_name is not None:
        message = f"service {name!r} has a container_name and {service.scale} replicas"
        problems.error("scale", message, service.container_name.span, _key(declared, "scale", span), service=name)


def _check_references(project: Project, service: Service, problems: Problems) -> None:
    name = service.name
    for dependency in service.depends_on:
        disabled = dependency.service in project.disabled
        if dependency.service in project.services or (disabled and not dependency.required):
            continue
        what = "a service of an inactive profile" if disabled else "undefined service"
        message = f"service {name!r} depends on {what} {dependency.service!r}"
        problems.error("undefined-service", message, dependency.span, service=name)
    for link in service.links:
        if link.service not in project.services:
            message = f"service {name!r} links to undefined service {link.service!r}"
            problems.error("undefined-service", message, link.span, service=name)
    mode = service.network_mode
    if mode is not None and mode.value.startswith("service:"):
        shared = mode.value.removeprefix("service:")
        if shared not in project.services:
            message = f"service {name!r} shares the network of undefined service {shared!r}"
            problems.error("undefined-service", message, mode.span, service=name)
    for volume in service.volumes:
        if volume.type == "volume" and volume.source is not None and volume.source.value not in project.volumes:
            message = f"service {name!r} refers to undefined volume {volume.source.value!r}"
            problems.error("undefined-volume", message, volume.source.span, service=name)


def _check_healthcheck(service: Service, problems: Problems) -> None:
    test = service.healthcheck
    if isinstance(test, tuple) and test and test[0].value not in ("CMD", "CMD-SHELL", "NONE"):
        message = "a healthcheck test must start with CMD, CMD-SHELL or NONE"
        problems.error("healthcheck", message, test[0].span, service=service.name)


def _check_circles(project: Project, problems: Problems) -> None:
    """A dependency that leads back to a service still waiting closes a circle; each is told there."""
    done: dict[str, bool] = {}
    for start in project.services:
        trail = [] if start in done else [start]
        waiting = [iter(_waits_for(project.services[name])) for name in trail]
        done |= dict.fromkeys(trail, False)
        while trail:
            for other, span in waiting[-1]:
                if other in project.services and other not in done:
                    trail.append(other)
                    waiting.append(iter(_waits_for(project.services[other])))
                    done[other] = False
                    break
                if not done.get(other, True):
                    circle = " -> ".join((*trail[trail.index(other) :], other))
                    problems.error("circle", f"dependency cycle: {circle}", span, service=trail[-1])
            else:
                done[trail.pop()] = True
                waiting.pop()


def _waits_for(service: Service) -> list[tuple[str, Span]]:
    found = [(d.service, d.span) for d in service.depends_on] + [(link.service, link.span) for link in service.links]
    if service.network_mode is not None and service.network_mode.value.startswith("service:"):
        found.append((service.network_mode.value.removeprefix("service:"), service.network_mode.span))
    return found


def _check_container_names(project: Project, problems: Problems) -> None:
    first: dict[str, Service] = {}
    for service in project.services.values():
        text = service.container_name
        if text is None:
            continue
        other = first.setdefault(text.value, service)
        if other is not service and other.container_name is not None:
            message = f"container name {text.value!r} is used by services {other.name!r} and {service.name!r}"
            problems.error("container-name", message, text.span, other.container_name.span, service=service.name)
