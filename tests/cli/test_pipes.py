"""Much output into a reader that leaves, and the same bytes whatever the order of Python's sets."""

import subprocess
import sys
from pathlib import Path

import pytest

from netdiag.cli.outputs import Format
from tests.cli.shell import BROKEN, environment, process
from tests.house.tree import ROOT

LIMIT = 2_000_000
# Prints a report of many findings in one format as the command does, and its size to standard error.
PRINT_MUCH = """
import sys
from dataclasses import replace
from netdiag.cli import outputs
from netdiag.cli.console import Console
from netdiag.render.report import Report
from tests.render.reports import COMPOSE, loopback
one, two = loopback("broker-1"), loopback("broker-2")
many = [replace(one if n % 2 else two, message=f"{n} {'long ' * 400}", rule=f"rule-{n}") for n in range(1_200)]
report = Report(findings=tuple(many), sources={"compose.yml": COMPOSE})
form = outputs.Format(sys.argv[1])
print(len(outputs._rendered(outputs.Output(format=form), report, Console(), "", matrix=True)), file=sys.stderr)
outputs.write_outputs([outputs.Output(format=form)], report, Console(), matrix=True)
"""
SCRIPT = 'set -o pipefail; "$0" -c "$1" "$2" | head -n 1; exit "${PIPESTATUS[0]}"'


@pytest.mark.parametrize("form", Format)
def test_two_megabytes_into_head(form: Format) -> None:
    done = subprocess.run(
        ["bash", "-c", SCRIPT, sys.executable, PRINT_MUCH, form.value],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    size, *rest = done.stderr.splitlines()
    assert rest == []
    # A comment on a pull request has a longest length.
    assert (int(size) > LIMIT) is (form is not Format.MARKDOWN)
    assert len(done.stdout.splitlines()) == 1


def test_all_formats_are_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text(BROKEN)
    (tmp_path / "b.yml").write_text((ROOT / "compose/scenarios/S04-bind-foreign-address/kraft.broken.yml").read_text())
    runs = []
    for seed in ("0", "1", "4711"):
        words = [word for form in Format for word in ("--format", form, "--output", f"{seed}.{form}")]
        done = process("check-listeners", *words, "a.yml", "b.yml", cwd=tmp_path, env={"PYTHONHASHSEED": seed})
        assert done.returncode == 1, done.stderr
        runs.append({form: (tmp_path / f"{seed}.{form}").read_bytes() for form in Format})
    assert runs[0] == runs[1] == runs[2]
    assert all(runs[0].values())
