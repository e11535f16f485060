"""What the engine says of logs: of batches made by another program, of damaged ones, and of the indexes beside them."""

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from kafka.record.util import calc_crc32c

from netdiag.traffic import native
from netdiag.traffic.native import LogFile
from netdiag.traffic.tables import LOG_NAMES
from tests.native.conversations import TIME, Written, batch
from tests.native.log_files import CODECS, changed, messages, moved, packed
from tests.native.reading import row_class

KEYS: list[Written] = [(b"k%d" % number, b"v%d" % number, [("h", b"x")]) for number in range(3)]
NAME = f"{0:020}.log"


def rows(folder: Path, files: Mapping[str, bytes], most_shown: int | None = 100) -> Mapping[str, Sequence[Any]]:
    """Every row of a log with its indexes, by table; the log is called `t-0/N.log`."""
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    read = [
        LogFile(path=str(folder / name), name=f"t-0/{name}", topic="t", partition=0, base_offset=0)
        for name in files
        if name.endswith((".log", ".snapshot"))
    ]
    found: dict[str, list[Any]] = {name: [] for name in LOG_NAMES}
    for ready in native.read_logs(read, dict.fromkeys(LOG_NAMES), most_shown=most_shown):
        for name, batches in ready.items():
            found[name] += (row_class(name)(*row) for each in batches for row in each.rows())
    return found


def log(*batches: bytes) -> bytes:
    """Batches of three records each, one behind the other, with offsets."""
    return b"".join(moved(data, 3 * number) for number, data in enumerate(batches))


@pytest.mark.parametrize(
    ("magic", "codec"), [(magic, codec) for magic in range(3) for codec in range(5) if magic == 2 or codec < 4]
)
def test_batches_of_every_format_and_codec(tmp_path: Path, magic: int, codec: int) -> None:
    if magic == 2:
        data = packed(batch(KEYS), codec)
    else:
        pairs = [(key or b"", value or b"") for key, value, _ in KEYS]
        data = messages(pairs, magic=magic, codec=codec, base=0, time=TIME)
    found = rows(tmp_path, {NAME: data})
    assert found["log_problems"] == []
    assert [(row.offset, row.key, row.value) for row in found["log_records"]] == [
        (number, f"k{number}", f"v{number}") for number in range(3)
    ]
    assert {row.codec for row in found["log_records"]} == {CODECS[codec]}
    timestamps = [row.timestamp for row in found["log_records"]]
    assert timestamps == ([None] * 3 if magic == 0 else [TIME, TIME + 1, TIME + 2])
    entries = found["log_batches"]
    assert all(row.checksum_valid and row.magic == magic for row in entries)
    assert (entries[0].base_offset, entries[-1].last_offset, sum(row.records for row in entries)) == (0, 2, 3)
    (segment,) = found["log_segments"]
    assert (segment.records, segment.first_offset, segment.last_offset, segment.problems) == (3, 0, 2, 0)
    assert (segment.bytes, segment.read_bytes, segment.codecs) == (len(data), len(data), (CODECS[codec],))


def test_keys_and_values_are_there_only_where_they_are_asked_for(tmp_path: Path) -> None:
    record = rows(tmp_path, {NAME: batch(KEYS)}, None)["log_records"][0]
    assert (record.key, record.value, record.headers) == (None, None, ("h",))
    assert (record.key_bytes, record.value_bytes) == (2, 2)
    record = rows(tmp_path, {NAME: batch(KEYS)}, 1)["log_records"][0]
    assert (record.key, record.value, record.headers) == ("k", "v", ("h=x",))


def test_what_a_control_batch_says(tmp_path: Path) -> None:
    marks: list[Written] = [(struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 7), []) for kind in (0, 1, 2, 9)]
    data = changed(batch(marks), 21, ">h", 0x30)
    found = rows(tmp_path, {NAME: data})
    assert [(row.control, row.coordinator_epoch) for row in found["log_records"]] == [
        ("ABORT", 7),
        ("COMMIT", 7),
        ("LEADER_CHANGE", None),
        ("CONTROL(9)", None),
    ]
    assert (found["log_batches"][0].control, found["log_batches"][0].transactional) == (True, True)
    assert (found["log_segments"][0].records, found["log_segments"][0].control_records) == (0, 4)


