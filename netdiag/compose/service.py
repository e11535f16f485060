"""The services and networks of a compose project, read from its expanded mapping.

The environment of a service is its `env_file` entries in order, then `environment`, which wins. An entry of `ports` is
`[[ip:][published]:]target[/protocol]`, numbers may be ranges `a-b` (compose-spec "ports"); a range of host ports for
one target means: any one of them, known when the container runs.
"""

import posixpath
import re
from collections.abc import Iterator
from collections.abc import Mapping as MappingABC
from dataclasses import replace

from netdiag.compose.dotenv import load_entries
from netdiag.compose.interpolate import Lookup
from netdiag.compose.positions import Segment, Source, Text, joined, substituted
from netdiag.compose.problems import ComposeError, Origin, Problems
from netdiag.compose.project import (
    Build,
    Command,
    Dependency,
    Deploy,
    EnvFile,
    EnvironmentVariable,
    ExtraHost,
    Link,
    Network,
    Port,
    Service,
    ServiceConfig,
    ServiceNetwork,
    Volume,
)
from netdiag.compose.values import (
    Entry,
    FieldReader,
    Mapping,
    ReadFile,
    Scalar,
    Scope,
    Sequence,
    Value,
    is_null,
    scoped,
)
from netdiag.findings import FileLocation
from netdiag.patterns import regex

EFFORT_PER_FILE_BYTE = 4
DEFAULT_NETWORK = "default"
PROTOCOLS = ("tcp", "udp", "sctp")
EFFORT_PER_PORT = 50
_RANGE = regex(r"(\d{1,99})(?:-(\d{1,99})(?:-.*)?)?")
_IPV4 = regex(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}")
_LETTER = regex("[A-Za-z]")
_DRIVE = regex("[A-Za-z]:")


