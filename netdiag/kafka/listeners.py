"""Kafka's grammar of addresses: `listeners`, `advertised.listeners`, the protocol map and `controller.quorum.voters`.

Follows `SocketServerConfigs` and `ListenerName` of Apache Kafka 3.9 and 4.x: entries are separated by commas
with optional blanks, each must match one regular expression as a whole, names are upper-cased, an empty host
means "all addresses". Voters, `{id}@{host}:{port}`, follow `QuorumConfig.parseVoterConnections` of Kafka 3.9
(`RaftConfig` before 3.8) and `Utils.getHost`. Every entry keeps its offsets in the value so that a finding can point at
it.
"""

import re

from netdiag.digits import number_of
from netdiag.patterns import regex
from netdiag.values import dataclass

# The expression a broker itself uses; `.` stops at a line end, as in Java.
_LOOPBACK_ADDRESS = regex(r"127(\.\d{1,3}){3}")
_ENTRY = regex(r"(?P<name>.*)://\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>-?[0-9]{1,99})")

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
WILDCARD_HOSTS = frozenset({"", "0.0.0.0", "::", "0:0:0:0:0:0:0:0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """NAME://host:port of a broker; an empty host is kept as written."""

    listener: str
    host: str
    port: int

    def __str__(self) -> str:
        return endpoint_text(self.listener, self.host, self.port)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerEntry:
    """One well-formed entry of a listener list, with the offsets of its parts in the value."""

    text: str
    start: int
    end: int
    endpoint: Endpoint
    host_start: int
    host_end: int
    port_start: int
    port_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedEntry:
    """One entry that the broker cannot parse."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MapEntry:
    """One `NAME:PROTOCOL` pair of `listener.security.protocol.map`."""

    listener: str
    protocol: str
    start: int
    end: int


def endpoint_text(listener: str, host: str, port: int | None) -> str:
    """An endpoint as a user writes it; a listener that has no name of its own stands without one."""
    return f"{'' if listener.startswith('(') else f'{listener}://'}{bracketed(host)}:{port}"


def listener_in_words(entry: ListenerEntry) -> str:
    """What a sentence calls a listener, which need not have a name in Redpanda."""
    name = entry.endpoint.listener
    return "the listener" if name.startswith("(") else f"listener {name}"


def bracketed(host: str) -> str:
    """An address as it stands before a port: IPv6 literals get their brackets back."""
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether a host means the machine that uses it, by name or by number."""
    lowered = host.lower()
    return lowered in ("localhost", "::1", "ip6-localhost") or (
        lowered.startswith("127.") and _LOOPBACK_ADDRESS.fullmatch(lowered) is not None
    )


def is_odd_name(name: str) -> bool:
    """Whether a name holds blanks, semicolons or the :// of another entry: what the broker takes for a name is not."""
    return "://" in name or ";" in name or name.split() != [name]


def is_wildcard(host: str) -> bool:
    """Whether a listener on this host binds every address."""
    return host in WILDCARD_HOSTS


def parse_listeners(value: str) -> tuple[ListenerEntry | MalformedEntry, ...]:
    """The entries of `listeners` or `advertised.listeners`, in order; blanks around commas do not count."""
    return tuple(_parse_entry(text, start) for text, start in split_items(value))


def well_formed(entries: tuple[ListenerEntry | MalformedEntry, ...]) -> tuple[ListenerEntry, ...]:
    """The entries that a broker can use."""
    return tuple(entry for entry in entries if isinstance(entry, ListenerEntry))


def parse_protocol_map(value: str) -> tuple[MapEntry | MalformedEntry, ...]:
    """The pairs of `listener.security.protocol.map`; the name ends at the last colon, as in Kafka's `Csv`."""
    entries: list[MapEntry | MalformedEntry] = []
    for text, start in split_items(value):
        name, colon, protocol = text.rpartition(":")
        if not colon:
            entries.append(MalformedEntry(text=text, start=start, end=start + len(text)))
            continue
        entries.append(
            MapEntry(
                listener=name.strip().upper(), protocol=protocol.strip().upper(), start=start, end=start + len(text)
            )
        )
    return tuple(entries)


def parse_names(value: str) -> tuple[str, ...]:
    """A plain comma list such as `controller.listener.names`, split as a broker up to 4.1 does: no trimming."""
    return tuple(name for name in value.split(",") if name) if value else ()


def split_items(value: str) -> list[tuple[str, int]]:
    """The non-empty items of a comma list with their offsets, outer blanks stripped, as Kafka takes a LIST apart."""
    # By hand: the broker's own separator, blanks around a comma, takes quadratic time on a long run of blanks.
    items: list[tuple[str, int]] = []
    position = 0
    for raw in value.split(","):
        text = raw.strip()
        if text:
            items.append((text, position + len(raw) - len(raw.lstrip())))
        position += len(raw) + 1
    return items


def _parse_entry(text: str, start: int) -> ListenerEntry | MalformedEntry:
    match = _ENTRY.fullmatch(text)
    if match is None:
        return MalformedEntry(text=text, start=start, end=start + len(text))
    return ListenerEntry(
        text=text,
        start=start,
        end=start + len(text),
        endpoint=Endpoint(listener=match["name"].upper(), host=match["host"], port=int(match["port"])),
        host_start=start + match.start("host"),
        host_end=start + match.end("host"),
        port_start=start + match.start("port"),
        port_end=start + match.end("port"),
    )


_ADDRESS = regex(r"(?:[0-9a-zA-Z\-%._]*://)?\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>[0-9]{1,99})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """One member of the quorum as its peers find it, with the offsets of the entry in the value."""

    node_id: int
    host: str
    port: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MalformedVoter:
    """An entry that the broker cannot parse; `prints` is the constant part of what it says about it."""

    text: str
    start: int
    end: int
    prints: str


def parse_voters(value: str) -> tuple[Voter | MalformedVoter, ...]:
    """The entries in order."""
    return tuple(_parse_voter(text, start) for text, start in split_items(value))


def _parse_voter(text: str, start: int) -> Voter | MalformedVoter:
    end = start + len(text)
    parts = text.split("@")
    if len(parts) != 2 or not parts[1]:
        return MalformedVoter(
            text=text, start=start, end=end, prints="Each entry should be in the form `{id}@{host}:{port}`."
        )
    number, address = parts
    if re.fullmatch(r"[+-]?[0-9]{1,99}", number) is None:
        prints = f"Failed to parse voter ID as an integer from {number}"
        return MalformedVoter(text=text, start=start, end=end, prints=prints)
    match = _ADDRESS.fullmatch(address)
    if match is None:
        prints = f"Failed to parse host name from entry {text}"
        return MalformedVoter(text=text, start=start, end=end, prints=prints)
    return Voter(node_id=int(number), host=match["host"], port=int(match["port"]), start=start, end=end)


def parse_zookeeper_connect(value: str) -> tuple[tuple[str, int], ...]:
    """The servers of `zookeeper.connect` ("a:2181,b/chroot") as (host, port); invalid ones are left out.

    As in `ConnectStringParser`: the path comes last, the port is 2181 where none is given, IPv6 stands in brackets.
    """
    found: dict[tuple[str, int], None] = {}
    for item in value.partition("/")[0].split(","):
        text = item.strip()
        host, colon, port = text.rpartition(":")
        if not colon or text.endswith("]"):
            host, port = text, "2181"
        host = host.removeprefix("[").removesuffix("]")
        number = number_of(port) or 0
        if host and 0 < number < 65536:
            found[(host, number)] = None
    return tuple(found)
