"""Makes the archive of Java's classes: a session looks at a sample, and Java keeps at its end what it has loaded.

In the sample every usual thing happens once. One client of one broker: it asks what the broker can, for metadata,
produces, fetches twice within a session, commits, joins a group and says that it is alive.
"""

import os
import shutil
import struct
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from netdiag.errors import NetdiagError
from netdiag.io.java import java_home
from netdiag.io.spark.analysis import Wanted, analysed
from netdiag.io.spark.class_archive import SILENT, UNFIT, found_at, named, place_of
from netdiag.io.spark.extraction import extract_here, opened
from netdiag.io.spark.reading import Reading
from netdiag.io.spark.session import spark_session
from netdiag.kafka import protocol as wire
from netdiag.traffic.folds import Selection
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES, TOGETHER
from netdiag.values import dataclass

# To write it at the end of a session takes so many seconds on a machine that has nothing better to do.
_PATIENCE = 300.0
_KEPT = 30 * 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What making it ahead did: where it lies, whether it was there before, how long it took."""

    path: str
    was_ready: bool
    seconds: float


def make(environment: Mapping[str, str] = os.environ) -> Archived:
    """Have a session load what an analysis needs, and keep that; NetdiagError where it cannot be kept."""
    begun = time.monotonic()
    place = place_of(environment, java_home(environment))
    if (found := found_at(place)) is not None:
        return Archived(path=str(found), was_ready=True, seconds=0.0)
    if UNFIT & set(str(place)):
        raise NetdiagError("Java's classes cannot be kept under such a name", where=str(place))
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".classes-", dir=place.parent) as folder:
            made = Path(folder, place.name)
            _analyse_a_sample(made, folder)
            if not made.is_file():
                raise NetdiagError("Java kept none of its classes", where=str(place))
            place = made.replace(named(place, made.stat().st_size))
    except OSError as error:
        raise NetdiagError((error.strerror or str(error)).lower(), where=str(place)) from error
    _drop_older(place)
    return Archived(path=str(place), was_ready=False, seconds=time.monotonic() - begun)


def _analyse_a_sample(archive: Path, folder: str) -> None:
    data = sample_pcap()
    capture = Path(folder, "sample.pcap")
    capture.write_bytes(data)
    reading = Reading(
        paths=(str(capture),), options=ReadOptions(tables=frozenset(NAMES) - frozenset(TOGETHER)), folds=Selection()
    )
    tables = Path(folder, "tables")
    tables.mkdir()
    account = extract_here(reading, str(tables))
    # Without an archive of its own, or Java could not make another one of it.
    keeping = f"-XX:ArchiveClassesAtExit={archive}", SILENT
    with spark_session("local[1]", partitions=1, classes=keeping, stop_timeout=_PATIENCE) as spark:
        analysed(opened(spark, account, reading, str(tables), size=len(data)), Wanted())
    shutil.rmtree(tables, ignore_errors=True)


def _drop_older(place: Path) -> None:
    """Leave nothing of what nobody made anew for long, nor of attempts that were killed."""
    for other in (*place.parent.glob("classes-*.jsa"), *place.parent.glob(".classes-*")):
        with suppress(OSError):
            if other == place or other.stat().st_mtime > time.time() - _KEPT:
                continue
            if other.is_dir():
                shutil.rmtree(other)
            else:
                other.unlink()


_ETHERNET = 1
_FIN, _SYN, _ACK = 0x01, 0x02, 0x10
_START = 1_700_000_000_000_000_000
_STEP = 1_000_000
_CLIENT, _BROKER = (b"\x0a\x00\x00\x01", 40_000), (b"\x0a\x00\x00\x02", 9092)
_BATCH = struct.pack(">qiibIhiqqqhii", 0, 49, 0, 2, 0, 0, 0, 5, 5, -1, -1, -1, 1)
_TOPIC = "orders"

# Api key, version, request, response; None for a request that is not answered.
_EXCHANGES: tuple[tuple[int, int, dict[str, Any], dict[str, Any] | None], ...] = (
    (18, 3, {"client_software_name": "netdiag", "client_software_version": "1"}, {}),
    (3, 12, {"topics": [{"name": _TOPIC}]}, {"brokers": [{"node_id": 1, "host": "kafka", "port": 9092}]}),
    *(
        (
            0,
            version,
            {"acks": acks, "topic_data": [{"name": _TOPIC, "partition_data": [{"index": 0, "records": _BATCH}]}]},
            {"responses": [{"name": _TOPIC, "partition_responses": [{"index": 0}]}]} if acks else None,
        )
        for version, acks in ((9, 1), (7, 0), (7, 1))
    ),
    *(
        (
            1,
            12,
            {"session_id": 7 if epoch else 0, "session_epoch": epoch, "topics": topics},
            {
                "session_id": 7,
                "responses": [{"topic": _TOPIC, "partitions": [{"partition_index": 0, "records": _BATCH}]}],
            },
        )
        for epoch, topics in ((0, [{"topic": _TOPIC, "partitions": [{"partition": 0, "fetch_offset": 3}]}]), (1, []))
    ),
    (2, 7, {"topics": [{"name": _TOPIC, "partitions": [{"partition_index": 0, "timestamp": -1}]}]}, {}),
    (8, 8, {"group_id": "group", "topics": [{"name": _TOPIC, "partitions": [{"partition_index": 0}]}]}, {}),
    (9, 7, {"group_id": "group", "topics": [{"name": _TOPIC, "partition_indexes": [0]}]}, {}),
    (11, 6, {"group_id": "group", "protocol_type": "consumer"}, {"members": []}),
    *((12, 4, {"group_id": "group", "generation_id": 1}, {}) for _ in range(8)),
)


def sample_pcap() -> bytes:
    """As tcpdump writes it, with nanoseconds."""
    records = (
        struct.pack("<IIII", *divmod(time, 1_000_000_000), len(data), len(data)) + data for time, data in _packets()
    )
    return struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, _ETHERNET) + b"".join(records)


def _packets() -> Iterator[tuple[int, bytes]]:
    next_sequence = [1000, 5000]
    for number, (side, flags, payload) in enumerate(_segments()):
        yield _START + number * _STEP, _frame(side, flags, next_sequence, payload)
        next_sequence[side] += len(payload) + bool(flags & (_SYN | _FIN))


def _segments() -> Iterator[tuple[int, int, bytes]]:
    yield 0, _SYN, b""
    yield 1, _SYN | _ACK, b""
    yield 0, _ACK, b""
    for number, (key, version, request, response) in enumerate(_EXCHANGES):
        asked = wire.encode_request(key, version, number, "sample", request)
        # In two pieces: a message may end anywhere.
        yield 0, _ACK, asked[:20]
        yield 0, _ACK, asked[20:]
        yield 1, _ACK, b""
        if response is not None:
            yield 1, _ACK, wire.encode_response(key, version, number, response)
    for side in (0, 1):
        yield side, _FIN | _ACK, b""


def _frame(side: int, flags: int, sequences: list[int], payload: bytes) -> bytes:
    (source, source_port), (destination, port) = (_CLIENT, _BROKER) if side == 0 else (_BROKER, _CLIENT)
    acknowledged = sequences[1 - side] if flags & _ACK else 0
    tcp = struct.pack(">HHIIBBHHH", source_port, port, sequences[side], acknowledged, 0x50, flags, 64_000, 0, 0)
    total = 20 + len(tcp) + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 6, 0) + source + destination
    return bytes(12) + b"\x08\x00" + ip + tcp + payload