class PortError(ValueError):
    """A port entry that compose refuses; start and end are the characters of the entry that it is about."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


def _unless_empty(text: Text | None) -> Text | None:
    return text if text is not None and text.value else None


def read_service(problems: Problems, name: str, entry: Entry, lookup: Lookup, read: ReadFile) -> Service:
    """The service under a key of `services`; what is wrong with it is in `problems`."""
    value, span = entry.value, entry.key.span
    if not isinstance(value, Mapping):
        problems.error("schema", f"services.{name} must be a mapping", value.span, service=name)
        return Service(name=name, span=span)
    reading = FieldReader(problems, f"services.{name}", service=name)
    env_files = read_env_files(reading, value)
    environment, lacks_env_file = read_environment(reading, value, env_files, lookup, read)
    healthcheck = reading.mapping(value, "healthcheck")
    return Service(
        name=name,
        span=span,
        image=reading.text(value, "image"),
        build=value.get("build") is not None,
        build_from=_build(reading, value, lookup),
        # Compose takes an empty one, which an unset variable leaves, for none.
        container_name=_unless_empty(reading.text(value, "container_name")),
        hostname=reading.text(value, "hostname"),
        domainname=reading.text(value, "domainname"),
        network_mode=reading.text(value, "network_mode"),
        networks=read_service_networks(reading, value, span),
        ports=read_ports(reading, value),
        expose=reading.unique_texts(value, "expose"),
        environment=environment,
        command=_command(reading, value, "command"),
        entrypoint=_command(reading, value, "entrypoint"),
        extra_hosts=_extra_hosts(reading, value),
        links=_links(reading, value),
        external_links=reading.texts(value, "external_links"),
        profiles=tuple(dict.fromkeys(text.value for text in reading.texts(value, "profiles"))),
        depends_on=_depends_on(reading, value),
        scale=_scale(reading, value),
        deploy=_deploy(reading, value),
        volumes=_volumes(reading, value),
        healthcheck=_command(reading, healthcheck, "test") if healthcheck is not None else None,
        healthcheck_disabled=healthcheck is not None and reading.boolean(healthcheck, "disable"),
        env_files=env_files,
        lacks_env_file=lacks_env_file,
        labels=_labels(reading, value),
        dns=reading.unique_texts(value, "dns"),
        dns_search=reading.unique_texts(value, "dns_search"),
        user=reading.text(value, "user"),
        keys=frozenset(value.entries),
    )


def read_networks(problems: Problems, top: Mapping, project: str | None) -> dict[str, Network]:
    """The top-level networks by key."""
    declared = FieldReader(problems, "networks").mapping(top, "networks")
    if declared is None:
        return {}
    return {key: _network(problems, key, entry, project) for key, entry in declared.entries.items()}


def read_volumes(problems: Problems, top: Mapping, project: str | None) -> dict[str, str | None]:
    """What the engine calls each top-level volume."""
    declared = FieldReader(problems, "volumes").mapping(top, "volumes")
    if declared is None:
        return {}
    return {key: _volume_name(problems, key, entry, project) for key, entry in declared.entries.items()}


def read_env_files(reading: FieldReader, service: Mapping) -> tuple[EnvFile, ...]:
    """The env_file entries of a service, as written."""
    value = service.get("env_file")
    items: tuple[Value, ...] = value.items if isinstance(value, Sequence) else () if value is None else (value,)
    found: dict[str, EnvFile] = {}
    for item in items:
        match item:
            case Scalar():
                if item.kind != "null":
                    found[item.value] = EnvFile(path=item.text, file=scoped(item))
            case Mapping():
                path, form = reading.text(item, "path"), reading.text(item, "format")
                if path is None:
                    reading.wrong(item, "env_file[]", "a path or a mapping with one")
                else:
                    spelled = form.value if form is not None else ""
                    named = item.get("path")
                    file = scoped(named) if isinstance(named, Scalar) else path.value
                    required = reading.boolean(item, "required", default=True)
                    found[path.value] = EnvFile(path=path, file=file, required=required, format=spelled)
            case _:
                reading.wrong(item, "env_file[]", "a path or a mapping with one")
    return tuple(found.values())


def read_environment(
    reading: FieldReader, service: Mapping, files: tuple[EnvFile, ...], lookup: Lookup, read: ReadFile
) -> tuple[dict[str, EnvironmentVariable], bool]:
    """The variables a container of the service would be given, by name; and whether a file of them is missing."""
    own = _declared_variables(reading, service, lookup)
    variables: dict[str, EnvironmentVariable] = {}
    is_lacking = False
    for file in files:
        found = _variables_of_file(reading, file, own, variables, lookup, read)
        is_lacking = is_lacking or found is None
        for name, variable in (found or {}).items():
            variables[name] = _replacing(variables.get(name), variable)
    for name, variable in own.items():
        variables[name] = _replacing(variables.get(name), variable)
    return variables, is_lacking


def read_service_networks(reading: FieldReader, service: Mapping, key_span: FileLocation) -> tuple[ServiceNetwork, ...]:
    """What a service is attached to: `default` when it says nothing, nothing when it has a network_mode."""
    value = service.get("networks")
    attached: dict[str, ServiceNetwork] = {}
    match value:
        case Sequence():
            for text in reading.texts(service, "networks"):
                attached[text.value] = ServiceNetwork(network=text.value, span=text.span)
        case Mapping():
            for key, entry in value.entries.items():
                attached[key] = _attachment(reading, key, entry)
        case None:
            pass
        case Scalar():
            if value.kind != "null":
                reading.wrong(value, "networks", "a list or a mapping")
    if not attached and service.get("network_mode") is None:
        attached[DEFAULT_NETWORK] = ServiceNetwork(network=DEFAULT_NETWORK, span=key_span)
    return tuple(attached.values())


def read_ports(reading: FieldReader, service: Mapping) -> tuple[Port, ...]:
    """The published ports of a service, in order; an entry that compose refuses is a problem and left out."""
    entries = reading.sequence(service, "ports")
    if entries is None:
        return ()
    found: list[Port] = []
    for item in entries.items:
        ports = tuple(_ports_of_entry(reading, item))
        reading.problems.spend(EFFORT_PER_PORT * len(ports), item.span)
        found += ports
    unique: dict[tuple[object, ...], Port] = {}
    for port in found:
        key = (port.host_ip or "0.0.0.0", port.published, port.published_range, port.target, port.protocol)
        unique[key] = port
    return tuple(unique.values())


def parse_port(text: Text) -> tuple[Port, ...]:
    """The ports of one entry in the short syntax; PortError says which of its characters are wrong."""
    value = text.value
    colons = [match.start() for match in re.finditer(":", value)]
    target_at = colons[-1] + 1 if colons else 0
    published = (colons[-2] + 1 if len(colons) > 1 else 0, colons[-1]) if colons else None
    host = (0, colons[-2]) if len(colons) > 1 else None
    slash = value.find("/", target_at)
    target = (target_at, len(value) if slash < 0 else slash)
    protocol = value[slash + 1 :].lower() if slash >= 0 else "tcp"
    if slash >= 0 and protocol == "":
        protocol = "tcp"
    if protocol not in PROTOCOLS:
        raise PortError(f"invalid protocol {protocol!r}, it must be tcp, udp or sctp", slash + 1, len(value))
    host_ip = _host_ip(value, host) if host else ""
    if target[0] == target[1]:
        raise PortError(f"{value!r} has no container port", 0, len(value))
    first, last = _port_range(value, target, "container")
    if first == 0:
        raise PortError("a container port cannot be 0", *target)
    base = Port(
        target=first,
        published=None,
        host_ip=host_ip,
        protocol=protocol,
        text=text,
        target_span=text.span_of(*target),
        host_ip_span=text.span_of(*host) if host and host_ip else None,
    )
    if published is None or published[0] == published[1]:
        return tuple(replace(base, target=port) for port in range(first, last + 1))
    base = replace(base, published_span=text.span_of(*published))
    low, high = _port_range(value, published, "host")
    if last - first != high - low:
        if first != last:
            raise PortError("the ranges of host and container ports differ in length", 0, len(value))
        return (replace(base, published_range=(low, high)),)
    return tuple(replace(base, target=first + i, published=low + i or None) for i in range(last - first + 1))


def is_ip(address: str) -> bool:
    """Whether this is an IPv4 or IPv6 address in text form."""
    if ":" not in address:
        return _IPV4.fullmatch(address) is not None
    head, _, tail = address.rpartition(":")
    if "." in tail:
        if _IPV4.fullmatch(tail) is None:
            return False
        address = f"{head}:0:0"
    halves = address.split("::")
    groups = [group for half in halves if half for group in half.split(":")]
    if len(halves) > 2 or not all(re.fullmatch("[0-9a-fA-F]{1,4}", group) for group in groups):
        return False
    return len(groups) == 8 if len(halves) == 1 else len(groups) < 8


def _build(reading: FieldReader, service: Mapping, lookup: Lookup) -> Build | None:
    """The folder and the Dockerfile that a service is built from; schema and paths are checked elsewhere."""
    value = service.get("build")
    if isinstance(value, Scalar):
        return None if value.kind == "null" else _build_in(scoped(value), "Dockerfile", value.span)
    if not isinstance(value, Mapping):
        return None
    folder, file, target = (value.get(name) for name in ("context", "dockerfile", "target"))
    built = _build_in(
        scoped(folder) if isinstance(folder, Scalar) else ".",
        file.value if isinstance(file, Scalar) and file.value else "Dockerfile",
        value.span,
    )
    args = {
        name: (str(lookup(name)) if lookup(name) is not None else None) if text is None else text.value
        for name, _, text, _, _ in reading.pairs(value, "args")
    }
    return replace(
        built,
        args=args,
        target=target.value if isinstance(target, Scalar) else None,
        inline=value.get("dockerfile_inline") is not None,
    )


def _build_in(context: str, dockerfile: str, span: FileLocation) -> Build:
    return Build(context=context, dockerfile=posixpath.normpath(posixpath.join(context, dockerfile)), span=span)


def _command(reading: FieldReader, service: Mapping, field: str) -> Command:
    if isinstance(service.get(field), Sequence):
        return reading.texts(service, field)
    return reading.text(service, field)


def _extra_hosts(reading: FieldReader, service: Mapping) -> tuple[ExtraHost, ...]:
    value = service.get("extra_hosts")
    items: tuple[Value, ...] = value.items if isinstance(value, Sequence) else () if value is None else (value,)
    found: list[ExtraHost] = []
    for item in items:
        if isinstance(item, Mapping):
            found += _host_entries(item)
            continue
        if not isinstance(item, Scalar):
            reading.wrong(item, "extra_hosts[]", "name=address")
            continue
        if is_null(item):
            continue
        text = item.text
        separator = "=" if "=" in text.value else ":"
        name, cut, addresses_text = text.value.partition(separator)
        if not cut or not name:
            message = f"invalid extra host {text.value!r}, it must be name:address"
            reading.problems.error("extra-host", message, text.span, service=reading.service)
            continue
        found += [ExtraHost(name=name, address=_without_brackets(a), span=text.span) for a in addresses_text.split(",")]
    return tuple(found)


def _host_entries(mapping: Mapping) -> Iterator[ExtraHost]:
    for name, entry in mapping.entries.items():
        addresses = entry.value.items if isinstance(entry.value, Sequence) else (entry.value,)
        for address in addresses:
            if isinstance(address, Scalar):
                yield ExtraHost(name=name, address=_without_brackets(address.value), span=entry.span)


def _without_brackets(address: str) -> str:
    return address[1:-1] if len(address) > 2 and address[0] == "[" and address[-1] == "]" else address


def _links(reading: FieldReader, service: Mapping) -> tuple[Link, ...]:
    links = []
    for text in reading.unique_texts(service, "links"):
        name, _, alias = text.value.partition(":")
        links.append(Link(service=name, alias=alias or name, span=text.span))
    return tuple(links)


def _depends_on(reading: FieldReader, service: Mapping) -> tuple[Dependency, ...]:
    value = service.get("depends_on")
    if not isinstance(value, Mapping):
        return tuple(
            Dependency(service=text.value, condition="service_started", required=True, span=text.span)
            for text in reading.texts(service, "depends_on")
        )
    found = []
    for name, entry in value.entries.items():
        details = entry.value if isinstance(entry.value, Mapping) else None
        if details is None:
            reading.wrong(entry.value, f"depends_on.{name}", "a mapping")
        condition = reading.text(details, "condition") if details is not None else None
        found.append(
            Dependency(
                service=name,
                condition=condition.value if condition else "service_started",
                required=details is None or reading.boolean(details, "required", default=True),
                span=entry.key.span,
            )
        )
    return tuple(found)


def _scale(reading: FieldReader, service: Mapping) -> int:
    deploy = reading.mapping(service, "deploy")
    replicas = reading.integer(deploy, "replicas") if deploy is not None else None
    scale = reading.integer(service, "scale")
    if scale is not None and replicas is not None and scale != replicas:
        value = service.entries["scale"].key.span
        message = f"{reading.where}: scale and deploy.replicas differ"
        reading.problems.error("scale", message, value, service=reading.service)
    chosen = scale if scale is not None else replicas
    return 1 if chosen is None else chosen


def _deploy(reading: FieldReader, service: Mapping) -> Deploy | None:
    """What only a swarm looks at; None without `deploy`."""
    deploy = service.get("deploy")
    if not isinstance(deploy, Mapping):
        return None
    mode = reading.text(deploy, "mode")
    placement = deploy.get("placement")
    return Deploy(
        endpoint_mode=reading.text(deploy, "endpoint_mode"),
        on_every_node=mode is not None and mode.value == "global" and (placement is None or is_null(placement)),
    )


def _volumes(reading: FieldReader, service: Mapping) -> tuple[Volume, ...]:
    entries = reading.sequence(service, "volumes")
    found: dict[str, Volume] = {}
    for item in entries.items if entries is not None else ():
        match item:
            case Scalar(kind="null"):
                continue
            case Scalar():
                volume = _short_volume(reading, item.text, item.scope)
            case Mapping():
                volume = _long_volume(reading, item)
            case _:
                reading.wrong(item, "volumes[]", "a string or a mapping")
                continue
        if volume is not None:
            found[posixpath.normpath(volume.target)] = volume
    return tuple(found.values())


def mounted_configs(top: Mapping, service: str) -> tuple[ServiceConfig, ...]:
    """The configs of a service, at the paths where its container has them."""
    found: list[ServiceConfig] = []
    for source, target, declared in _used(top, service, "configs"):
        content, file = declared.get("content"), declared.get("file")
        found.append(
            ServiceConfig(
                target=posixpath.normpath(target or f"/{source.value}"),
                span=source.span,
                content=content.text if isinstance(content, Scalar) and content.kind != "null" else None,
                file=_host_path(file.value, file.scope) if isinstance(file, Scalar) and file.kind != "null" else None,
            )
        )
    return tuple(found)


def mounted_secrets(top: Mapping, service: str) -> tuple[Volume, ...]:
    """The secrets of a service that are files, as compose mounts them: in /run/secrets, under their names."""
    found: list[Volume] = []
    for source, target, declared in _used(top, service, "secrets"):
        file = declared.get("file")
        if isinstance(file, Scalar) and file.kind != "null":
            found.append(
                Volume(
                    source=None,
                    target=posixpath.join("/run/secrets", target or source.value),
                    read_only=True,
                    span=source.span,
                    type="bind",
                    host_path=_host_path(file.value, file.scope),
                )
            )
    return tuple(found)


def _used(top: Mapping, service: str, kind: str) -> Iterator[tuple[Scalar, str | None, Mapping]]:
    """The configs or secrets that a service uses: name, target, and what the project declares under the name."""
    declared, services = top.get(kind), top.get("services")
    entry = services.get(service) if isinstance(services, Mapping) else None
    used = entry.get(kind) if isinstance(entry, Mapping) else None
    if not isinstance(declared, Mapping) or not isinstance(used, Sequence):
        return
    for item in used.items:
        source, target = (item.get("source"), item.get("target")) if isinstance(item, Mapping) else (item, None)
        found = declared.get(source.value) if isinstance(source, Scalar) else None
        if isinstance(source, Scalar) and isinstance(found, Mapping):
            yield source, target.value if isinstance(target, Scalar) else None, found


def _short_volume(reading: FieldReader, text: Text, scope: Scope | None) -> Volume | None:
    """`[source:]target[:options]`; a drive letter is part of its path."""
    cuts: list[int] = []
    start = 0
    for index, char in enumerate(text.value):
        if char == ":" and not _LETTER.fullmatch(text.value, start, index):
            cuts.append(index)
            start = index + 1
    if not text.value or len(cuts) > 2 or "" in (part.value for part in _cut_at(text, cuts)):
        message = f"invalid volume {text.value!r}"
        reading.problems.error("volume", message, text.span, service=reading.service)
        return None
    parts = _cut_at(text, cuts)
    if len(parts) == 1:
        return Volume(source=None, target=parts[0].value, read_only=False, span=text.span)
    options = parts[2].value.split(",") if len(parts) > 2 else []
    source = parts[0]
    is_path = source.value[0] in "./~" or source.value.startswith("\\\\") or bool(_DRIVE.match(source.value))
    return Volume(
        source=source,
        target=parts[1].value,
        read_only="ro" in options,
        span=text.span,
        type="bind" if is_path else "volume",
        host_path=_host_path(source.value, scope) if is_path else None,
    )


def _cut_at(text: Text, cuts: list[int]) -> list[Text]:
    starts = [0, *(cut + 1 for cut in cuts)]
    ends = [*cuts, len(text.value)]
    return [text.slice(start, end) for start, end in zip(starts, ends, strict=True)]


def _host_path(path: str, scope: Scope | None) -> str:
    return path if scope is None or path.startswith("~") or _DRIVE.match(path) else scope.path(path)


def _long_volume(reading: FieldReader, entry: Mapping) -> Volume | None:
    source, target, kind = (reading.text(entry, field) for field in ("source", "target", "type"))
    if target is None:
        reading.wrong(entry, "volumes[]", "a mapping with a target")
        return None
    volume = Volume(
        source=source,
        target=target.value,
        read_only=reading.boolean(entry, "read_only"),
        span=entry.span,
    )
    if kind is not None:
        volume = replace(volume, type=kind.value)
    details = reading.mapping(entry, "volume")
    subpath = reading.text(details, "subpath") if details is not None else None
    if subpath is not None:
        volume = replace(volume, subpath=subpath.value)
    written = entry.get("source")
    if volume.type != "bind" or source is None or not isinstance(written, Scalar):
        return volume
    return replace(volume, host_path=_host_path(source.value, written.scope))


def _labels(reading: FieldReader, service: Mapping) -> dict[str, Text]:
    return {
        key: Text(value="", span=place.span) if text is None else text
        for key, place, text, _, _ in reading.pairs(service, "labels")
    }


def _network(problems: Problems, key: str, entry: Entry, project: str | None) -> Network:
    reading = FieldReader(problems, f"networks.{key}")
    value = entry.value
    if not isinstance(value, Mapping):
        if not (isinstance(value, Scalar) and value.kind == "null"):
            problems.error("schema", f"networks.{key} must be a mapping", value.span)
        return Network(key=key, name=_engine_name(project, key), span=entry.key.span)
    name, external = _external(reading, value)
    subnets, gateway = _ipam(reading, value)
    if name is None:
        name = key if external else _engine_name(project, key)
    return Network(
        key=key,
        name=name,
        span=entry.key.span,
        driver=reading.text(value, "driver"),
        internal=reading.boolean(value, "internal"),
        external=external,
        subnets=subnets,
        gateway=gateway,
        ipv6=reading.boolean(value, "enable_ipv6"),
        driver_opts={option: text for option, _, text, _, _ in reading.pairs(value, "driver_opts") if text is not None},
    )


def _volume_name(problems: Problems, key: str, entry: Entry, project: str | None) -> str | None:
    name, is_external = None, False
    if isinstance(entry.value, Mapping):
        name, is_external = _external(FieldReader(problems, f"volumes.{key}"), entry.value)
    return name or (key if is_external else _engine_name(project, key))


def _engine_name(project: str | None, key: str) -> str | None:
    return None if project is None else f"{project}_{key}"


def _external(reading: FieldReader, declared: Mapping) -> tuple[str | None, bool]:
    """The name a network or volume is given, and whether it exists outside the project."""
    name = reading.text(declared, "name")
    value = declared.get("external")
    if isinstance(value, Mapping):
        outside = reading.text(value, "name")
        if outside is not None:
            message = f"{reading.where}: external.name is deprecated"
            reading.problems.warning("deprecated", message, outside.span)
            if name is not None and name.value != outside.value:
                message = f"{reading.where}: name and external.name conflict"
                reading.problems.error("external-name", message, outside.span, name.span)
        name = name or outside
        return None if name is None else name.value, True
    return None if name is None else name.value, reading.boolean(declared, "external")


def _ipam(reading: FieldReader, network: Mapping) -> tuple[tuple[Text, ...], Text | None]:
    ipam = reading.mapping(network, "ipam")
    pools = reading.sequence(ipam, "config") if ipam is not None else None
    subnets: list[Text] = []
    gateway: Text | None = None
    for pool in pools.items if pools is not None else ():
        if not isinstance(pool, Mapping):
            reading.wrong(pool, "ipam.config[]", "a mapping")
            continue
        subnet = reading.text(pool, "subnet")
        if subnet is not None:
            subnets.append(subnet)
        gateway = gateway or reading.text(pool, "gateway")
    return tuple(subnets), gateway


def _declared_variables(reading: FieldReader, service: Mapping, lookup: Lookup) -> dict[str, EnvironmentVariable]:
    variables: dict[str, EnvironmentVariable] = {}
    for name, key, value, whole, entry in reading.pairs(service, "environment"):
        if name != name.rstrip():
            message = f"environment variable {name!r} is declared with a trailing space"
            reading.problems.error("environment", message, key.span, service=reading.service)
        if not name.strip():
            continue
        if value is None:
            scope = whole.scope if isinstance(whole, Scalar) and entry is None else None
            value = _passed_through(name, key.span, lookup if scope is None else scope.lookup)
        variable = EnvironmentVariable(
            name=name,
            value=value,
            key_span=key.span if entry else key.span_of(0, len(key.value)),
            entry_span=entry.span if entry else whole.span,
            form="map" if entry else "list",
            via=entry.via if entry else None,
        )
        variables[name] = _replacing(variables.get(name), variable)
    return variables


def _passed_through(name: str, span: FileLocation, lookup: Lookup) -> Text | None:
    """The value that compose's own environment gives to a bare key."""
    value = lookup(name)
    return None if value is None else substituted(span, value, name)


