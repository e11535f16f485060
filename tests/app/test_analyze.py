"""The file that --report names."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from netdiag.app.analyze import refuse_report, write_report
from netdiag.distribution import install_line
from netdiag.errors import InputError, MissingExtra, UsageError
from netdiag.render.analysis.page import GENERATOR

if TYPE_CHECKING:
    from netdiag.traffic.analysis import Analysis

OURS = f"<!doctype html>\n{GENERATOR}"


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdiag.render.analysis.page.analysis_page", lambda analysis: OURS)


NOTHING = cast("Analysis", None)


def test_it_is_written_whole_with_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.html"
    write_report(str(path), NOTHING)
    assert path.read_text(encoding="utf-8") == OURS
    write_report(str(path), NOTHING)
    assert [entry.name for entry in path.parent.iterdir()] == ["out.html"]


def test_what_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "out.html").mkdir()
    (tmp_path / "file").touch()
    for path in ("out.html", "file/out.html"):
        with pytest.raises(InputError, match="cannot be written"):
            write_report(str(tmp_path / path), NOTHING)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "out.html"]


def test_only_a_report_of_ours_is_replaced_and_only_when_asked(tmp_path: Path) -> None:
    ours, other, link = tmp_path / "ours.html", tmp_path / "other.html", tmp_path / "link.html"
    ours.write_text(OURS, encoding="utf-8")
    other.write_text("dear")
    link.symlink_to(ours)
    refuse_report(str(tmp_path / "absent.html"), force=False)
    refuse_report(str(ours), force=True)
    for path, force, said in (
        (ours, False, "exists already"),
        (other, True, "was not written by netdiag"),
        (link, True, "was not written by netdiag"),
        (tmp_path, True, "was not written by netdiag"),
    ):
        with pytest.raises(UsageError, match=said):
            refuse_report(str(path), force=force)


def test_without_vega_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra) as raised:
        refuse_report(str(tmp_path / "out.html"), force=False)
    assert raised.value.hint == install_line("report")
