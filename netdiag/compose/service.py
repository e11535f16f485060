"""One service of a compose project, read from its expanded mapping."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from netdiag.compose.environment import Lookup, Read, read_env_files, read_environment
from netdiag.compose.networks import read_service_networks
from netdiag.compose.ports import read_ports
from netdiag.compose.positions import Span, Text
from netdiag.compose.problems import Problems
from netdiag.compose.project import Build, Command, Dependency, ExtraHost, Link, Service, Volume
from netdiag.compose.reading import Reading
from netdiag.compose.values import Entry, Mapping, Scalar, Scope, Sequence, Value, is_null, scoped

_LETTER = re.compile("[A-Za-z]")
_DRIVE = re.compile("[A-Za-z]:")


def read_service(problems: Problems, name: str, entry: Entry, lookup: Lookup, read: Read) -> Service:
    """The service under a key of `services`; what is wrong with it is in `problems`."""
    value, span = entry.value, entry.key.span
    if not isinstance(value, Mapping):
        problems.error("schema", f"services.{name} must be a mapping", value.span, service=name)
        return Service(name=name, span=span)
    reading = Reading(problems, f"services.{name}", service=name)
    env_files = read_env_files(reading, value)
    environment, lacks_env_file = read_environment(reading, value, env_files, lookup, read)
    healthcheck = reading.mapping(value, "healthcheck")
    return Service(
        name=name,
        span=span,
        image=reading.text(value, "image"),
        build=value.get("build") is not None,
        build_from=_build(reading, value, lookup),
        container_name=reading.text(value, "container_name"),
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
        volumes=_volumes(reading, value),
        healthcheck=_command(reading, healthcheck, "test") if healthcheck is not None else None,
        healthcheck_disabled=healthcheck is not None and reading.boolean(healthcheck, "disable"),
        env_files=env_files,
        lacks_env_file=lacks_env_file,
        labels=_labels(reading, value),
        dns=reading.unique_texts(value, "dns"),
        dns_search=reading.unique_texts(value, "dns_search"),
    )


def _build(reading: Reading, service: Mapping, lookup: Lookup) -> Build | None:
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


def _build_in(context: str, dockerfile: str, span: Span) -> Build:
    return Build(context=context, dockerfile=posixpath.normpath(posixpath.join(context, dockerfile)), span=span)


def _labels(reading: Reading, service: Mapping) -> dict[str, Text]:
    return {
        key: Text(value="", span=place.span) if text is None else text
        for key, place, text, _, _ in reading.pairs(service, "labels")
    }


def _command(reading: Reading, service: Mapping, field: str) -> Command:
    if isinstance(service.get(field), Sequence):
        return reading.texts(service, field)
    return reading.text(service, field)


def _extra_hosts(reading: Reading, service: Mapping) -> tuple[ExtraHost, ...]:
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
        found += [ExtraHost(name=name, address=_bare(a), span=text.span) for a in addresses_text.split(",")]
    return tuple(found)


def _host_entries(mapping: Mapping) -> Iterator[ExtraHost]:
    for name, entry in mapping.entries.items():
        addresses = entry.value.items if isinstance(entry.value, Sequence) else (entry.value,)
        for address in addresses:
            if isinstance(address, Scalar):
                yield ExtraHost(name=name, address=_bare(address.value), span=entry.span)


def _bare(address: str) -> str:
    return address[1:-1] if len(address) > 2 and address[0] == "[" and address[-1] == "]" else address


def _links(reading: Reading, service: Mapping) -> tuple[Link, ...]:
    links = []
    for text in reading.unique_texts(service, "links"):
        name, _, alias = text.value.partition(":")
        links.append(Link(service=name, alias=alias or name, span=text.span))
    return tuple(links)


def _depends_on(reading: Reading, service: Mapping) -> tuple[Dependency, ...]:
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


def _scale(reading: Reading, service: Mapping) -> int:
    deploy = reading.mapping(service, "deploy")
    replicas = reading.integer(deploy, "replicas") if deploy is not None else None
    scale = reading.integer(service, "scale")
    if scale is not None and replicas is not None and scale != replicas:
        value = service.entries["scale"].key.span
        message = f"{reading.where}: scale and deploy.replicas differ"
        reading.problems.error("scale", message, value, service=reading.service)
    chosen = scale if scale is not None else replicas
    return 1 if chosen is None else chosen


def _volumes(reading: Reading, service: Mapping) -> tuple[Volume, ...]:
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


def _short_volume(reading: Reading, text: Text, scope: Scope | None) -> Volume | None:
    """`[source:]target[:options]`; a drive letter is part of its path."""
    cuts: list[int] = []
    start = 0
    for index, char in enumerate(text.value):
        if char == ":" and not _LETTER.fullmatch(text.value, start, index):
            cuts.append(index)
            start = index + 1
    if not text.value or len(cuts) > 2 or "" in (part.value for part in _parts(text, cuts)):
        message = f"invalid volume {text.value!r}"
        reading.problems.error("volume", message, text.span, service=reading.service)
        return None
    parts = _parts(text, cuts)
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


def _parts(text: Text, cuts: list[int]) -> list[Text]:
    starts = [0, *(cut + 1 for cut in cuts)]
    ends = [*cuts, len(text.value)]
    return [text.slice(start, end) for start, end in zip(starts, ends, strict=True)]


def _long_volume(reading: Reading, entry: Mapping) -> Volume | None:
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


def _host_path(path: str, scope: Scope | None) -> str:
    return path if scope is None or path.startswith("~") or _DRIVE.match(path) else scope.path(path)
