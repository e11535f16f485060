"""The parts of the lab that need no rights."""

from __future__ import annotations

import os
import struct
import tarfile
from pathlib import Path

import pytest

from tests.lab.cache import digest, drop_unused, entry
from tests.lab.layers import Image, Item, write_archive, write_layer
from tests.lab.listening import _dialled
from tests.lab.prerequisites import missing
from tests.lab.processes import start_time
from tests.lab.resolver import answer


def test_a_failed_build_leaves_nothing_and_the_next_one_is_whole(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        entry(tmp_path, "thing", "key", fails)
    assert [path.name for path in (tmp_path / "thing").iterdir()] == [".key.lock"]
    made = entry(tmp_path, "thing", "key", lambda folder: (folder / "whole").touch())
    assert [path.name for path in made.iterdir()] == ["whole"]
    assert entry(tmp_path, "thing", "key", fails) == made


def test_what_nobody_asks_for_is_dropped(tmp_path: Path) -> None:
    for key in ("old", "used"):
        entry(tmp_path, "thing", key, lambda folder: (folder / "whole").touch())
        os.utime(tmp_path / "thing" / key, (0, 0))
    used = entry(tmp_path, "thing", "used", lambda folder: None)
    drop_unused(tmp_path, ["thing"], days=1)
    assert used.is_dir()
    assert not (tmp_path / "thing" / "old").exists()


def test_the_key_follows_content_and_names(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    first = digest(tmp_path, "b")
    assert digest(tmp_path, "b") == first
    (tmp_path / "a").rename(tmp_path / "c")
    assert digest(tmp_path, "b") != first
    assert digest("ab", "c") != digest("a", "bc")


def test_the_resolver_denies_every_name() -> None:
    question = struct.pack(">HHHHHH", 77, 0x0100, 1, 0, 0, 0) + b"\x06broker\x00\x00\x01\x00\x01"
    said = answer(question)
    assert said is not None
    number, flags, questions, answers = struct.unpack_from(">HHHH", said)
    assert (number, flags & 0xF, questions, answers) == (77, 3, 1, 0)
    assert said[12:] == question[12:]


@pytest.mark.parametrize("noise", [b"", b"short", b"\xff" * 12, b"\0" * 4 + b"\0\x01" + b"\x3f" * 9])
def test_the_resolver_survives_noise(noise: bytes) -> None:
    assert answer(noise) is None


def test_layers_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    items = [Item(path="opt/x", mode=0o755), Item(path="opt/x/run", text="hello", uid=1000)]
    for name in ("one", "two"):
        write_layer(tmp_path / name, items)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with tarfile.open(tmp_path / "one") as tar:
        assert [(m.name, m.isdir(), m.uid) for m in tar] == [
            ("opt/x", True, 0),
            ("opt/x/run", False, 1000),
        ]


def test_an_archive_holds_a_shared_layer_once(tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    write_layer(layer, [Item(path="x", text="y")])
    images = [Image(tags=(tag,), layers=(layer,), command=("x",)) for tag in ("a:1", "b:1")]
    with (tmp_path / "all.tar").open("wb") as target:
        write_archive(target, images)
    with tarfile.open(tmp_path / "all.tar") as tar:
        assert sum(name.endswith("layer.tar") for name in tar.getnames()) == 1


@pytest.mark.parametrize(
    ("printed", "dialled"),
    [
        ("0100007F", "127.0.0.1"),
        ("00000000", "127.0.0.1"),
        ("020011AC", "172.17.0.2"),
        ("00000000000000000000000000000000", "127.0.0.1"),
        ("0000000000000000FFFF0000020011AC", "172.17.0.2"),
        ("00000000000000000000000001000000", "::1"),
    ],
)
def test_where_a_listening_socket_is_dialled(printed: str, dialled: str) -> None:
    assert _dialled(printed) == dialled


def test_a_process_is_told_from_its_successor() -> None:
    assert start_time(os.getpid()) == start_time(os.getpid())
    assert start_time(2**22 + 1) is None


def test_missing_gives_reasons_as_a_list() -> None:
    reasons = missing()
    assert os.geteuid() == 0 or any("root" in reason for reason in reasons)