def _replacing(earlier: EnvironmentVariable | None, later: EnvironmentVariable) -> EnvironmentVariable:
    """The later of two declarations of one variable, remembering the place of the earlier."""
    if earlier is None:
        return later
    return replace(later, shadowed=(*earlier.shadowed, earlier.entry_span, *later.shadowed))


def _variables_of_file(
    reading: FieldReader,
    file: EnvFile,
    own: MappingABC[str, EnvironmentVariable],
    earlier: MappingABC[str, EnvironmentVariable],
    lookup: Lookup,
    read: ReadFile,
) -> dict[str, EnvironmentVariable] | None:
    """What a file gives; None where what it gives cannot be told. Without one that is optional, compose goes on."""
    data = read(file.file)
    if data is None and not file.required:
        return {}
    if data is None:
        message = f"env file {file.path.value!r} does not exist"
        reading.problems.error("env-file", message, file.path.span, service=reading.service)
        return None

    reading.problems.spend(EFFORT_PER_FILE_BYTE * len(data), file.path.span)
    source = Source(file.file, data)
    reading.problems.origins[Origin(area=source.span(0, 0), by=file.path.span, kind="env_file")] = None

    def value_of(name: str) -> Text | str | None:
        outer = lookup(name)
        if outer is not None:
            return outer
        for scope in (own, earlier):
            if name in scope and scope[name].value is not None:
                return scope[name].value
        return None

    if file.format not in ("", "raw"):
        message = f"unknown env_file format {file.format!r}"
        reading.problems.error("env-file", message, file.path.span, service=reading.service)
    try:
        entries = load_entries(source, value_of, raw=file.format == "raw")
    except ComposeError as error:
        place = error.span or file.path.span
        reading.problems.error("env-file", error.message, place, file.path.span, service=reading.service)
        return None
    return {
        name: EnvironmentVariable(
            name=name,
            value=entry.value,
            key_span=entry.key.span,
            entry_span=joined(entry.key.span, entry.value.span),
            form="env_file",
            via=file.path.span,
        )
        for name, entry in entries.items()
    }


