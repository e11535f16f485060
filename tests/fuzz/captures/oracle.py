"""What is promised of any capture, however damaged: no exception but one line, bounded time, every byte accounted for.

Of the file: packets, headers and losses are its bytes. Of each packet: a segment, a datagram, an error of ICMP, or a
loss. Of each connection: messages and losses are the bytes of its streams. Every row fits its table and can be
printed, and no line for people holds a control character.
"""

import random
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from netdiag.errors import InputError
from netdiag.render.exchanges import csv_lines, exchange_line, json_lines
from netdiag.render.screen import Screen
from netdiag.traffic.column import Column, Kind
from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Datagram, Undecoded
from netdiag.traffic.engine.records import CaptureReader
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.rows import ConnectionRow, ExchangeRow, LossRow
from netdiag.traffic.tables import NAMES, table
from tests.fuzz.captures.mutations import Damaged

SECONDS = 3.0
_SCREEN = Screen()
_TYPES: dict[Kind, type | tuple[type, ...]] = {
    Kind.BOOL: bool,
    Kind.FLOAT64: (float, int),
    Kind.STRING: str,
    Kind.STRINGS: (tuple, list),
}
_BITS = {Kind.INT16: 16, Kind.INT32: 32, Kind.INT64: 64, Kind.TIME: 64}

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


class Watched(Engine):
    """An engine whose connections can be looked at when they are over."""

    def __init__(self) -> None:
        super().__init__(EngineOptions(), ["damaged"])
        self.unbalanced: list[str] = []

    def _close(self, connection: Connection) -> None:
        super()._close(connection)
        self.unbalanced += unbalanced(connection)


def unbalanced(connection: Connection) -> Iterator[str]:
    """Where the bytes of the streams are not those of messages and losses."""
    dialogue = connection.dialogue
    if dialogue is None:
        yield "a connection that nobody listened to"
        return
    figures = [dialogue.figures(side) for side in (0, 1)]
    span = sum(one.span for one in figures)
    framed = sum(one.frame_bytes for one in figures)
    outside = sum(
        loss.bytes for _, loss in dialogue.losses() if loss.detail != "inside messages" and loss.kind != "limit"
    )
    if span != framed + outside:
        yield f"a connection of {span} bytes has messages of {framed} and losses of {outside}"
    if any(value < 0 for one in figures for value in (one.span, one.payload_bytes, one.lost_bytes, one.frame_bytes)):
        yield f"a connection has a negative figure: {figures}"


def judged(data: bytes, seed: int = 0) -> Verdict:
    """Read it as `netdiag exchanges` does, in pieces of a size that the seed chooses, for all tables."""
    began = time.process_time()
    reader, engine = CaptureReader(), Watched()
    try:
        strange, datagrams = _read(data, random.Random(seed), reader, engine)
        rows = engine.drain()
        losses = [LossRow(*row) for row in rows["losses"]]
        complaints = [
            *engine.unbalanced,
            *_account(reader, data, strange, datagrams, losses),
            *(wrong for name in NAMES for wrong in _misfits(table(name).columns, rows[name])),
            *_unprintable(rows["exchanges"]),
        ]
    except InputError as error:
        said = str(error)
        return Verdict(() if said.isprintable() else (f"not a line: {said!r}",), {}, frozenset(), 0, 0.0, False)
    except Exception:  # noqa: BLE001 - whatever it is, it is a complaint
        last = traceback.format_exc().splitlines()
        return Verdict((f"a defect: {last[-1]} ({' '.join(last[-3].split())})",), {}, frozenset(), 0, 0.0, True)
    seconds = time.process_time() - began
    if seconds > SECONDS:
        complaints.append(f"took {seconds:.1f} s of CPU")
    exchanges = [ExchangeRow(*row) for row in rows["exchanges"]]
    found = {key: (row.client, row.broker) for row in exchanges for key in _keys(row)}
    given_up = {row.connection for row in losses if row.kind == "resync"}
    connections = [ConnectionRow(*row) for row in rows["connections"]]
    unsure = frozenset((row.client, row.broker) for row in connections if row.connection in given_up)
    return Verdict(tuple(complaints), found, unsure, len(exchanges), seconds, True)


def _read(data: bytes, chance: random.Random, reader: CaptureReader, engine: Engine) -> tuple[int, int]:
    """All of it through the engine; the bytes of packets that are no segment, datagram or error, and of datagrams."""
    piece = chance.choice((7, 1000, 65_536, 1 << 20))
    undecoded = datagrams = 0
    for offset in range(0, len(data) + piece, piece):
        chunk = data[offset : offset + piece]
        for packet in reader.feed(chunk) if chunk else reader.finish():
            decoded = decode_packet(packet)
            if isinstance(decoded, Undecoded):
                undecoded += decoded.bytes
            elif isinstance(decoded, Datagram):
                datagrams += packet.length
            engine.feed(packet)
    for lost in reader.losses:
        engine.lose(0, lost)
    engine.finish()
    return undecoded, datagrams


def _account(
    reader: CaptureReader, data: bytes, undecoded: int, datagrams: int, losses: Sequence[LossRow]
) -> Iterator[str]:
    account = reader.account
    accounted = account.packet_bytes + account.header_bytes + account.filtered_bytes + account.lost_bytes
    if accounted != len(data):
        yield f"a file of {len(data)} bytes has {accounted} in its account"
    if sum(lost.bytes for lost in reader.losses) != account.lost_bytes:
        yield "the losses of the file are not the bytes that it lost"
    told = sum(row.bytes for row in losses if row.connection is None)
    # a datagram is a loss where it is no DNS
    if not 0 <= told - account.lost_bytes - undecoded <= datagrams:
        yield f"losses tell of {told} bytes of no connection, there are {account.lost_bytes} and {undecoded}"
    if any(row.bytes < 0 or row.times <= 0 for row in losses):
        yield "a loss of nothing"


def _misfits(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            if not _fits(column, value):
                yield f"no {column.kind} in {column.name}: {value!r}"
    for line in (*json_lines(columns, rows), *csv_lines(columns, rows)):
        # a line of CSV holds line ends inside quotes only
        if not line.endswith("\n") or not line.rstrip("\n").replace("\n", "").isprintable():
            yield f"cannot be printed: {line!r}"


def _fits(column: Column, value: Any) -> bool:
    if value is None:
        return not column.required
    if column.kind in _BITS:
        limit = 1 << (_BITS[column.kind] - 1)
        return type(value) is int and -limit <= value < limit
    if column.kind is Kind.STRINGS:
        return isinstance(value, tuple | list) and all(isinstance(one, str) for one in value)
    return isinstance(value, _TYPES[column.kind])


def _unprintable(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        text = "".join(run.text for run in exchange_line(ExchangeRow(*row), _SCREEN))
        if not text.isprintable():
            yield f"holds a control character: {text!r}"


def _keys(row: ExchangeRow) -> Iterator[Key]:
    if row.api_key is not None:
        yield (row.api_key, row.api_version, row.correlation_id, row.request_bytes)
        # which the snap length may have cut off
        if row.client_id is not None:
            yield (row.correlation_id, row.client_id)
    if row.response_bytes is not None:
        yield (row.correlation_id, row.response_bytes)
