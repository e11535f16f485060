"""Captures read by the compiled engine and by the one in plain Python, and captures to hold them against each other."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.records import CaptureReader
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.rows import BatchRow, EndpointRow, ExchangeRow, GroupEventRow, LeaderRow, PartitionRow
from tests.traffic.engine.capture_files import pcap
from tests.traffic.engine.compiled.exchanges import rows_of
from tests.traffic.engine.compiled.fronts import pieces

RECORDED = sorted(Path(__file__).parents[3].glob("fuzz/captures/*.pcap"))

_KINDS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "exchanges": ExchangeRow,
    "partitions": PartitionRow,
    "batches": BatchRow,
    "group_events": GroupEventRow,
    "endpoints": EndpointRow,
    "leaders": LeaderRow,
}

_LARGE = 1 << 20

Rows = dict[str, list[tuple[Any, ...]]]


def by_twin(data: bytes, options: EngineOptions | None = None) -> Rows:
    """The rows of the engine in plain Python."""
    engine = Engine(options or EngineOptions(), ["a.pcap"])
    for packet in packets_of(data):
        engine.feed(packet)
    engine.finish()
    return engine.drain()


def by_kernels(data: bytes, sizes: Sequence[int] = (1 << 20,), options: EngineOptions | None = None) -> Rows:
    """The rows of the compiled engine, which is fed pieces of these sizes.

    Behind small ones it makes rows at once and forgets what they were made of, which it does rarely otherwise.
    """
    options = options or EngineOptions()
    columns = Columns(options, ["a.pcap"])
    engine = CompiledEngine(options, ["a.pcap"], columns)
    front = Front(Keys())
    for piece in pieces(data, sizes):
        engine.feed(front.take(piece))
        if len(piece) < _LARGE:
            engine.flush()
    engine.feed(front.end())
    engine.finish()
    made = {name: [_KINDS[name](*row) for row in rows] for name, rows in rows_of(columns).items()}
    return {**engine.drain(), **made}


def packets_of(data: bytes) -> list[Packet]:
    """The packets of a capture."""
    reader = CaptureReader()
    found = [packet._replace(data=memoryview(bytes(packet.data))) for packet in reader.feed(data)]
    return found + [packet._replace(data=memoryview(bytes(packet.data))) for packet in reader.finish()]


def recorded() -> Iterator[tuple[str, bytes]]:
    """The captures of real brokers and clients that lie beside the tests."""
    for path in RECORDED:
        yield path.name, path.read_bytes()


def harmed(data: bytes, rng: random.Random) -> bytes:
    """The same capture after an accident or several: as pcap with Ethernet or what the first packet had."""
    packets = packets_of(data)
    made = [(packet.time, bytes(packet.data)) for packet in packets]
    for _ in range(rng.randint(1, 3)):
        made = rng.choice((_dropped, _doubled, _swapped, _elsewhere, _begun_late))(made, rng)
    return pcap(made, link=packets[0].link_type, snaplen=rng.choice((262_144, 262_144, 60, 90, 200)), nanoseconds=True)


_Made = list[tuple[int, bytes]]


def _dropped(made: _Made, rng: random.Random) -> _Made:
    share = rng.choice((0.01, 0.1, 0.5))
    return [packet for packet in made if rng.random() >= share]


def _doubled(made: _Made, rng: random.Random) -> _Made:
    share, later = rng.choice((0.02, 1.0)), rng.choice((0, 100, 10_000, 2_000_000))
    copies = [(time + later, data) for time, data in made if rng.random() < share]
    return sorted([*made, *copies], key=lambda packet: packet[0])


def _swapped(made: _Made, rng: random.Random) -> _Made:
    made = list(made)
    for index in range(1, len(made)):
        if rng.random() < 0.05:
            made[index - 1], made[index] = made[index], made[index - 1]
    return made


def _elsewhere(made: _Made, rng: random.Random) -> _Made:
    """Every packet a second time behind address translation: another address and port of whoever listens."""
    out: _Made = []
    for time, data in made:
        out.append((time, data))
        at = data.find(b"\x45\x00")
        if at >= 0 and len(data) >= at + 40 and rng.random() < 0.98:
            begin, port = (
                (at + 16, at + 22) if data[at + 20 : at + 22] > data[at + 22 : at + 24] else (at + 12, at + 20)
            )
            copy = bytearray(data)
            copy[begin : begin + 4], copy[port : port + 2] = b"\x0a\x63\x00\x01", b"\x23\x90"
            out.append((time + rng.choice((500, 20_000)), bytes(copy)))
    return out


def _begun_late(made: _Made, rng: random.Random) -> _Made:
    return made[rng.randrange(max(1, len(made) // 2)) :]
