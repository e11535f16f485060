"""What compose refuses about a project as a whole: unknown fields, undefined names, contradictions.

The tables of fields are compose-spec's, one word per field: its name and the kinds allowed there, written as letters
(s string, n number, b boolean, l list, m mapping, 0 null).

A file may be named alone although it is meant to lie on a base, and only a base says which image a service runs, what
else it sets and what lies around it. So of such a fragment nothing is an error: what its unfinished services look like
is no finding, and the rest is a note.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from netdiag.compose.problems import Problem, Problems
from netdiag.compose.project import Project, Service
from netdiag.compose.values import Mapping, Scalar, Sequence, Value, is_null
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.patterns import regex

_KINDS = {"secrets": ("file", "environment"), "configs": ("file", "environment", "content")}
_UNDEFINED = {"secrets": "undefined-secret", "configs": "undefined-config"}
_EXTERNAL_KEYS = ("external", "driver")
# What the schema of compose wants to find somewhere in it.
_CONTAINER_NAME = regex("[a-zA-Z0-9][a-zA-Z0-9_.-]+")
_LETTERS = {"null": "0", "bool": "b", "int": "n", "float": "n", "str": "s", "time": "t"}
_WORDS = {"s": "a string", "n": "a number", "b": "true or false", "l": "a list", "m": "a mapping", "0": "empty"}


def _table(text: str) -> dict[str, str]:
    return dict(word.split(":") for word in text.split())


_TOP = _table("configs:m include:l models:m name:s networks:m secrets:m services:m version:s volumes:m")
_SERVICE = _table(
    "annotations:lm attach:bs blkio_config:m build:ms cap_add:l cap_drop:l cgroup:s cgroup_parent:s command:0ls"
    " configs:l container_name:s cpu_count:ns cpu_percent:ns cpu_period:ns cpu_quota:ns cpu_rt_period:ns"
    " cpu_rt_runtime:ns cpu_shares:ns cpus:ns cpuset:s credential_spec:m depends_on:lm deploy:m0 develop:m0"
    " device_cgroup_rules:l devices:l dns:ls dns_opt:l dns_search:ls domainname:s entrypoint:0ls env_file:ls"
    " environment:lm expose:l extends:ms external_links:l extra_hosts:lm gpus:ls group_add:l healthcheck:m"
    " hostname:s image:s init:bs ipc:s isolation:s label_file:ls labels:lm links:l logging:m mac_address:s"
    " mem_limit:ns mem_reservation:ns mem_swappiness:ns memswap_limit:ns models:lm network_mode:s networks:lm"
    " oom_kill_disable:bs oom_score_adj:ns pid:0s pids_limit:ns platform:s ports:l post_start:l pre_stop:l"
    " privileged:bs profiles:l provider:m pull_policy:s pull_refresh_after:s read_only:bs restart:s runtime:s"
    " scale:ns secrets:l security_opt:l shm_size:ns stdin_open:bs stop_grace_period:s stop_signal:s storage_opt:m"
    " sysctls:lm tmpfs:ls tty:bs ulimits:m use_api_socket:b user:s userns_mode:s uts:s volumes:l volumes_from:l"
    " working_dir:s"
)
_PORT = _table("app_protocol:s host_ip:s mode:s name:s protocol:s published:ns target:ns")
_ATTACHMENT = _table(
    "aliases:l driver_opts:m gw_priority:n interface_name:s ipv4_address:s ipv6_address:s link_local_ips:l"
    " mac_address:s priority:n"
)
_NETWORK = _table(
    "attachable:bs driver:s driver_opts:m enable_ipv4:bs enable_ipv6:bs external:bms internal:bs ipam:m"
    " labels:lm name:s"
)
_HEALTHCHECK = _table("disable:bs interval:s retries:ns start_interval:s start_period:s test:ls timeout:s")
_DEPENDENCY = _table("condition:s required:b restart:bs")


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
    _check_secrets_and_configs(project, top, problems)
    _check_container_names(project, problems)
    _check_circles(project, problems)


def check_schema(top: Mapping, problems: Problems) -> None:
    """Adds a problem for every field that compose does not know or whose value is of the wrong kind."""
    _check_fields(top, _TOP, "", problems, None)
    for name, service in _entries(top.get("services")):
        if isinstance(service, Mapping):
            _check_service_fields(name, service, problems)
    for name, network in _entries(top.get("networks")):
        if isinstance(network, Mapping):
            _check_fields(network, _NETWORK, f"networks.{name}.", problems, None)


def _at(value: Value | None, *path: str) -> Value | None:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


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
        place = service.container_name.span
        problems.error("container-name", message, place, _key(declared, "scale", span), service=name)


def _key(declared: Mapping | None, field: str, otherwise: FileLocation) -> FileLocation:
    entry = declared.entries.get(field) if declared is not None else None
    return otherwise if entry is None else entry.key.span


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


def _check_secrets_and_configs(project: Project, top: Mapping, problems: Problems) -> None:
    """Adds to the problems what compose would say about the secrets and configs of the project."""
    services = top.get("services")
    for section, kinds in _KINDS.items():
        declared = top.get(section)
        for name, entry in declared.entries.items() if isinstance(declared, Mapping) else ():
            held = [kind for kind in kinds if isinstance(entry.value, Mapping) and kind in entry.value.entries]
            if len(held) > 1:
                message = f"{section}.{name}: {' and '.join(held)} are mutually exclusive"
                problems.error("schema", message, entry.key.span)
            elif not held and not _is_elsewhere(entry.value):
                problems.error("schema", f"{section}.{name} needs one of {', '.join(kinds)}", entry.key.span)
        for name in project.services:
            service = services.get(name) if isinstance(services, Mapping) else None
            used = service.get(section) if isinstance(service, Mapping) else None
            for source in map(_mounted_name, used.items if isinstance(used, Sequence) else ()):
                known = isinstance(declared, Mapping) and source is not None and source.value in declared.entries
                if source is not None and not known:
                    message = f"service {name!r} refers to undefined {section[:-1]} {source.value!r}"
                    problems.error(_UNDEFINED[section], message, source.span, service=name)


def _is_elsewhere(value: Value) -> bool:
    return isinstance(value, Mapping) and any(key in value.entries for key in _EXTERNAL_KEYS)


def _mounted_name(item: Value) -> Scalar | None:
    """What a service mounts: the short form is its name, the long one has it under `source`."""
    named = item.get("source") if isinstance(item, Mapping) else item
    return named if isinstance(named, Scalar) and named.kind != "null" else None


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


def _waits_for(service: Service) -> list[tuple[str, FileLocation]]:
    found = [(d.service, d.span) for d in service.depends_on] + [(link.service, link.span) for link in service.links]
    if service.network_mode is not None and service.network_mode.value.startswith("service:"):
        found.append((service.network_mode.value.removeprefix("service:"), service.network_mode.span))
    return found


def _check_fields(mapping: Mapping, table: dict[str, str], where: str, problems: Problems, service: str | None) -> None:
    for field, entry in mapping.entries.items():
        allowed = table.get(field)
        if allowed is None:
            if not field.startswith("x-"):
                message = f"additional property {where}{field} is not allowed"
                problems.error("schema", message, entry.key.span, service=service)
        elif _kind_letter(entry.value) not in allowed:
            wanted = " or ".join(_WORDS[letter] for letter in sorted(allowed) if letter != "0")
            place = entry.value.span if entry.value.span.start < entry.value.span.end else entry.key.span
            problems.error("schema", f"{where}{field} must be {wanted}", place, service=service)


def _kind_letter(value: Value) -> str:
    match value:
        case Scalar():
            return _LETTERS[value.kind]
        case Sequence():
            return "l"
        case Mapping():
            return "m"


def _entries(value: Value | None) -> list[tuple[str, Value]]:
    return [(key, entry.value) for key, entry in value.entries.items()] if isinstance(value, Mapping) else []


def _check_service_fields(name: str, service: Mapping, problems: Problems) -> None:
    where = f"services.{name}."
    _check_fields(service, _SERVICE, where, problems, name)
    for network, attachment in _entries(service.get("networks")):
        if isinstance(attachment, Mapping):
            _check_fields(attachment, _ATTACHMENT, f"{where}networks.{network}.", problems, name)
    for other, dependency in _entries(service.get("depends_on")):
        if isinstance(dependency, Mapping):
            _check_fields(dependency, _DEPENDENCY, f"{where}depends_on.{other}.", problems, name)
    healthcheck = service.get("healthcheck")
    if isinstance(healthcheck, Mapping):
        _check_fields(healthcheck, _HEALTHCHECK, f"{where}healthcheck.", problems, name)
    ports = service.get("ports")
    for port in ports.items if isinstance(ports, Sequence) else ():
        if isinstance(port, Mapping):
            _check_fields(port, _PORT, f"{where}ports[].", problems, name)


_UNDEFINED_CODES = tuple(f"undefined-{what}" for what in ("config", "network", "secret", "service", "volume"))
_FROM_BASE = ("no-image", *_UNDEFINED_CODES)
_MOST_NAMES = 5


def unfinished_services(project: Project) -> frozenset[str]:
    """The services that have no image and nothing to build one from; `image: ${UNSET}` is an image all the same.

    One that extends a service which is not found is no fragment's: compose would not find it with a base either.
    """
    services = {**project.services, **project.disabled}
    named = {problem.service for problem in project.problems if problem.code == "no-image" and problem.service}
    extending = {problem.service for problem in project.problems if problem.code == "extends"}
    return frozenset(n for n in named - extending if n in services and services[n].image is None)


def is_fragment(project: Project) -> bool:
    """Whether a file is a part of a project: services without an image, or several things that it does not define.

    A service that is not there is enough, while a single network or volume may be a slip of the pen.
    """
    missing = _missing(project)
    names = {_name(problem) for problem in missing}
    of_services = any(problem.code == "undefined-service" for problem in missing)
    return bool(unfinished_services(project)) or of_services or len(names) > 1


def is_completed(fragment: Project, whole: Project) -> bool:
    """Whether a base supplies what a fragment lacks."""
    lacks = [problem for problem in whole.problems if problem.code in _FROM_BASE]
    own = [problem for problem in fragment.problems if problem.code in _FROM_BASE]
    return len(lacks) < len(own) and not unfinished_services(whole)


def own_findings(findings: Iterable[Finding], project: Project, path: str) -> Iterator[Finding]:
    """The findings about a fragment in what it makes with its base: the rest is the base's own."""
    services = {name for name, spans in project.service_spans.items() if any(span.path == path for span in spans)}
    for finding in findings:
        place = finding.location
        if finding.service in services or (isinstance(place, FileLocation) and place.path == path):
            yield finding