def test_a_delete_horizon_stands_where_the_first_timestamp_was(tmp_path: Path) -> None:
    data = changed(batch(KEYS), 21, ">h", 0x40)
    (row,) = rows(tmp_path, {NAME: data})["log_batches"]
    assert (row.first_timestamp, row.delete_horizon, row.max_timestamp) == (None, TIME, TIME + 2)


ONE, TWO, THREE = (batch(KEYS) for _ in range(3))
WHOLE = log(ONE, TWO, THREE)
SIZE = len(ONE)


def flipped(at: int) -> Callable[[bytes], bytes]:
    """One byte is another."""
    return lambda data: data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


@pytest.mark.parametrize(
    ("damage", "problems", "offsets"),
    [
        (lambda data: data[:-1], [("truncated", 2 * SIZE)], [0, 1, 2, 3, 4, 5]),
        (lambda data: data[: 2 * SIZE + 10], [("truncated", 2 * SIZE)], [0, 1, 2, 3, 4, 5]),
        (lambda data: data + bytes(5000), [("zeros", 3 * SIZE)], list(range(9))),
        (lambda data: data + bytes(5), [("zeros", 3 * SIZE)], list(range(9))),
        (lambda data: data + bytes(5000) + b"x", [("garbage", 3 * SIZE)], list(range(9))),
        (lambda data: data + b"garbage" * 9, [("garbage", 3 * SIZE)], list(range(9))),
        # The value of a record of the second batch.
        (flipped(2 * SIZE - 1), [("checksum", SIZE)], [0, 1, 2, 6, 7, 8]),
        (
            lambda data: flipped(2 * SIZE - 1)(flipped(3 * SIZE - 1)(data)),
            [("checksum", SIZE), ("garbage", 2 * SIZE)],
            [0, 1, 2],
        ),
        # Its length, which no checksum protects: shorter, negative, and huge.
        (
            lambda data: data[: SIZE + 11] + b"\x32" + data[SIZE + 12 :],
            [("checksum", SIZE), ("truncated", None)],
            [0, 1, 2],
        ),
        (lambda data: data[: SIZE + 8] + b"\xff" * 4 + data[SIZE + 12 :], [("garbage", SIZE)], [0, 1, 2]),
        (lambda data: data[: SIZE + 8] + b"\x7f" + data[SIZE + 9 :], [("truncated", SIZE)], [0, 1, 2]),
        # Its offset, which none protects either.
        (lambda data: data[:SIZE] + bytes(8) + data[SIZE + 8 :], [("order", SIZE)], [0, 1, 2, 0, 1, 2, 6, 7, 8]),
        # Its magic.
        (lambda data: data[: SIZE + 16] + b"\x09" + data[SIZE + 17 :], [("garbage", SIZE)], [0, 1, 2]),
    ],
)
def test_damage_is_told_and_becomes_no_record(
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    problems: Sequence[tuple[str, int | None]],
    offsets: Sequence[int],
) -> None:
    found = rows(tmp_path, {NAME: damage(WHOLE)})
    assert [row.offset for row in found["log_records"]] == offsets
    told = [(row.kind, row.position) for row in found["log_problems"]]
    assert [kind for kind, _ in told] == [kind for kind, _ in problems]
    assert all(at is None or at == place for (_, place), (_, at) in zip(told, problems, strict=True))
    assert found["log_segments"][0].problems == len(problems)


@pytest.mark.parametrize(
    "data",
    [
        changed(ONE, 57, ">i", 4),  # more records than there are
        changed(ONE, 57, ">i", 2),
        changed(ONE, 57, ">i", -1),
        changed(ONE, 23, ">i", 1),  # an offset behind the last
        changed(ONE, 21, ">h", 1),  # no gzip
        changed(ONE, 21, ">h", 7),  # no codec
        moved(ONE, (1 << 63) - 2),
    ],
)
def test_records_that_are_not_as_their_header_says(tmp_path: Path, data: bytes) -> None:
    found = rows(tmp_path, {NAME: data})
    assert found["log_problems"][0].kind == "records"
    assert found["log_records"] == []


def test_a_segment_that_begins_with_an_offset_before_its_name(tmp_path: Path) -> None:
    path = tmp_path / f"{9:020}.log"
    path.write_bytes(ONE)
    file = LogFile(path=str(path), name="t-0/9.log", topic="t", partition=0, base_offset=9)
    (ready,) = native.read_logs([file], {"log_problems": ("kind", "detail")})
    assert ready["log_problems"][0].rows() == [
        ("order", "a batch begins at offset 0, before that of the file's name"),
    ]


