"""The layout of every Kafka message in every version, read from the committed table `messages.json`.

A `Layout` is the list of fields of one message in one version, with everything that depends on the version decided.
Layouts are resolved on first use and kept. Sources: the message schemas of the Kafka releases named in `releases()`,
see tools/generate_protocol_table.md.

Errors say whose fault it is when bytes and protocol disagree. `LocalProtocolError`: this program asked for something
that the protocol does not allow. `RemoteProtocolError`: the other side sent something that it does not allow; for a
diagnosis that is an observation, so whoever talks to a peer catches it and turns it into one.
"""

import json
import uuid
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from netdiag.values import dataclass

SIZES = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float64": 8,
    "uuid": 16,
}
API_VERSIONS = 18
CONTROLLED_SHUTDOWN = 7


class Direction(StrEnum):
    """Which way a message travels."""

    REQUEST = "request"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of one message version.

    `kind` is a Kafka type (bool int8 int16 uint16 int32 uint32 int64 float64 uuid string bytes records) or "struct";
    for an array it is the type of an element. `compact`: lengths are unsigned varints (KIP-482). `min_size` is the
    least number of bytes that an element of this kind takes.
    """

    name: str
    kind: str
    array: bool
    compact: bool
    nullable: bool
    tag: int | None
    default: object
    layout: "Layout | None"
    min_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The fields of one message version in their order on the wire; tagged fields (KIP-482) by their tag."""

    fields: tuple[Field, ...]
    tagged: dict[int, Field]
    flexible: bool
    min_size: int


def releases() -> tuple[str, ...]:
    """The Kafka releases whose union the table is."""
    return tuple(_table()["kafka"])


def api_keys() -> tuple[int, ...]:
    """Every api key of the table."""
    return tuple(_apis())


def api_name(api_key: int) -> str:
    """The name of an api key as Kafka spells it; a number that the table does not know is shown as `API_KEY(n)`."""
    api = _apis().get(api_key)
    return f"API_KEY({api_key})" if api is None else str(api["name"])


def api_versions(api_key: int) -> range:
    """The versions of an api key that the table knows, over all releases."""
    return _version_range(_api(api_key)["request"]["versions"])


@cache
def stable_versions(api_key: int) -> range:
    """The versions of an api key that some release declares stable: what a client may send."""
    last = 0
    for declared in _api(api_key)["releases"].values():
        versions = _version_range(declared.removesuffix("~"))
        last = max(last, versions.stop - (1 if declared.endswith("~") else 0))
    return range(api_versions(api_key).start, last)


def release_versions(api_key: int) -> dict[str, range]:
    """Per Kafka release the versions that it declares for an api key (unstable ones included)."""
    declared = _api(api_key)["releases"]
    return {release: _version_range(text.removesuffix("~")) for release, text in declared.items()}


@cache
def layout(api_key: int, api_version: int, direction: Direction) -> Layout:
    """The layout of one message body."""
    return _resolve(_api(api_key)[direction.value], api_version, f"{api_name(api_key)} {direction.value}")


@cache
def header_layout(direction: Direction, header_version: int) -> Layout:
    """The layout of a message header; `header_version` says which version goes with a message."""
    name = "RequestHeader" if direction is Direction.REQUEST else "ResponseHeader"
    return _resolve(_table()["headers"][name], header_version, name)


@cache
def data_layout(name: str, version: int) -> Layout:
    """The layout of data that travels inside a message: ConsumerProtocolSubscription, ConsumerProtocolAssignment."""
    message = _table()["data"].get(name)
    if message is None:
        raise UnknownMessage(f"no data message '{name}'")
    return _resolve(message, version, name)


def stored_topics() -> tuple[str, ...]:
    """The internal topics whose records `stored_layout` knows."""
    return tuple(_stored())


def stored_name(topic: str, kind: int) -> str:
    """The name of a kind of record in an internal topic; a number that the table does not know as `RECORD(n)`."""
    entry = _stored().get(topic, {}).get(str(kind))
    return f"RECORD({kind})" if entry is None else str(entry["name"])


@cache
def stored_layout(topic: str, kind: int, part: str, version: int) -> Layout:
    """The layout of the "key" or the "value" of a record in an internal topic."""
    entry = _stored().get(topic, {}).get(str(kind), {}).get(part)
    if entry is None:
        raise UnknownMessage(f"no {part} of record {kind} in {topic}")
    return _resolve(entry, version, stored_name(topic, kind))


def header_version(api_key: int, api_version: int, direction: Direction) -> int:
    """The version of the header before a message body.

    Two exceptions are Kafka's own: a ControlledShutdown request v0 has no client id (header 0), and an ApiVersions
    response always has header 0, because its reader does not know yet what the broker speaks (KIP-511).
    """
    flexible = layout(api_key, api_version, direction).flexible
    if direction is Direction.RESPONSE:
        return 1 if flexible and api_key != API_VERSIONS else 0
    if api_key == CONTROLLED_SHUTDOWN and api_version == 0:
        return 0
    return 2 if flexible else 1