def _attachment(reading: FieldReader, key: str, entry: Entry) -> ServiceNetwork:
    value = entry.value
    if not isinstance(value, Mapping):
        if not (isinstance(value, Scalar) and value.kind == "null"):
            reading.wrong(value, f"networks.{key}", "a mapping")
        return ServiceNetwork(network=key, span=entry.key.span)
    return ServiceNetwork(
        network=key,
        span=entry.key.span,
        aliases=reading.unique_texts(value, "aliases"),
        ipv4_address=reading.text(value, "ipv4_address"),
        ipv6_address=reading.text(value, "ipv6_address"),
        priority=reading.integer(value, "priority") or 0,
    )


def _ports_of_entry(reading: FieldReader, item: Value) -> Iterator[Port]:
    match item:
        case Scalar(kind="str") | Scalar(kind="int"):
            try:
                yield from parse_port(item.text)
            except PortError as error:
                place = item.text.span_of(error.start, error.end)
                reading.problems.error("port", str(error), place, service=reading.service)
        case Mapping():
            yield from _long_syntax(reading, item)
        case _:
            reading.wrong(item, "ports[]", "a port like 8080:80 or a mapping")


def _long_syntax(reading: FieldReader, entry: Mapping) -> Iterator[Port]:
    target = reading.integer(entry, "target")
    if target is None or not 0 < target <= 65535:
        reading.problems.error("port", "a port needs a target from 1 to 65535", entry.span, service=reading.service)
        return
    published_text = reading.text(entry, "published")
    host = reading.text(entry, "host_ip")
    protocol = reading.text(entry, "protocol")
    if host is not None and host.value and not is_ip(host.value.strip("[]")):
        reading.problems.error("port", f"invalid host address {host.value!r}", host.span, service=reading.service)
        return
    published: tuple[int, int] | None = None
    if published_text is not None and published_text.value:
        try:
            published = _port_range(published_text.value, (0, len(published_text.value)), "host")
        except PortError as error:
            reading.problems.error("port", str(error), published_text.span, service=reading.service)
            return
    name, mode = reading.text(entry, "name"), reading.text(entry, "mode")
    port = Port(
        target=target,
        published=published[0] if published and published[0] == published[1] and published[0] else None,
        host_ip=host.value.strip("[]") if host else "",
        protocol=protocol.value.lower() if protocol and protocol.value else "tcp",
        text=_as_short_syntax(entry.span, target, published_text, host, protocol),
        target_span=_place_of(entry, "target"),
        published_span=_place_of(entry, "published"),
        host_ip_span=_place_of(entry, "host_ip"),
        published_range=published if published and published[0] != published[1] else None,
        name=name.value if name else None,
        mode=mode.value if mode else "ingress",
    )
    yield port


