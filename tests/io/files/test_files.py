"""Files are read within bounds and written whole or not at all."""

import gzip
import io
import itertools
import os
import stat
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from struct import pack

import pytest
import zstandard

from netdiag.errors import InputError
from netdiag.io.files import (
    BASE_NAMES,
    CONFIGURATION_LIMIT,
    OVERRIDE_NAMES,
    config_candidates,
    files_of_folder,
    is_within,
    read_config,
    read_file,
    read_inside,
    read_optional,
    read_stdin,
    stamps,
    wait_for_change,
    wait_for_reader,
    write_changes,
    write_file,
)
from netdiag.io.files.captures import capture_files, size_of
from netdiag.io.files.playbooks import find, read_bundle, shipped, write_bundle
from netdiag.playbook.bundle import LARGEST, to_json
from netdiag.traffic import native
from netdiag.traffic.native import ReadOptions
from tests.house.tree import ROOT
from tests.native.files import START, block, enhanced, interface, option, pcap, section
from tests.native.packets import SECOND
from tests.native.reading import rows_of_files
from tests.playbook.examples import TEXT


def test_reading(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\r\n")
    assert read_file(str(tmp_path / "a")) == b"\xff\r\n"
    assert read_optional(str(tmp_path / "a")) == b"\xff\r\n"
    assert read_optional(str(tmp_path / "b")) is None


@pytest.mark.parametrize("name", ["gone", "folder", "a\0b", "x" * 5000])
def test_what_cannot_be_read_is_an_input_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError) as error:
        read_file(str(tmp_path / name))
    assert error.value.where == str(tmp_path / name)
    assert "\n" not in error.value.message


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_reading_is_bounded() -> None:
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_file("/dev/zero", limit=1024 * 1024)


def test_standard_input_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * 11)))
    with pytest.raises(InputError):
        read_stdin(limit=10)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * 10)))
    assert read_stdin(limit=10) == b"x" * 10
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="closed"):
        read_stdin()


def test_composes_order(tmp_path: Path) -> None:
    assert files_of_folder(str(tmp_path)) == ()
    (tmp_path / "docker-compose.override.yaml").touch()
    assert files_of_folder(str(tmp_path)) == ()
    for name in reversed(BASE_NAMES):
        (tmp_path / name).touch()
        assert files_of_folder(str(tmp_path)) == (str(tmp_path / name), str(tmp_path / "docker-compose.override.yaml"))
    for name in reversed(OVERRIDE_NAMES):
        (tmp_path / name).touch()
        assert files_of_folder(str(tmp_path)) == (str(tmp_path / "compose.yaml"), str(tmp_path / name))


