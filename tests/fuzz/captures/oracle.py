"""What is promised of any capture, however damaged: no exception but one line, bounded time, every byte accounted for.

Of the file, where its format tells how much of it packets and headers are: the rest is its losses. Of each packet: a
segment, a datagram, an error of ICMP, or a loss. Of each connection: messages and losses are the bytes of its streams.
Every row fits its table and can be printed, and no line for people holds a control character.
"""

import csv
import io
import json
import struct
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from netdiag.errors import InputError
from netdiag.render.exchanges import exchange_line
from netdiag.render.screen import Screen
from netdiag.traffic import native
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.rows import ExchangeRow
from netdiag.traffic.tables import Column, Kind, table
from tests.fuzz.captures.mutations import Damaged
from tests.native.reading import Rows, rows_of_files

SECONDS = 3.0
_SCREEN = Screen()
_TYPES: dict[Kind, type | tuple[type, ...]] = {
    Kind.BOOL: bool,
    Kind.FLOAT64: (float, int),
    Kind.STRING: str,
    Kind.STRINGS: (tuple, list),
}
_BITS = {Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64, Kind.TIME: 64}
_RAW = frozenset({"packets", "segments"})
# The size field in front of a message.
_SIZE = 4
_PCAP_HEADER, _RECORD_HEADER = 24, 16
_PCAP = (0xA1B2C3D4, 0xA1B23C4D)

# of a request: key, version, correlation id and size, correlation id and client id; of a response: correlation id, size
Key = tuple[int | str | None, ...]
Ends = tuple[str, str]


class Verdict(NamedTuple):
    """What is wrong; which messages were found, each with its connection; seconds of CPU; whether it was a capture.

    `unsure`: the connections of which some bytes were given up, in which there may be messages as well.
    """

    complaints: tuple[str, ...]
    found: Mapping[Key, Ends]
    unsure: frozenset[Ends]
    exchanges: int
    seconds: float
    is_capture: bool


def invented(damage: Damaged, verdict: Verdict, whole: Verdict) -> Iterator[str]:
    """Messages that the whole capture does not hold, where packets were only lost, repeated or moved."""
    more = [key for key, ends in verdict.found.items() if key not in whole.found and ends not in whole.unsure]
    if damage.only_lost and more:
        yield f"messages that nobody sent: {sorted(map(repr, more))[:4]}"


def judged(data: bytes) -> Verdict:
    """Read it as `netdiag exchanges` does, for all tables."""
    with NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return _judged(Path(file.name), data)


def _judged(path: Path, data: bytes) -> Verdict:
    began = time.process_time()
    try:
        rows = rows_of_files(path, names=("damaged",))
        seconds = time.process_time() - began
        raw = rows_of_files(path, names=("damaged",), tables=_RAW)
        complaints = [
            *_account(data, rows, raw),
            *_unbalanced(rows),
            *(wrong for name, found in {**rows, **raw}.items() for wrong in misfits(table(name).columns, found)),
            *_unprintable(texts_of(path)),
            *_control_characters(rows["exchanges"]),
        ]
    except InputError as error:
        said = str(error)
        return Verdict(() if said.isprintable() else (f"not a line: {said!r}",), {}, frozenset(), 0, 0.0, False)
    except BaseException as error:  # a panic of the engine is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        last = traceback.format_exc().splitlines()
        return Verdict((f"a defect: {last[-1]} ({' '.join(last[-3].split())})",), {}, frozenset(), 0, 0.0, True)
    if seconds > SECONDS:
        complaints.append(f"took {seconds:.1f} s of CPU")
    found = {key: (row.client, row.broker) for row in rows["exchanges"] for key in _keys(row)}
    given_up = {row.connection for row in rows["losses"] if row.kind == "resync"}
    unsure = frozenset((row.client, row.broker) for row in rows["connections"] if row.connection in given_up)
    return Verdict(tuple(complaints), found, unsure, len(rows["exchanges"]), seconds, True)


