"""Playbooks and bundles as files: shipped, foreign, damaged."""

import io
import zipfile
from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.files.playbooks import find, read_bundle, shipped, write_bundle
from netdiag.playbook.bundle import LARGEST, to_json
from tests.house.tree import ROOT
from tests.playbook.examples import TEXT


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
