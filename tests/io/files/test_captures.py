"""Which captures paths lead to, and how one that cannot be read is told."""

import gzip
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from struct import pack

import pytest
import zstandard

from netdiag.errors import InputError
from netdiag.io.files.captures import capture_files, size_of
from netdiag.traffic import native
from netdiag.traffic.native import ReadOptions
from tests.native.files import START, block, enhanced, interface, option, pcap, section
from tests.native.packets import SECOND
from tests.native.reading import rows_of_files

PACKETS = ReadOptions(tables=frozenset({"packets"}))


def _file(folder: Path, name: str, seconds: Sequence[int], *, packed: str = "") -> str:
    data = pcap([(START + second * SECOND, f"{name} {second}".encode()) for second in seconds])
    path = folder / name
    path.write_bytes(
        gzip.compress(data)
        if packed == "gzip"
        else zstandard.ZstdCompressor().compress(data)
        if packed == "zstd"
        else data
    )
    return str(path)


def _seconds(*paths: str) -> list[tuple[int, str]]:
    """The times of all packets, and which file they are of."""
    return [
        ((row[0] - START) // SECOND, row[1])
        for ready in native.read(paths, PACKETS, names=[str(at) for at, _ in enumerate(paths)])
        for batch in ready.get("packets", ())
        for row in batch.rows()
    ]


def test_folders_and_patterns_lead_to_their_captures(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    (folder / "notes.txt").write_text("not a capture")
    (folder / "notes.gz").write_bytes(gzip.compress(b"not a capture"))
    (folder / "broken.gz").write_bytes(b"\x1f\x8b" + b"\xff" * 30)
    (folder / "empty").write_bytes(b"")
    (folder / ".hidden").write_bytes(pcap([(START, b"x")]))
    one = _file(folder, "one", [0])
    two = _file(folder, "two.txt", [1], packed="gzip")
    three = _file(folder / "below", "three.pcap", [2])
    odd = _file(folder, "odd[1].pcap", [3])
    assert capture_files([str(folder)]) == [odd, one, two]
    assert capture_files([str(folder / "t*")]) == [two]
    assert capture_files([odd]) == [odd]
    assert capture_files([str(folder / "**" / "*.pcap"), odd]) == [three, odd]
    # A file that is named twice is read once.
    assert len(capture_files([one, str(folder), os.path.join(str(folder), ".", "one")])) == 3
    assert (size_of(one), size_of("-"), size_of(str(folder))) == (os.path.getsize(one), None, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no such file or directory"),
        (lambda path: path.mkdir(), "this folder contains no captures"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_text("hello world"), "is not a packet capture: it begins with 68 65 6c 6c"),
        (lambda path: path.write_bytes(gzip.compress(b"hello world")), "is not a packet capture"),
        (lambda path: path.write_bytes(gzip.compress(b"")), "is empty"),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08" + b"\xff" * 30), "the gzip stream is damaged"),
        (lambda path: path.write_bytes(b"\x28\xb5\x2f\xfdgarbage"), "the zstd stream"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, make: object, message: str) -> None:
    path = tmp_path / "that.pcap"
    assert callable(make)
    make(path)
    with pytest.raises(InputError) as caught:
        native.read(capture_files([str(path)]), PACKETS)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_patterns_without_a_match_and_no_paths_are_refused(tmp_path: Path) -> None:
    for paths, said in (([str(tmp_path / "*.pcap")], "no file matches"), ([], "no captures to read")):
        with pytest.raises(InputError, match=said):
            capture_files(paths)
    with pytest.raises(InputError):
        native.check(capture_files(["a\0b"]))


def test_a_file_without_rights_is_said(tmp_path: Path) -> None:
    path = Path(_file(tmp_path, "secret", [0]))
    path.chmod(0)
    user = os.geteuid()
    # Root may read everything.
    os.seteuid(user or 65534)
    try:
        with pytest.raises(InputError, match="permission denied"):
            native.check([str(path)])
    finally:
        os.seteuid(user)


def test_files_are_read_in_the_order_of_their_packets(tmp_path: Path) -> None:
    names = [
        _file(tmp_path, "a", [0, 4, 5, 9, 30]),
        _file(tmp_path, "b", [1, 2, 6, 40], packed="gzip"),
        _file(tmp_path, "c", [3, 7, 8, 35, 36], packed="zstd"),
        _file(tmp_path, "d", []),
    ]
    found = _seconds(*names)
    assert [second for second, _ in found] == [*range(10), 30, 35, 36, 40]
    assert [name for _, name in found][:4] == ["0", "1", "1", "2"]


def test_packets_that_were_dropped_while_capturing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "dropped.pcapng"
    statistics = block(5, pack("<IQ", 0, 0) + option(5, pack("<Q", 7)) + option(0, b""))
    path.write_bytes(section() + interface() + enhanced(START // 1000, b"x" * 60) + statistics)
    losses = rows_of_files(path, tables=frozenset({"losses"}))["losses"]
    assert [(row.times, row.bytes) for row in losses if row.kind == "dropped"] == [(7, 0)]


@pytest.mark.parametrize("form", ["", "gzip", "zstd"])
def test_a_file_that_is_still_written_gives_all_full_packets(tmp_path: Path, form: str) -> None:
    rotated = [(START + index, os.urandom(1000)) for index in range(3000)]
    data = pcap(rotated, nanoseconds=True)
    path = tmp_path / "now.pcap"
    packed = {"": data, "gzip": gzip.compress(data, 1), "zstd": zstandard.ZstdCompressor().compress(data)}[form]
    path.write_bytes(packed[: len(packed) * 2 // 3])
    rows = [row for ready in native.read([str(path)], PACKETS) for batch in ready["packets"] for row in batch.rows()]
    assert 1500 < len(rows) < 3000
    assert {row[-1] for row in rows} == {1000}
    losses = ReadOptions(tables=frozenset({"losses"}))
    kinds = [row[4] for ready in native.read([str(path)], losses) for batch in ready["losses"] for row in batch.rows()]
    assert "truncated" in kinds


def test_a_pipe_is_read_while_it_is_written(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    data = section() + interface() + b"".join(enhanced((START + at * SECOND) // 1000, b"x") for at in range(3))

    def write() -> None:
        with open(fifo, "wb", buffering=0) as stream:
            stream.write(data[:-40])
            stream.write(data[-40:])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert [second for second, _ in _seconds(str(fifo))] == [0, 1, 2]
    finally:
        writer.join()


def test_standard_input_is_a_capture_too(tmp_path: Path) -> None:
    for packed in ("", "gzip", "zstd"):
        path = _file(tmp_path, "in", range(5), packed=packed)
        kept, handle = os.dup(0), os.open(path, os.O_RDONLY)
        reading, writing = os.pipe()
        try:
            os.write(writing, Path(path).read_bytes())
            os.close(writing)
            for descriptor in (handle, reading):
                os.dup2(descriptor, 0)
                assert [second for second, _ in _seconds("-")] == list(range(5))
        finally:
            os.dup2(kept, 0)
            for descriptor in (kept, handle, reading):
                os.close(descriptor)
