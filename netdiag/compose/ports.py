"""The `ports` of a service: both syntaxes, ranges expanded, every number with its place.

`[[ip:][published]:]target[/protocol]`, numbers may be ranges `a-b` (compose-spec "ports"). A range of host
ports for one target means: any one of them, known when the container runs.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from netdiag.compose.positions import Segment, Span, Text
from netdiag.compose.project import Port
from netdiag.compose.reading import Reading
from netdiag.compose.values import Mapping, Scalar, Value

PROTOCOLS = ("tcp", "udp", "sctp")
EFFORT = 50
_RANGE = re.compile(r"(\d+)(?:-(\d+)(?:-.*)?)?")
_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}")


class PortError(ValueError):
    """A port entry that compose refuses; start and end are the characters of the entry that it is about."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


def read_ports(reading: Reading, service: Mapping) -> tuple[Port, ...]:
    """The published ports of a service, in order; an entry that compose refuses is a problem and left out."""
    entries = reading.sequence(service, "ports")
    if entries is None:
        return ()
    found: list[Port] = []
    for item in entries.items:
        ports = tuple(_read(reading, item))
        reading.problems.spend(EFFORT * len(ports), item.span)
        found += ports
    unique: dict[tuple[object, ...], Port] = {}
    for port in found:
        key = (port.host_ip or "0.0.0.0", port.published, port.published_range, port.target, port.protocol)
        unique[key] = port
    return tuple(unique.values())


def _read(reading: Reading, item: Value) -> Iterator[Port]:
    match item:
        case Scalar(kind="str") | Scalar(kind="int"):
            try:
                yield from parse_port(item.text)
            except PortError as error:
                place = item.text.span_of(error.start, error.end)
                reading.problems.error("port", str(error), place, service=reading.service)
        case Mapping():
            yield from _long(reading, item)
        case _:
            reading.wrong(item, "ports[]", "a port like 8080:80 or a mapping")


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
    first, last = _range(value, target, "container")
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
    low, high = _range(value, published, "host")
    if last - first != high - low:
        if first != last:
            raise PortError("the ranges of host and container ports differ in length", 0, len(value))
        return (replace(base, published_range=(low, high)),)
    return tuple(replace(base, target=first + i, published=low + i or None) for i in range(last - first + 1))


def _range(value: str, where: tuple[int, int], which: str) -> tuple[int, int]:
    written = value[slice(*where)]
    match = _RANGE.fullmatch(written) if written.isascii() else None
    if match is None:
        raise PortError(f"invalid {which} port {written!r}", *where)
    first, last = int(match[1]), int(match[2] or match[1])
    if last > 65535 or first > 65535 or last < first:
        raise PortError(f"invalid {which} port {written!r}", *where)
    return first, last


def _host_ip(value: str, where: tuple[int, int]) -> str:
    written = value[slice(*where)]
    address = written[1:-1] if written.startswith("[") and written.endswith("]") else written
    if address and not is_ip(address):
        raise PortError(f"invalid host address {written!r}", *where)
    return address


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


def _long(reading: Reading, entry: Mapping) -> Iterator[Port]:
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
            published = _range(published_text.value, (0, len(published_text.value)), "host")
        except PortError as error:
            reading.problems.error("port", str(error), published_text.span, service=reading.service)
            return
    name, mode = reading.text(entry, "name"), reading.text(entry, "mode")
    port = Port(
        target=target,
        published=published[0] if published and published[0] == published[1] and published[0] else None,
        host_ip=host.value.strip("[]") if host else "",
        protocol=protocol.value.lower() if protocol and protocol.value else "tcp",
        text=_made(entry.span, target, published_text, host, protocol),
        target_span=_place(entry, "target"),
        published_span=_place(entry, "published"),
        host_ip_span=_place(entry, "host_ip"),
        published_range=published if published and published[0] != published[1] else None,
        name=name.value if name else None,
        mode=mode.value if mode else "ingress",
    )
    yield port


def _made(span: Span, target: int, published: Text | None, host: Text | None, protocol: Text | None) -> Text:
    """The short form of a long entry, located as a whole."""
    value = f"{published.value}:{target}" if published and published.value else str(target)
    if host and host.value:
        address = f"[{host.value}]" if ":" in host.value else host.value
        value = f"{address}:{value}" if published and published.value else f"{address}::{value}"
    if protocol and protocol.value:
        value += f"/{protocol.value}"
    whole = Segment(value_start=0, value_end=len(value), start=span.start, end=span.end, verbatim=False)
    return Text(value=value, span=span, segments=(whole,))


def _place(entry: Mapping, field: str) -> Span | None:
    value = entry.get(field)
    return value.text.span_of(0, len(value.value)) if isinstance(value, Scalar) and value.value else None
