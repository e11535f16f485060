"""Keys and values: shown to whoever asks for them, as they are and bounded; nowhere else."""

import base64
import gzip
import random
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from netdiag.traffic import native
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES
from tests.native.conversations import (
    KEYS,
    MARK,
    SECRET,
    START,
    TIME,
    batch,
    produce,
    produced_and_fetched,
    repacked,
)
from tests.native.files import pcap_file
from tests.native.packets import Packet, TcpConnection
from tests.native.reading import rows_of_packets

PRODUCE, FETCH = 0, 1
MOST_SHOWN = 4096
MOST_HEADERS = 100
ON: dict[str, Any] = {"tables": frozenset({"records", "losses"})}
LARGE = batch([(b"k", b"x" * 1000, [])] * 400)


def records(data: bytes, **options: Any) -> Sequence[Any]:
    """What is told of a batch that is fetched; nothing may be lost."""
    rows = rows_of_packets(produced_and_fetched(data).packets, **{**ON, **options})
    assert rows["losses"] == []
    return [row for row in rows["records"] if row.api_key == FETCH]


def unread(data: bytes) -> set[tuple[str, int, str]]:
    """What is said of records of a Fetch that cannot be told: kind, bytes, detail."""
    losses = rows_of_packets(produced_and_fetched(data).packets, **ON)["losses"]
    return {(row.kind, row.bytes, row.detail) for row in losses if row.direction == "response"}


def xerial(data: bytes, block: int = 32_768) -> bytes:
    """As snappy-java's SnappyOutputStream frames it, which the Java client writes."""
    parts = [b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)]
    for at in range(0, len(data), block):
        packed = pa.Codec("snappy").compress(data[at : at + block], asbytes=True)
        parts.append(struct.pack(">i", len(packed)) + packed)
    return b"".join(parts)


def _arrow(codec: str) -> Callable[[bytes], bytes]:
    return lambda data: pa.Codec(codec).compress(data, asbytes=True)


# Name and number of the codec, and who packs.
WAYS: Mapping[str, tuple[str, int, Callable[[bytes], bytes]]] = {
    "none": ("none", 0, bytes),
    "gzip": ("gzip", 1, gzip.compress),
    "snappy": ("snappy", 2, _arrow("snappy")),
    "xerial": ("snappy", 2, xerial),
    "lz4": ("lz4", 3, _arrow("lz4")),
    "zstd": ("zstd", 4, _arrow("zstd")),
}


def test_records_of_requests_and_responses() -> None:
    rows = rows_of_packets(produced_and_fetched(batch(base=100)).packets, **ON)
    found = rows["records"]
    assert [(row.api_key, row.correlation_id) for row in found] == [(PRODUCE, 3)] * 4 + [(FETCH, 5)] * 4
    assert [row.offset for row in found] == [None] * 4 + [100, 101, 102, 103]
    assert [row.offset_delta for row in found] == [0, 1, 2, 3] * 2
    assert {(row.client_id, row.topic, row.topic_id, row.partition, row.codec) for row in found} == {
        ("app", "orders", None, 4, "none")
    }
    assert found[0][10:] == (TIME, "key", "text", 3, "value" * 20, "text", 100, ("trace=7",), "none", -1)
    assert found[1][11:18] == (None, None, None, base64.b64encode(b"\xff\x00").decode(), "base64", 2, None)
    assert found[2][11:18] == ("", "text", 0, None, None, None, ("a=", "b=base64:/g=="))
    assert [row.value_bytes for row in found[3::4]] == [15_000] * 2
    assert [len(row.value or "") for row in found[3::4]] == [MOST_SHOWN] * 2
    assert rows["losses"] == []


@pytest.mark.parametrize("way", WAYS)
def test_every_codec_gives_what_was_written(way: str) -> None:
    name, codec, pack = WAYS[way]
    found = records(repacked(batch(base=100), codec, pack))
    assert [(row.key_bytes, row.value_bytes) for row in found] == [
        (None if key is None else len(key), None if value is None else len(value)) for key, value, _ in KEYS
    ]
    assert [row.key for row in found] == ["key", None, "", "schlüssel"]
    assert [row.offset for row in found] == [100, 101, 102, 103]
    assert [row.timestamp for row in found] == [TIME + number for number in range(4)]
    assert {row.codec for row in found} == {name}


def test_the_producer_is_that_of_the_batch() -> None:
    data = batch(base=100, producer_id=77, producer_epoch=1, base_sequence=5) + batch(base=200)
    assert [row.producer_id for row in records(data)] == [77] * 4 + [-1] * 4


def test_where_the_broker_gives_the_time_it_is_that_of_the_batch() -> None:
    data = bytearray(batch())
    data[22] |= 8
    assert [row.timestamp for row in records(bytes(data))] == [TIME + 3] * 4


def test_marks_of_transactions_are_no_records() -> None:
    data = bytearray(batch())
    data[22] |= 0x20
    assert records(bytes(data)) == []


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages(magic: int) -> None:
    found = records(batch(magic=magic) + batch())
    assert [row.key for row in found] == ["key", None, "", "schlüssel"] * 2
    assert [row.timestamp for row in found[:4]] == ([TIME + number for number in range(4)] if magic else [None] * 4)
    data = batch(magic=magic, codec=1)
    assert unread(data) == {("undecoded", len(data), f"compressed with gzip in message format {magic}")}