@pytest.mark.skipif(os.name == "nt", reason="needs Linux")
def test_pipes_and_devices(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    assert read_optional(pipe) is None
    assert read_optional("/dev/zero") is None
    with pytest.raises(InputError, match=r"standard input sent nothing within 0\.2 s"):
        read_file(pipe, patience=0.2)
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_file("/dev/zero", limit=1024 * 1024)
    writer = threading.Thread(target=lambda: Path(pipe).write_bytes(b"a" * 200_000))
    writer.start()
    assert read_file(pipe) == b"a" * 200_000
    writer.join()


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_file(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 or os.name == "nt"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_file(str(tmp_path / "a"), b"new")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX links")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_file(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"newer")
    with pytest.raises(InputError, match="changed"):
        write_file(str(path), b"new", expected=b"old")
    assert path.read_bytes() == b"newer"


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="cannot be written: no space left"):
        write_file(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
def test_what_is_no_regular_file_is_written_to() -> None:
    write_file("/dev/null", b"x")
    assert not Path("/dev/null").is_file()


def test_changes_are_written_when_no_file_has_changed_since(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")
    with pytest.raises(InputError, match="has changed since it was read"):
        write_changes({str(one): (b"1", b"x"), str(two): (b"other", b"y")})
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    write_changes({str(one): (b"1", b"x"), str(two): (b"2", b"y")})
    assert (one.read_bytes(), two.read_bytes()) == (b"x", b"y")


def test_what_lies_within_a_folder_is_told_with_links_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.write_bytes(b"")
    (inside / "link").symlink_to(outside)
    assert is_within(str(inside / "new"), str(inside))
    assert is_within(str(outside), str(tmp_path))
    assert not is_within(str(inside / "link"), str(inside))
    assert not is_within(str(inside / ".." / "out"), str(inside))
    assert not is_within(str(tmp_path / "inside"), str(inside))


def test_files_inside_a_folder(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "conf").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"s")
    (project / "conf" / "a").write_bytes(b"a")
    (project / "link").symlink_to("conf/a")
    (project / "out").symlink_to(tmp_path / "secret")
    (project / "folder").symlink_to(tmp_path)
    os.mkfifo(project / "pipe")
    folder = str(project)
    assert read_inside(folder, f"{folder}/conf/a") == b"a"
    assert read_inside(folder, f"{folder}/link") == b"a"
    for name in ("out", "folder/secret", "../secret", "conf", "none", "pipe", "\0", "conf/a/b"):
        assert read_inside(folder, f"{folder}/{name}") is None
    assert read_inside(folder, f"{folder}/conf/a", limit=0) is None
    assert read_inside(folder, str(tmp_path / "secret")) is None


def test_every_change_shows(tmp_path: Path) -> None:
    path = tmp_path / "f"
    seen = [stamps([str(path)])]
    path.write_bytes(b"one")
    seen.append(stamps([str(path)]))
    path.write_bytes(b"other")
    seen.append(stamps([str(path)]))
    (tmp_path / "g").write_bytes(b"third")
    os.utime(tmp_path / "g", ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    (tmp_path / "g").replace(path)
    seen.append(stamps([str(path)]))
    assert seen[0] == {str(path): None}
    assert all(earlier != later for earlier, later in itertools.pairwise(seen))
    assert stamps([str(path)]) == seen[-1]


def test_a_name_that_no_file_can_have_is_absent() -> None:
    assert stamps(["a\0b", "x" * 5000]) == {"a\0b": None, "x" * 5000: None}


def test_waiting_ends_with_a_change(tmp_path: Path) -> None:
    path = tmp_path / "f"
    before = stamps([str(path)])
    thread = threading.Thread(target=wait_for_change, args=(before,), kwargs={"every": 0.01}, daemon=True)
    thread.start()
    thread.join(0.1)
    assert thread.is_alive()
    path.touch()
    thread.join(10)
    assert not thread.is_alive()


def test_a_reader_that_goes_away_ends_the_wait() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        assert wait_for_reader(stream, 0)
        assert wait_for_reader(stream, -1)
        closing = threading.Timer(0.1, os.close, (reader,))
        closing.start()
        # Would it wait to the end, the test would not be worth its time.
        assert not wait_for_reader(stream, 3600)
        closing.join()
    assert wait_for_reader(None, 0)
    assert wait_for_reader(stream, 0)


def put(folder: Path, *names: str, text: str = "# netdiag\n") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def found(folder: Path, top: Path) -> list[str]:
    return [Path(path).relative_to(top).as_posix() for path, _ in config_candidates(str(folder))]


def test_nearest_first_and_no_further_than_the_repository(tmp_path: Path) -> None:
    put(tmp_path, "netdiag.toml", "r/netdiag.toml", "r/pyproject.toml", "r/a/pyproject.toml", "r/a/b/netdiag.toml")
    (tmp_path / "r" / ".git").mkdir()
    expected = ["r/a/b/netdiag.toml", "r/a/pyproject.toml", "r/netdiag.toml", "r/pyproject.toml"]
    assert found(tmp_path / "r" / "a" / "b", tmp_path) == expected


def test_a_worktree_has_a_file_for_its_git(tmp_path: Path) -> None:
    put(tmp_path, "netdiag.toml", "r/.git")
    assert found(tmp_path / "r", tmp_path) == []


def test_a_project_that_does_not_name_us_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path, "pyproject.toml", text="[project]\n")
    assert found(tmp_path, tmp_path) == []


def test_relative_folders_and_folders_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path, "netdiag.toml", "a/x")
    monkeypatch.chdir(tmp_path / "a")
    assert found(Path(""), tmp_path) == ["netdiag.toml"]
    assert found(Path("gone/deep"), tmp_path) == ["netdiag.toml"]


def test_a_file_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "netdiag.toml", text="#" * (CONFIGURATION_LIMIT + 1))
    with pytest.raises(InputError):
        read_config(str(tmp_path / "netdiag.toml"))


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


def test_all_files_are_shipped() -> None:
    assert [book.name for book in shipped()] == sorted(path.stem for path in (ROOT / "playbooks").glob("*.yml"))


def test_by_name_and_by_path(tmp_path: Path) -> None:
    books = shipped()
    assert find("bootstrap-refused", books) is next(book for book in books if book.name == "bootstrap-refused")
    path = tmp_path / "my-own.yml"
    path.write_text(TEXT)
    assert find(str(path), books).name == "my-own"
    with pytest.raises(InputError, match="no playbook 'refused'") as caught:
        find("refused", books)
    assert caught.value.hint is not None
    assert "bootstrap-refused" in caught.value.hint
    with pytest.raises(InputError):
        find(str(tmp_path / "none.yml"), books)


def test_there_and_back(tmp_path: Path) -> None:
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    for path in (one, two):
        write_bundle(str(path), to_json((), ()), "# nothing\n")
    assert one.read_bytes() == two.read_bytes()
    assert read_bundle(str(one)).runs == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.zip", "two.zip"]


def archive(name: str, data: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a bundle"),
        (b"PK\x03\x04" + bytes(100), "is not a bundle"),
        (archive("other.json", b"{}"), "holds no bundle.json"),
        (archive("bundle.json", b"{}"), "is not a bundle"),
        (archive("bundle.json", bytes(LARGEST + 5)), "unfolds to more than 16 MiB"),
        (archive("bundle.json", b'{"a": 1}' * 50)[:-30], "is not a bundle"),
        (archive("bundle.json", b'{"a": 1}' * 50).replace(b"\x08\x00", b"\x63\x00"), "is not a bundle"),
    ],
)
def test_what_is_none(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_bundle(str(path))
    assert "\n" not in str(caught.value)


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_bundle(str(tmp_path / "none" / "b.zip"), "{}", "")