@cache
def _table() -> dict[str, Any]:
    text = files("netdiag.kafka.protocol").joinpath("messages.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


@cache
def _stored() -> dict[str, dict[str, Any]]:
    text = files("netdiag.kafka.protocol").joinpath("stored_records.json").read_text(encoding="utf-8")
    topics: dict[str, dict[str, Any]] = json.loads(text)["topics"]
    return topics


@cache
def _apis() -> dict[int, dict[str, Any]]:
    return {api["key"]: api for api in _table()["apis"]}


def _api(api_key: int) -> dict[str, Any]:
    api = _apis().get(api_key)
    if api is None:
        raise UnknownMessage(f"no api key {api_key}")
    return api


def _resolve(message: dict[str, Any], version: int, name: str) -> Layout:
    if not _covers(message["versions"], version):
        raise UnknownMessage(f"no version {version} of {name}, known: {message['versions']}")
    return _layout(message["fields"], version, _covers(message["flexible"], version))


def _layout(entries: list[dict[str, Any]], version: int, flexible: bool) -> Layout:
    present = [_field(entry, version, flexible) for entry in entries if _covers(entry["versions"], version)]
    plain = tuple(field for field in present if field.tag is None)
    return Layout(
        fields=plain,
        tagged={field.tag: field for field in present if field.tag is not None},
        flexible=flexible,
        min_size=sum(_least_bytes(field) for field in plain) + (1 if flexible else 0),
    )


def _field(entry: dict[str, Any], version: int, flexible: bool) -> Field:
    array = entry["type"].startswith("[]")
    kind = entry["type"].removeprefix("[]")
    compact = flexible and entry.get("flexible", True)
    inner = _layout(entry["fields"], version, flexible) if "fields" in entry else None
    return Field(
        name=entry["name"],
        kind=kind,
        array=array,
        compact=compact,
        nullable=_covers(entry.get("nullable", ""), version),
        tag=entry.get("tag"),
        default=_default(entry, kind, array, inner),
        layout=inner,
        min_size=inner.min_size if inner is not None else _primitive_size(kind, compact),
    )


def _default(entry: dict[str, Any], kind: str, array: bool, inner: Layout | None) -> object:
    if "default" in entry:
        return entry["default"]
    if array:
        return ()
    if inner is not None:
        return {field.name: field.default for field in (*inner.fields, *inner.tagged.values())}
    zeros: dict[str, object] = {"bool": False, "string": "", "bytes": b"", "records": b"", "float64": 0.0}
    zeros["uuid"] = uuid.UUID(int=0)
    return zeros.get(kind, 0)


def _least_bytes(field: Field) -> int:
    """The least number of bytes of a whole field: an empty array, a null struct, an empty string."""
    if field.array:
        return 1 if field.compact else 4
    if field.kind == "struct" and field.nullable:
        return 1
    return field.min_size


def _primitive_size(kind: str, compact: bool) -> int:
    if kind in SIZES:
        return SIZES[kind]
    if compact:
        return 1
    return 2 if kind == "string" else 4


def _covers(text: str, version: int) -> bool:
    return any(version in _version_range(part) for part in text.split(",") if part)


def _version_range(text: str) -> range:
    """The grammar of the table: "3", "0-7" or "3+", where "+" is bounded by the versions of the message."""
    if text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text[:-1]), 32768)
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


class ProtocolError(Exception):
    """Bytes and protocol disagree."""


class LocalProtocolError(ProtocolError):
    """A fault of the caller: a wrong call, a value that does not fit its field."""


class RemoteProtocolError(ProtocolError):
    """A fault of the other side."""


class FrameError(RemoteProtocolError):
    """An impossible size prefix."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"a message of {size} bytes is announced, between 4 and {limit} are possible")
        self.size = size
        self.limit = limit


class UnknownMessage(LocalProtocolError):
    """The table has no such api key, version or data message."""


class FieldError(ProtocolError):
    """A disagreement at one field; `path` is filled from the inside out while the error travels up."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str] = []

    @property
    def path(self) -> str:
        """The field, as in "brokers[3].host"; empty for the message itself."""
        return ".".join(reversed(self.steps)).replace(".[", "[")

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.steps else self.reason


class DecodeError(FieldError, RemoteProtocolError):
    """The bytes are not the message that they should be; `offset` counts from the start of the message body."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset

    def __str__(self) -> str:
        return f"{super().__str__()} (at byte {self.offset})"


class EncodeError(FieldError, LocalProtocolError):
    """The value does not fit the layout."""