def fragment_findings(findings: Iterable[Finding], project: Project, name: str) -> Iterator[Finding]:
    """One finding for what the missing base supplies, and the others, which it cannot mend, as notes."""
    unfinished = unfinished_services(project)
    missing = _missing(project)
    supplied = {problem.span for problem in project.problems if problem.code in _FROM_BASE}
    for finding in findings:
        is_supplied = finding.rule.startswith("compose-") and finding.location in supplied
        if finding.service not in unfinished and not is_supplied:
            yield replace(finding, severity=Severity.NOTE) if unfinished else finding
    first = next((p for p in project.problems if p.code in _FROM_BASE), None)
    if first is not None:
        yield Finding(
            rule="compose-undefined-reference",
            severity=Severity.NOTE if unfinished else Severity.WARNING,
            message=f"{name} looks like an override, or a part, of another Compose file: {_lacks(unfinished, missing)}",
            location=first.span,
            hint=f"check both together: -f BASE -f {name}",
        )


def _missing(project: Project) -> list[Problem]:
    return [problem for problem in project.problems if problem.code in _UNDEFINED_CODES]


def _name(problem: Problem) -> str:
    """What is not defined: the last name in quotes."""
    return f"{problem.code.removeprefix('undefined-')} {problem.message.split(chr(39))[-2]}"


def _lacks(unfinished: Iterable[str], missing: Iterable[Problem]) -> str:
    lacks = []
    names = sorted(unfinished)
    if names:
        lacks.append(f"{_some(names)} {'have' if names[1:] else 'has'} no image")
    absent = list(dict.fromkeys(map(_name, missing)))
    if absent:
        lacks.append(f"it does not define {_some(absent)}")
    return ", and ".join(lacks)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if names[_MOST_NAMES:] else ""
    return ", ".join(names[:_MOST_NAMES]) + more
