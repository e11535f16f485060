"""The capture engine, netdiag_native: the one module that imports it.

It is compiled, and a distribution of its own: whoever only checks files or live containers needs none of it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

from netdiag import __version__, distribution
from netdiag.errors import InputError, NetdiagError, UsageError
from netdiag.traffic.tables import NAMES
from netdiag.values import dataclass

MODULE = "netdiag_native"
# What this module expects of the engine: raised here and in native/python whenever a call or an answer changes, because
# a clone keeps its version while its engine grows old.
_INTERFACE = 4
_SECONDS = re.compile(r"(\d{1,11})(?:\.(\d{1,9}))?")
_FRACTION = re.compile(r"(?<=:\d\d)\.(\d{1,9})")

Tell = Callable[[int, int, int | None, int | None], None]
"""Told how far reading is: bytes of the files, packets, the times of the earliest and the latest packet in nanoseconds
since 1970 UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressNames:
    """What addresses are called. `hosts`: names by address; `endpoints`: name and listener by address:port, which says
    more."""

    hosts: Mapping[str, str] = field(default_factory=dict)
    endpoints: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)


NO_NAMES = AddressNames()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """Which rows are folded: those of all connections but `relays`. `names`: topics by their ids; `pieces`: what is
    wanted of `netdiag.traffic.folds.PIECES`."""

    pieces: Collection[str]
    relays: Collection[int] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Which rows are wanted, of which connections. Empty filters let everything through.

    `tables`: those to fill; `records`, which holds keys and values, only if it is named here. `flow_class` (k, n): only
    connections whose number is k modulo n, so that n readings of the same packets share the work and give every row
    once. `ports`: only connections with one of these ports; without them every connection that turns out to speak
    Kafka. `clients`: client.id, address or address:port of the client. `brokers`: address or address:port of the
    broker. `topics`: names. `all_sightings`: a connection that is seen at several places is reported once for each.
    `max_connections`: so many are held open at a time, the silent ones are let go first; without it the engine's limit.
    """

    tables: frozenset[str] = frozenset(NAMES)
    flow_class: tuple[int, int] = (0, 1)
    ports: frozenset[int] = frozenset()
    clients: frozenset[str] = frozenset()
    brokers: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    address_names: AddressNames = NO_NAMES
    all_sightings: bool = False
    max_connections: int | None = None


class MissingEngine(NetdiagError):
    """A command reads captures, and the capture engine is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "reading captures needs netdiag's capture engine, which is not installed", hint=distribution.native_line()
        )


