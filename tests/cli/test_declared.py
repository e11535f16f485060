"""From files to a report, in process."""

from pathlib import Path

import pytest

from netdiag.cli.console import Console
from netdiag.cli.declared import Settings, joined, report_on
from netdiag.render.report import Input, Report
from tests.cli.shell import BROKEN, CLEAN


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_brokers_findings_cells_and_sources(folder: Path) -> None:
    (folder / "a.yml").write_text(BROKEN, encoding="utf-8")
    report = report_on(["a.yml"], Settings(), Console())
    assert report.inputs == (Input(name="a.yml", brokers=("kafka",)),)
    assert [finding.rule for finding in report.findings] == ["listener-bound-to-foreign-address"]
    assert report.matrices[0].not_running == {"kafka": "listener-bound-to-foreign-address"}
    assert report.sources == {"a.yml": BROKEN.encode()}


def test_what_compose_refuses_is_a_finding(folder: Path) -> None:
    (folder / "a.yml").write_text(CLEAN + "    ports: ['1:1']\n", encoding="utf-8")
    found = report_on(["a.yml"], Settings(), Console()).findings
    assert [finding.rule for finding in found].count("compose-duplicate-key") == 1


@pytest.mark.parametrize("text", ["", "[", "- a\n", "\xff", "services: " + "[" * 5000])
def test_a_file_that_is_none_gives_an_input_with_an_error(folder: Path, text: str) -> None:
    (folder / "a.yml").write_text(text, encoding="latin-1")
    (item,) = report_on(["a.yml"], Settings(), Console()).inputs
    assert item.error is not None
    assert "\n" not in item.error.message


def test_reports_join_in_order() -> None:
    first, second = Report(inputs=(Input(name="a"),), sources={"a": b""}), Report(inputs=(Input(name="b"),))
    both = joined(first, second)
    assert [item.name for item in both.inputs] == ["a", "b"]
    assert both.sources == {"a": b""}
