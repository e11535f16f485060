"""Files are read within bounds and written whole or not at all."""

import io
import os
import stat
import threading
from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.files import (
    BASE_NAMES,
    OVERRIDE_NAMES,
    files_of_folder,
    is_within,
    read_file,
    read_inside,
    read_optional,
    read_stdin,
    write_changes,
    write_file,
)


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
