"""Bundles in files: the same bytes each time, nothing half-written, no zip that unfolds without end."""

import io
import zipfile
from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.bundles import read_bundle, write_bundle
from netdiag.playbook.bundle import LARGEST, to_json


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
        (b"", "is no bundle"),
        (b"PK\x03\x04" + bytes(100), "is no bundle"),
        (archive("other.json", b"{}"), "holds no bundle.json"),
        (archive("bundle.json", b"{}"), "is no bundle"),
        (archive("bundle.json", bytes(LARGEST + 5)), "unfolds to more than 16 MiB"),
        (archive("bundle.json", b'{"a": 1}' * 50)[:-30], "is no bundle"),
        (archive("bundle.json", b'{"a": 1}' * 50).replace(b"\x08\x00", b"\x63\x00"), "is no bundle"),
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