class Batch(Protocol):
    """Rows of one table, in the columns asked for; at most 8,192. Arrow's C data interface takes it as it is."""

    @property
    def table(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    def __len__(self) -> int: ...

    def to_csv(self) -> bytes:
        """Lines of comma-separated values, without the line of names."""
        ...

    def to_json(self) -> bytes:
        """A JSON object a line."""
        ...

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as tuples; times are nanoseconds since 1970 UTC."""
        ...

    def __arrow_c_schema__(self) -> object: ...

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Batches as an IPC stream of Arrow: what it gives belongs one behind the other, first of all the schema."""

    def encode(self, batch: Batch) -> bytes: ...

    def end(self) -> bytes: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Connections, and requests in them, that were taken as ones seen at another place.

    `like_copies`: how many of the connections look like a capture that was copied or replayed: the same packets at the
    same place, at the same time or much later.
    """

    connections: int
    requests: int
    like_copies: int


class Reading:
    """Captures that are being read: gives batches by table as they become ready.

    The rows of one exchange come together. InputError where a file is no capture, or stops being one.
    """

    def __init__(self, reading: Any) -> None:
        self._reading = reading

    def __iter__(self) -> Iterator[Mapping[str, Sequence[Batch]]]:
        error = _module().CaptureError
        try:
            yield from self._reading
        except error as refused:
            raise _input_error(refused) from refused
        finally:
            self._reading.close()

    @property
    def copies(self) -> Copies:
        """All of them only when everything was read."""
        connections, requests, like_copies = self._reading.copies
        return Copies(connections=connections, requests=requests, like_copies=like_copies)


def read(
    files: Sequence[str],
    options: ReadOptions,
    *,
    columns: Mapping[str, Sequence[str]] | None = None,
    names: Sequence[str] | None = None,
    unit: str = "ns",
    since_ns: int | None = None,
    until_ns: int | None = None,
    folded: Folded | None = None,
    tell: Tell | None = None,
) -> Reading:
    """Begin to read captures together, in the order of their packets.

    `files`: paths, or "-" for standard input. `columns`: of a table, those wanted in their order; else all. `names`:
    what the files are called in rows. `unit`: "ns" or "us", of times in Arrow. `since_ns`, `until_ns`: only packets
    from the one on and before the other. `folded`: rows of exchanges, partitions and batches come folded, too, by the
    names of folds. InputError where a file is no capture, MissingEngine where there is no engine.
    """
    module = _module()
    try:
        reading = module.read(
            list(files),
            _asked(
                options,
                columns=columns,
                unit=unit,
                since_ns=since_ns,
                until_ns=until_ns,
                folded=folded,
            ),
            names=list(names) if names is not None else None,
            tell=tell,
        )
    except module.CaptureError as refused:
        raise _input_error(refused) from refused
    return Reading(reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file of record batches in a broker's data directory.

    `name`: as rows call it. `base_offset`: as the name says, if it does; no offset in the file may be smaller.
    """

    path: str
    name: str
    topic: str | None = None
    partition: int | None = None
    base_offset: int | None = None


def read_logs(
    files: Sequence[LogFile],
    tables: Mapping[str, Sequence[str] | None],
    *,
    most_shown: int | None = None,
    tell: Callable[[int], None] | None = None,
) -> Iterator[Mapping[str, Sequence[Batch]]]:
    """The rows of what brokers store, file by file; a file that cannot be read is a row of `log_problems`.

    `tables`: those of LOG_NAMES that are wanted, each with its columns or None for all. `most_shown`: bytes of keys and
    values that are shown; None for none of them. `tell`: told the bytes read so far. MissingEngine where there is no
    engine.
    """
    reading = _module().read_logs(list(files), dict(tables), most=most_shown)
    for ready in reading:
        if tell is not None:
            tell(reading.passed)
        if ready:
            yield ready


def make_batch(table: str, rows: Sequence[tuple[object, ...]], columns: Sequence[str]) -> Batch:
    """Rows (tuples in the order of the table) as the engine gives them; they may not have megabytes of text."""
    return cast(Batch, _module().make_batch(table, list(rows), list(columns)))


class Follower:
    """Reads captures that grow; `state` is what another one has saved under the same options.

    Times of rows are in microseconds in Arrow. DamagedState where these bytes are no state.
    """

    def __init__(
        self,
        options: ReadOptions,
        state: bytes | None = None,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
    ) -> None:
        module = _module()
        asked = _asked(options, columns=None, unit="us", since_ns=since_ns, until_ns=until_ns)
        try:
            self._follower = module.Follower(asked, state)
        except module.StateError as error:
            raise DamagedState(str(error)) from error

    def allow(
        self,
        *,
        number: int,
        name: str,
        path: str,
        first_time: int,
        late: int,
        inode: int,
        begin: bytes,
        size: int,
        ended: bool,
        quiet: bool,
        gone: bool,
    ) -> None:
        """Let `size` bytes of a file be read, which is a new one where its number is the next.

        `name`: as rows call it. `late`: it begins so many nanoseconds before what was taken. `inode`, `begin`: what it
        is known again by. `ended`: no more bytes come. `quiet`: other files need not wait for more. `gone`: it went
        away before a later one had come.
        """
        self._follower.allow(
            number=number,
            name=name,
            path=path,
            first_time=first_time,
            late=late,
            inode=inode,
            begin=begin,
            size=size,
            ended=ended,
            quiet=quiet,
            gone=gone,
        )

    def read(self, until_ns: int | None) -> Iterator[Mapping[str, Sequence[Batch]]]:
        """What is sure to come next, up to a time; lets go of the files at the end."""
        is_all = False
        while not is_all:
            ready, is_all = self._follower.read(until_ns)
            if ready:
                yield ready
        self._follower.close()

    def finish(self) -> Iterator[Mapping[str, Sequence[Batch]]]:
        """What is left when nothing more comes than what is there."""
        self._follower.end_files()
        yield from self.read(None)
        yield self._follower.finish()

    def save(self) -> bytes:
        """The state, when all rows were taken."""
        return bytes(self._follower.save())

    @property
    def tally(self) -> "Tally":
        """What was read so far."""
        packets, first, last, rows = self._follower.tally
        return Tally(packets=packets, first=first, last=last, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was read: packets, the times of the first and the last one in nanoseconds, and rows by table."""

    packets: int
    first: int | None
    last: int | None
    rows: Mapping[str, int]


class DamagedState(Exception):
    """These bytes are not a state of this version of netdiag; says what they are instead."""


class Latest(Protocol):
    """Looks for the latest packet of a capture as it grows."""

    def within(self, size: int) -> int:
        """The time of the latest packet in so many bytes, in nanoseconds since 1970 UTC."""
        ...


def latest(path: str, *, first_time: int, inode: int, begin: bytes) -> Latest:
    """For a capture that begins at `first_time`; `inode` and `begin` as in `Follower.allow`."""
    return cast(Latest, _module().Latest(path, first_time, inode, begin))


def first_time(file: str) -> int:
    """When a capture begins, in nanoseconds since 1970 UTC; 0 as long as it has no packet.

    InputError where the file is no capture.
    """
    module = _module()
    try:
        return int(module.first_time(file))
    except module.CaptureError as refused:
        raise _input_error(refused) from refused


def arrow_stream(table: str, columns: Sequence[str], unit: str = "ns") -> ArrowStream:
    """What encodes batches of these columns."""
    return cast(ArrowStream, _module().ArrowStream(table, list(columns), unit=unit))


def check(files: Sequence[str]) -> None:
    """Look into files as reading does at first; InputError where one is no capture."""
    module = _module()
    try:
        module.check(list(files))
    except module.CaptureError as refused:
        raise _input_error(refused) from refused


def begins_as_capture(begin: bytes) -> bool:
    """Whether captures begin with these bytes, of which four are looked at, compressed or not."""
    return bool(_module().begins_as_capture(begin))


def is_compressed(begin: bytes) -> bool:
    """Whether a compressed stream begins with these bytes, of which four are looked at."""
    return bool(_module().is_compressed(begin))


def is_capture(file: str) -> bool:
    """Whether a file begins as a capture does, compressed or not; what cannot be opened is taken for one."""
    return bool(_module().is_capture(file))


def version() -> str:
    """That of the engine, which is that of netdiag; an error with what to do where there is no such engine."""
    return str(_module().__version__)


def parse_time(text: str) -> int:
    """A time of ISO 8601 (without a zone: UTC) or seconds since 1970, as nanoseconds since 1970."""
    seconds = _SECONDS.fullmatch(text.strip())
    if seconds is not None:
        return int(seconds[1]) * 1_000_000_000 + int((seconds[2] or "0").ljust(9, "0"))
    fraction = _FRACTION.search(text)
    whole = text if fraction is None else text[: fraction.start()] + text[fraction.end() :]
    try:
        moment = datetime.fromisoformat(whole.strip())
    except ValueError:
        raise UsageError(f"'{text}' is not a time", hint="write 2026-01-02T03:04:05Z, or seconds since 1970") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    rest = 0 if fraction is None else int(fraction[1].ljust(9, "0"))
    return int(moment.timestamp()) * 1_000_000_000 + rest


def _asked(
    options: ReadOptions,
    *,
    columns: Mapping[str, Sequence[str]] | None,
    unit: str,
    since_ns: int | None,
    until_ns: int | None,
    folded: Folded | None = None,
) -> dict[str, Any]:
    wanted = columns or {}
    return {
        "tables": {table: list(wanted[table]) if table in wanted else None for table in options.tables},
        "unit": unit,
        "since": _engine_time(since_ns),
        "until": _engine_time(until_ns),
        "flow_class": options.flow_class,
        "ports": sorted(options.ports),
        "clients": sorted(options.clients),
        "brokers": sorted(options.brokers),
        "topics": sorted(options.topics),
        "hosts": dict(options.address_names.hosts),
        "endpoints": dict(options.address_names.endpoints),
        "max_connections": options.max_connections,
        "all_sightings": options.all_sightings,
        "folded": None if folded is None else _asked_of_folds(folded),
    }


def _engine_time(time_ns: int | None) -> int | None:
    """The nearest time that the engine can hold: no packet is as early as 1677, or as late as 2262."""
    return None if time_ns is None else max(-(2**63), min(time_ns, 2**63 - 1))


def _asked_of_folds(folded: Folded) -> dict[str, Any]:
    return {"without": sorted(folded.relays), "names": dict(folded.names), "folds": list(folded.pieces)}


@cache
def _module() -> Any:
    try:
        module = import_module(MODULE)
    except ImportError as error:
        raise MissingEngine from error
    version = getattr(module, "__version__", "of no version")
    if version != __version__:
        raise NetdiagError(
            f"the capture engine is {version}, and netdiag is {__version__}", hint=distribution.native_line()
        )
    if getattr(module, "INTERFACE", 0) != _INTERFACE:
        raise NetdiagError(
            f"the capture engine was built from another commit of netdiag {version}", hint=distribution.native_line()
        )
    return module


def _input_error(refused: Any) -> InputError:
    return InputError(refused.message, where=refused.file, hint=refused.hint)