INDEX = struct.pack(">ii", 5, SIZE) + struct.pack(">ii", 8, 2 * SIZE)
TIMES = struct.pack(">qi", TIME + 2, 5)
ABORTED = struct.pack(">hqqqq", 0, 1, 3, 5, 6)


@pytest.mark.parametrize(
    ("files", "details"),
    [
        ({"index": INDEX, "timeindex": TIMES, "txnindex": ABORTED}, []),
        # Room that was made for entries.
        ({"index": INDEX + bytes(800), "timeindex": TIMES + bytes(1200)}, []),
        ({"index": INDEX[:-3]}, ["index: has 13 bytes, which is no multiple of 8"]),
        (
            {"index": struct.pack(">ii", 5, SIZE + 1) + INDEX[8:]},
            [f"index: entry 0 points at byte {SIZE + 1}, where no"],
        ),
        ({"index": INDEX + struct.pack(">ii", 9, 5 * SIZE)}, [f"index: entry 2 points at byte {5 * SIZE}, where no"]),
        ({"index": struct.pack(">ii", 2, SIZE)}, ["index: entry 0 has offset 2 for a batch that begins at offset 3"]),
        ({"index": INDEX[8:] + INDEX[:8]}, [f"index: entry 1 points at byte {SIZE}, where no batch begins"]),
        ({"timeindex": struct.pack(">qi", TIME, 5)}, [f"timeindex: entry 0 has timestamp {TIME} up to offset 5"]),
        (
            {"timeindex": struct.pack(">qi", TIME + 2, 9)},
            ["timeindex: entry 0 is about offset 9, and the log ends at 9"],
        ),
        ({"txnindex": ABORTED[:2] + ABORTED[2:] + b"\1"}, ["txnindex: has 35 bytes, which is no multiple of 34"]),
        ({"txnindex": b"\0\1" + ABORTED[2:]}, ["txnindex: entry 0 has version 1"]),
        ({"txnindex": struct.pack(">hqqqq", 0, 1, 3, 9, 9)}, ["txnindex: entry 0 is about offsets 3 to 9"]),
    ],
)
def test_indexes_are_held_against_the_log(tmp_path: Path, files: Mapping[str, bytes], details: Sequence[str]) -> None:
    found = rows(tmp_path, {NAME: WHOLE, **{f"{0:020}.{ending}": data for ending, data in files.items()}})
    told = [f"{row.file.rpartition('.')[2]}: {row.detail}" for row in found["log_problems"]]
    assert [text[: len(detail)] for text, detail in zip(told, details, strict=True)] == list(details)


def snapshot(producers: int, version: int = 1, cut: int = 0) -> bytes:
    """Of producers that wrote nothing yet."""
    body = struct.pack(">i", producers) + bytes(46) * (producers - cut)
    return struct.pack(">hI", version, calc_crc32c(body)) + body


@pytest.mark.parametrize(
    ("data", "details"),
    [
        (snapshot(2), []),
        (snapshot(0), []),
        (snapshot(2, cut=1), ["says that it has 2 producers, and has 56 bytes"]),
        (snapshot(1, version=3), ["has version 3, which is not 1"]),
        (snapshot(1)[:-1], ["its checksum does not hold"]),
        (b"\0\1", ["ends after 2 bytes"]),
    ],
)
def test_snapshots_of_producers(tmp_path: Path, data: bytes, details: Sequence[str]) -> None:
    found = rows(tmp_path, {f"{3:020}.snapshot": data})
    assert [row.detail for row in found["log_problems"]] == details
    assert found["log_segments"] == []


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    files = [LogFile(path=str(tmp_path / name), name=name) for name in ("missing", "folder", "link")]
    (ready,) = native.read_logs(files, {"log_problems": ("file", "detail")})
    assert ready["log_problems"][0].rows() == [
        ("missing", "is not there"),
        ("folder", "is not a regular file"),
        ("link", "is not a regular file"),
    ]


def test_many_records_come_in_batches_of_rows(tmp_path: Path) -> None:
    """So that a batch that unpacks to millions of records takes no more memory than its bytes."""
    data = packed(batch([(None, b"", [])] * 40_000), 4)
    (tmp_path / NAME).write_bytes(data)
    file = LogFile(path=str(tmp_path / NAME), name=NAME)
    sizes = [
        len(each) for ready in native.read_logs([file], {"log_records": ("offset",)}) for each in ready["log_records"]
    ]
    assert (sum(sizes), max(sizes)) == (40_000, 8192)
