"""Playbooks are found by name and by path."""

from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.playbooks import find, shipped
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
