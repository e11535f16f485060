"""Capture files as people name them: one, many, folders, patterns, compressed, piped, broken."""

import gzip
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pytest
import zstandard

from netdiag.errors import InputError, MissingExtra
from netdiag.io import captures
from netdiag.io.captures import Captures, read_captures
from tests.traffic.engine.capture_files import SECOND, START, enhanced, interface, pcap, section


def _file(folder: Path, name: str, seconds: Sequence[int], *, pack: str = "") -> str:
    data = pcap([(START + second * SECOND, f"{name} {second}".encode()) for second in seconds])
    path = folder / name
    path.write_bytes(
        gzip.compress(data) if pack == "gzip" else zstandard.ZstdCompressor().compress(data) if pack == "zstd" else data
    )
    return str(path)


def _seconds(paths: Sequence[str]) -> list[tuple[int, int]]:
    return [((packet.time - START) // SECOND, packet.file) for packet in read_captures(paths)]


def test_files_that_follow_one_another_are_open_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [_file(tmp_path, f"{index:03}.pcap", [index * 10, index * 10 + 9]) for index in range(50)]
    opened: list[BinaryIO] = []
    real = captures._opened

    def watched(path: str) -> BinaryIO:
        opened.append(real(path))
        assert sum(not each.closed for each in opened) <= 2
        return opened[-1]

    monkeypatch.setattr(captures, "_opened", watched)
    found = _seconds(list(reversed(names)))
    assert [second for second, _ in found] == [index * 10 + part for index in range(50) for part in (0, 9)]
    assert found[0][1] == 49


def test_files_that_overlap_are_interleaved(tmp_path: Path) -> None:
    names = [
        _file(tmp_path, "a", [0, 4, 5, 9, 30]),
        _file(tmp_path, "b", [1, 2, 6, 40], pack="gzip"),
        _file(tmp_path, "c", [3, 7, 8, 35, 36], pack="zstd"),
        _file(tmp_path, "d", []),
    ]
    found = _seconds(names)
    assert [second for second, _ in found] == [*range(10), 30, 35, 36, 40]
    assert [index for _, index in found][:4] == [0, 1, 1, 2]


def test_a_file_keeps_its_own_order(tmp_path: Path) -> None:
    names = [_file(tmp_path, "a", [0, 20, 3, 4, 25]), _file(tmp_path, "b", [1, 10, 22])]
    assert [second for second, _ in _seconds(names)] == [0, 1, 10, 20, 3, 4, 22, 25]


def test_a_time_window_reaches_the_reader(tmp_path: Path) -> None:
    names = [_file(tmp_path, "a", range(10)), _file(tmp_path, "b", range(10, 20))]
    read = Captures(names, since_ns=START + 8 * SECOND, until_ns=START + 12 * SECOND)
    assert [(packet.time - START) // SECOND for packet in read.packets()] == [8, 9, 10, 11]
    assert [(file.account.packets, file.account.filtered) for file in read.files] == [(10, 8), (10, 8)]
    assert [file.read_bytes for file in read.files] == [file.size for file in read.files]


def test_folders_and_patterns_lead_to_their_captures(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    (folder / "notes.txt").write_text("not a capture")
    (folder / "notes.gz").write_bytes(gzip.compress(b"not a capture"))
    (folder / "broken.gz").write_bytes(b"\x1f\x8b" + b"\xff" * 30)
    (folder / "empty").write_bytes(b"")
    (folder / ".hidden").write_bytes(pcap([(START, b"x")]))
    one = _file(folder, "one", [0])
    two = _file(folder, "two.txt", [1], pack="gzip")
    three = _file(folder / "below", "three.pcap", [2])
    odd = _file(folder, "odd[1].pcap", [3])
    names = {path: [file.name for file in Captures([path]).files] for path in (str(folder), str(folder / "t*"), odd)}
    assert names == {str(folder): [odd, one, two], str(folder / "t*"): [two], odd: [odd]}
    assert [file.name for file in Captures([str(folder / "**" / "*.pcap"), odd]).files] == [three, odd]
    # A file that is named twice is read once.
    assert len(Captures([one, str(folder), os.path.join(str(folder), ".", "one")]).files) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no such file or directory"),
        (lambda path: path.mkdir(), "no capture lies in this folder"),
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
        list(read_captures([str(path)]))
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_patterns_without_a_match_and_no_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file matches"):
        Captures([str(tmp_path / "*.pcap")])
    with pytest.raises(InputError, match="no capture to read"):
        Captures([])
    with pytest.raises(InputError):
        Captures(["a\0b"])


def test_a_file_without_rights_is_said(tmp_path: Path) -> None:
    path = Path(_file(tmp_path, "secret", [0]))
    path.chmod(0)
    user = os.geteuid()
    # Root may read everything.
    os.seteuid(user or 65534)
    try:
        with pytest.raises(InputError, match="permission denied"):
            Captures([str(path)])
    finally:
        os.seteuid(user)


def test_a_missing_library_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _file(tmp_path, "packed", [0], pack="zstd")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtra, match="zstandard is not installed") as caught:
        Captures([path])
    assert caught.value.where == path


@pytest.mark.parametrize("pack", ["", "gzip", "zstd"])
def test_a_file_that_is_still_written_gives_all_full_packets(tmp_path: Path, pack: str) -> None:
    rotated = [(START + index, os.urandom(1000)) for index in range(3000)]
    data = pcap(rotated, nanoseconds=True)
    packed = (
        gzip.compress(data, 1)
        if pack == "gzip"
        else zstandard.ZstdCompressor().compress(data)
        if pack == "zstd"
        else data
    )
    path = tmp_path / "now.pcap"
    path.write_bytes(packed[: len(packed) * 2 // 3])
    read = Captures([str(path)])
    packets = list(read.packets())
    assert 1500 < len(packets) < 3000
    assert [bytes(packet.data) for packet in packets] == [content for _, content in rotated[: len(packets)]]
    assert "truncated" in {loss.kind for loss in read.files[0].losses}


def test_a_pipe_is_read_while_it_is_written(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    data = section() + interface() + b"".join(enhanced((START + second * SECOND) // 1000, b"x") for second in range(3))
    go_on = threading.Event()

    def write() -> None:
        with open(fifo, "wb", buffering=0) as stream:
            stream.write(data[:-40])
            go_on.wait(10)
            stream.write(data[-40:])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        packets = read_captures([str(fifo)])
        assert [next(packets).number, next(packets).number] == [1, 2]
        go_on.set()
        assert [packet.number for packet in packets] == [3]
    finally:
        go_on.set()
        writer.join()


def test_standard_input_is_a_capture_too(tmp_path: Path) -> None:
    for pack in ("", "gzip", "zstd"):
        path = _file(tmp_path, "in", range(5), pack=pack)
        kept, handle = os.dup(0), os.open(path, os.O_RDONLY)
        reading, writing = os.pipe()
        try:
            os.write(writing, Path(path).read_bytes())
            os.close(writing)
            for descriptor in (handle, reading):
                os.dup2(descriptor, 0)
                assert [second for second, _ in _seconds(["-"])] == list(range(5))
        finally:
            os.dup2(kept, 0)
            for descriptor in (kept, handle, reading):
                os.close(descriptor)
