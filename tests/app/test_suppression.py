"""Selection, ignore comments and baselines: what the user does not want to hear of."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from netdiag.errors import NetdiagError
from netdiag.findings import Overlooked
from netdiag.render.formats import text
from netdiag.render.report import Report
from netdiag.render.screen import Screen
from netdiag.rules.selection import Choice
from tests.app.checks import Recorder, report_of, result_of, rules_of
from tests.cli.shell import BROKEN, CLEAN

FOREIGN = "listener-bound-to-foreign-address"
# What is found in the correct file, too.
QUIET = Choice(ignore=("advertised-loopback-for-remote-clients",))
COMMENTED = BROKEN.replace("# why", f"# netdiag: ignore[{FOREIGN}] set by the proxy")
UNUSED = COMMENTED.replace("1.2.3.4", "0.0.0.0")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(content: str = BROKEN, **options: Any) -> Report:
    Path("compose.yml").write_text(content, encoding="utf-8")
    return report_of(**options)


@pytest.mark.parametrize(
    ("choice", "rules"),
    [
        (Choice(select=(FOREIGN,)), [FOREIGN]),
        (Choice(select=("listener-",)), [FOREIGN]),
        (Choice(select=("kraft-", "zookeeper-")), []),
        (Choice(select=("kraft-", FOREIGN)), [FOREIGN]),
        (Choice(ignore=(FOREIGN,)), []),
        (Choice(ignore=("kraft-", "listener-")), []),
    ],
)
def test_selection(choice: Choice, rules: list[str]) -> None:
    assert rules_of(report(rules=choice)) == rules


def test_what_is_not_selected_still_keeps_a_broker_from_starting() -> None:
    """The matrix shows what happens, whatever one wants to hear of."""
    assert report().matrices == report(rules=Choice(ignore=(FOREIGN,))).matrices


def test_a_comment_suppresses() -> None:
    found = report(COMMENTED)
    assert found.findings == ()
    (item,) = found.suppressed
    assert (item.by, item.reason) == (Overlooked.COMMENT, "set by the proxy")
    assert text.render(found, Screen()).endswith("no findings in 1 file (1 broker); 1 suppressed\n")


def test_comments_can_be_left_out_of_account() -> None:
    found = report(COMMENTED, ignore_comments=False)
    assert (rules_of(found), found.suppressed) == ([FOREIGN], ())


@pytest.mark.parametrize(
    ("choice", "rules"),
    [
        (QUIET, ["unused-ignore"]),
        (Choice(ignore=(*QUIET.ignore, "unused-ignore")), []),
        (Choice(select=("kraft-", "unused-ignore")), []),
    ],
)
def test_an_unused_comment_is_a_finding(choice: Choice, rules: list[str]) -> None:
    assert rules_of(report(UNUSED, rules=choice)) == rules


def test_a_comment_about_what_only_runs_is_not_unused() -> None:
    assert rules_of(report(CLEAN.replace("# why", "# netdiag: ignore[live-config-crash]"), rules=QUIET)) == []


def test_a_comment_in_a_file_that_two_inputs_share_is_reported_once(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.yml").write_text("include: [shared.yml]\n", encoding="utf-8")
    (folder / "shared.yml").write_text(UNUSED, encoding="utf-8")
    assert rules_of(report_of("one.yml", "two.yml", rules=QUIET)) == ["unused-ignore"]


@pytest.fixture
def baseline(folder: Path) -> str:
    (folder / "ci").mkdir()
    heard = Recorder()
    (folder / "compose.yml").write_text(BROKEN, encoding="utf-8")
    written = result_of(write_baseline="ci/known.json", listener=heard).report
    assert heard.notices == ["1 finding written to ci/known.json"]
    assert (written.findings, len(written.suppressed)) == ((), 1)
    assert os.listdir(folder / "ci") == ["known.json"]
    return "ci/known.json"


def known(*files: str, **options: Any) -> tuple[list[str], list[str]]:
    """The rules that are found, and those that the baseline holds."""
    found = report_of(*files, **options)
    return rules_of(found), [item.finding.rule for item in found.suppressed if item.by is Overlooked.BASELINE]


def test_what_is_in_the_baseline_is_overlooked(folder: Path, baseline: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert known(baseline=baseline) == ([], [FOREIGN])
    monkeypatch.chdir(folder / "ci")
    assert known("../compose.yml", baseline="known.json") == ([], [FOREIGN])
    monkeypatch.chdir("/")
    assert known(str(folder / "compose.yml"), baseline=str(folder / baseline)) == ([], [FOREIGN])


def test_lines_that_move_are_known_and_lines_that_change_are_not(folder: Path, baseline: str) -> None:
    (folder / "compose.yml").write_text("# new\n\n" + BROKEN, encoding="utf-8")
    assert known(baseline=baseline) == ([], [FOREIGN])
    (folder / "compose.yml").write_text(BROKEN.replace("1.2.3.4", "1.2.3.5"), encoding="utf-8")
    assert known(baseline=baseline) == ([FOREIGN, "stale-baseline"], [])


def test_stale_entries_are_notes_and_writing_again_prunes(folder: Path, baseline: str) -> None:
    (folder / "compose.yml").write_text(CLEAN, encoding="utf-8")
    found = report_of(rules=QUIET, baseline=baseline)
    assert rules_of(found) == ["stale-baseline"]
    assert "ci/known.json:4:" in text.render(found, Screen())
    without = Choice(ignore=(*QUIET.ignore, "stale-baseline"))
    assert known(rules=without, baseline=baseline) == ([], [])
    assert known(rules=QUIET, write_baseline=baseline) == ([], [])
    assert json.loads((folder / baseline).read_bytes())["findings"] == []


def test_what_was_not_checked_is_not_stale(folder: Path, baseline: str) -> None:
    (folder / "compose.yml").rename(folder / "other.yml")
    assert "stale-baseline" not in known("other.yml", baseline=baseline)[0]
    (folder / "other.yml").rename(folder / "compose.yml")
    assert known(rules=Choice(select=("kraft-", "stale-baseline")), baseline=baseline) == ([], [])


def test_the_same_findings_give_the_same_bytes(folder: Path, baseline: str) -> None:
    first = (folder / baseline).read_bytes()
    report_of(folder / "compose.yml", write_baseline=baseline)
    assert (folder / baseline).read_bytes() == first


def test_a_baseline_of_what_could_not_be_checked_is_not_written(folder: Path) -> None:
    with pytest.raises(NetdiagError, match="not every input could be checked"):
        report_of("gone.yml", write_baseline="x.json")
    assert not (folder / "x.json").exists()
