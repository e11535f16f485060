"""`--why` beside the other options."""

from pathlib import Path

from netdiag.cli.console import Console
from netdiag.cli.explaining import with_causes
from netdiag.render.report import Report
from tests.cli.shell import netdiag


def test_why_asks_what_runs(tmp_path: Path) -> None:
    done = netdiag("check-listeners", "--why", cwd=tmp_path)
    assert done.returncode == 2
    assert "it goes with --live" in " ".join(done.stderr.decode().replace("│", " ").split())


def test_nothing_failed_and_nothing_is_asked() -> None:
    report = Report()
    assert with_causes(report, {}, "unix:///nowhere", Console()) is report