def _account(data: bytes, rows: Rows, raw: Rows) -> Iterator[str]:
    """Where the bytes of the file are not those of packets, headers and losses."""
    segments = {(row.file, row.number) for row in raw["segments"]}
    others = [row for row in raw["packets"] if (row.file, row.number) not in segments]
    told = sum(row.bytes for row in rows["losses"] if row.connection is None)
    if any(row.bytes < 0 or row.times <= 0 for row in rows["losses"]):
        yield "a loss of nothing"
    if len(segments) > len(raw["packets"]):
        yield f"{len(segments)} segments are in {len(raw['packets'])} packets"
    if data[:4] in [struct.pack(order + "I", magic) for order in "<>" for magic in _PCAP]:
        # A record whose length lies may share bytes with the next one.
        known = _PCAP_HEADER + sum(_RECORD_HEADER + row.captured for row in raw["packets"])
        if known + told < len(data):
            yield f"of a file of {len(data)} bytes {known} are packets and headers and {told} are lost"
    # A packet that is no segment is a loss, or else a question to a name server, its answer, or an error of ICMP.
    if told > len(data) + sum(max(row.captured, row.length) for row in others):
        yield f"losses tell of {told} bytes of no connection"


def _unbalanced(rows: Rows) -> Iterator[str]:
    """Where the bytes of a connection's streams are not those of messages and losses.

    A message whose header was not captured has no row.
    """
    framed, outside, messages = Counter[int](), Counter[int](), Counter[int]()
    for row in rows["exchanges"]:
        for size in (row.request_bytes, row.response_bytes):
            if size is not None:
                messages[row.connection] += 1
                framed[row.connection] += size + _SIZE
    for row in rows["losses"]:
        if row.connection is not None and row.detail != "inside messages" and row.kind != "limit":
            outside[row.connection] += row.bytes
    # Connections of the same ends that begin at the same time, as only damage makes them, have the same number.
    spans, frames = Counter[int](), Counter[int]()
    for row in rows["connections"]:
        spans[row.connection] += row.client_bytes + row.broker_bytes + row.lost_bytes
        frames[row.connection] += row.requests + row.responses
        if min(row.client_bytes, row.broker_bytes, row.lost_bytes, row.requests, row.responses) < 0:
            yield f"a connection has a negative figure: {row}"
    for number in {*spans, *messages, *outside}:
        known = framed[number] + outside[number]
        if spans[number] != known if messages[number] == frames[number] else spans[number] < known:
            yield f"a connection of {spans[number]} bytes has messages and losses of {known}"


def misfits(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Values that their columns cannot hold."""
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            if not _fits(column, value):
                yield f"no {column.kind} in {column.name}: {value!r}"


def _fits(column: Column, value: Any) -> bool:
    if value is None:
        return not column.required
    if column.kind in _BITS:
        limit = 1 << (_BITS[column.kind] - 1)
        return type(value) is int and -limit <= value < limit
    if column.kind is Kind.STRINGS:
        return isinstance(value, tuple | list) and all(isinstance(one, str) for one in value)
    return isinstance(value, _TYPES[column.kind])


def texts_of(path: Path) -> Iterator[tuple[str, str, str]]:
    """The rows of every table as CSV and as JSON."""
    for ready in native.read([str(path)], ReadOptions()):
        for name, batches in ready.items():
            for batch in batches:
                yield name, batch.to_csv().decode(), batch.to_json().decode()


def _unprintable(texts: Iterator[tuple[str, str, str]]) -> Iterator[str]:
    for name, values, objects in texts:
        names = table(name).names
        lines = objects.split("\n")[:-1]
        # a line of CSV holds line ends inside quotes only
        if not all(line.isprintable() for line in (*lines, *values.split("\n"))):
            yield f"cannot be printed: rows of {name}"
        read = list(csv.reader(io.StringIO(values)))
        if len(read) != len(lines) or any(len(row) != len(names) for row in read):
            yield f"cannot be read again: rows of {name}"
        if any(tuple(json.loads(line)) != names for line in lines):
            yield f"cannot be read again: rows of {name}"


def _control_characters(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        text = "".join(run.text for run in exchange_line(ExchangeRow(*row), _SCREEN))
        if not text.isprintable():
            yield f"holds a control character: {text!r}"


def _keys(row: Any) -> Iterator[Key]:
    if row.api_key is not None:
        yield (row.api_key, row.api_version, row.correlation_id, row.request_bytes)
        # which the snap length may have cut off
        if row.client_id is not None:
            yield (row.correlation_id, row.client_id)
    if row.response_bytes is not None:
        yield (row.correlation_id, row.response_bytes)