def _port_range(value: str, where: tuple[int, int], which: str) -> tuple[int, int]:
    written = value[slice(*where)]
    match = _RANGE.fullmatch(written) if written.isascii() else None
    if match is None:
        raise PortError(f"invalid {which} port {written!r}", *where)
    first, last = int(match[1]), int(match[2] or match[1])
    if last > 65535 or first > 65535 or last < first:
        raise PortError(f"invalid {which} port {written!r}", *where)
    return first, last


def _as_short_syntax(
    span: FileLocation, target: int, published: Text | None, host: Text | None, protocol: Text | None
) -> Text:
    """The short form of a long entry, located as a whole."""
    value = f"{published.value}:{target}" if published and published.value else str(target)
    if host and host.value:
        address = f"[{host.value}]" if ":" in host.value else host.value
        value = f"{address}:{value}" if published and published.value else f"{address}::{value}"
    if protocol and protocol.value:
        value += f"/{protocol.value}"
    whole = Segment(value_start=0, value_end=len(value), start=span.start, end=span.end, verbatim=False)
    return Text(value=value, span=span, segments=(whole,))


def _place_of(entry: Mapping, field: str) -> FileLocation | None:
    value = entry.get(field)
    return value.text.span_of(0, len(value.value)) if isinstance(value, Scalar) and value.value else None


def _host_ip(value: str, where: tuple[int, int]) -> str:
    written = value[slice(*where)]
    address = written[1:-1] if written.startswith("[") and written.endswith("]") else written
    if address and not is_ip(address):
        raise PortError(f"invalid host address {written!r}", *where)
    return address