def test_what_cannot_be_unpacked_is_counted_and_the_next_batch_read() -> None:
    strange = repacked(batch(), 6, bytes)
    assert unread(strange + batch()) == {("undecoded", len(strange), "compressed with CODEC(6)")}
    rows = rows_of_packets(produced_and_fetched(strange + batch()).packets, **ON)["records"]
    assert len(rows) == 2 * 4
    lying = bytearray(batch())
    lying[57:61] = b"\x7f\xff\xff\xff"
    assert unread(bytes(lying)) == {("undecoded", len(lying), "records that cannot be read")}


def test_more_headers_than_are_told() -> None:
    (row,) = records(batch([(None, b"v", [("n", b"1")] * (MOST_HEADERS + 9))]))
    assert len(row.headers) == MOST_HEADERS


def test_messages_that_are_read_as_they_pass_by_otherwise_are_kept() -> None:
    data = LARGE + batch(KEYS, base=400)
    assert len(data) > 400_000
    assert len(records(data)) == 404


def test_only_the_topics_and_clients_asked_for() -> None:
    assert records(batch(), topics=frozenset({"other"})) == []
    assert len(records(batch(), topics=frozenset({"orders"}))) == 4
    assert records(batch(), clients=frozenset({"nobody"})) == []


def test_what_the_snap_length_cut_gives_no_record() -> None:
    packets = [packet._replace(data=packet.data[:256]) for packet in produced_and_fetched(batch()).packets]
    assert rows_of_packets(packets, **ON)["records"] == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, (None, None)),
        (b"", ("", "text")),
        (b"line\tone\r\ntwo", ("line\tone\r\ntwo", "text")),
        (b"\x00\x00\x00\x07", ("AAAABw==", "base64")),
        (b"\x1b[31m", ("G1szMW0=", "base64")),
        ("\x9b31m".encode(), ("wpszMW0=", "base64")),
        (b"\xed\xa0\x80", ("7aCA", "base64")),
        ("ü".encode() * 3000, ("ü" * 2048, "text")),
        (b"a" + "ü".encode() * 3000, ("a" + "ü" * 2047, "text")),
        ("ü".encode()[:1], ("ww==", "base64")),
    ],
)
def test_how_bytes_are_shown(data: bytes | None, expected: tuple[str | None, str | None]) -> None:
    (row,) = records(batch([(b"k", data, [])]))
    assert (row.value, row.value_encoding) == expected


def test_nobody_who_has_not_asked_sees_a_key_or_a_value(tmp_path: Any) -> None:
    packets = produced_and_fetched(batch(SECRET) + batch(SECRET, codec=1, base=50)).packets
    assert len(rows_of_packets(packets, **ON)["records"]) == 12
    assert _told(packets, frozenset(NAMES), tmp_path / "a.pcap")
    for tables in (frozenset(NAMES), *(frozenset({name}) for name in NAMES), frozenset({"packets", "segments"})):
        for text in _told(packets, tables, tmp_path / "a.pcap"):
            assert MARK.decode() not in text
            assert base64.b64encode(b"v" + MARK).decode()[:12] not in text
    rows = rows_of_packets(packets)
    assert (len(rows["batches"]), len(rows["exchanges"])) == (4, 2)


def _told(packets: Sequence[Packet], tables: frozenset[str], path: Any) -> Sequence[str]:
    """All that is said of packets, in every form."""
    path.write_bytes(pcap_file(packets))
    said = []
    for ready in native.read([str(path)], ReadOptions(tables=tables)):
        for batches in ready.values():
            for each in batches:
                said += [repr(each.rows()), each.to_csv().decode(), each.to_json().decode()]
                said.append(repr(pa.record_batch(each).to_pylist()))
    return said


# How many records a capture has, how many partitions are told as cut, and the peak of memory in MiB without what the
# interpreter and pyarrow take.
COUNT = """
import sys
import pyarrow as pa
from netdiag.traffic import native

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024

before, records, cut = peak(), 0, 0
for ready in native.read([sys.argv[1]], native.ReadOptions(tables=frozenset({"records", "losses"}))):
    records += sum(pa.record_batch(batch).num_rows for batch in ready.get("records", ()))
    cut += sum(row[4] == "limit" for batch in ready.get("losses", ()) for row in batch.rows())
print(records, cut, peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("noise", [900_000, 0], ids=["as-clients-send", "bombs"])
def test_batches_that_unpack_to_much_are_held_in_bounded_memory(noise: int, tmp_path: Any) -> None:
    """Sixty batches of 16 MB, between others that cannot be compressed, and one behind the other."""
    records = 3900
    plain = batch([(b"k", b"x" * 4000, [])] * records)
    packed = produce(repacked(plain, 4, _arrow("zstd")))
    around = produce(batch([(b"k", random.Random(1).randbytes(9000), [])] * (noise // 9000)))
    packets: list[Packet] = []
    for number in range(60):
        for first, sent in ((0, packed), (1, around)):
            made = TcpConnection(
                f"10.0.{first}.{number + 1}:40000",
                "10.9.1.1:9092",
                start=START + number * 1000,
                sequences=(1000 * number + first, 70_000 * number + first),
            ).open()
            for at in range(0, len(sent), 60_000):
                made.ask(sent[at : at + 60_000])
            packets += made.close().packets
    path = tmp_path / "a.pcap"
    path.write_bytes(pcap_file(packets, 1 << 20))
    said = subprocess.run([sys.executable, "-c", COUNT, path], check=True, capture_output=True, text=True).stdout
    found, cut, memory = (int(word) for word in said.split())
    if noise:
        assert (found, cut) == (60 * (records + noise // 9000), 0)
    else:
        assert 60 * records > found > 10_000
        assert cut > 0
    assert memory < 240
