"""The last line of a run."""

from dataclasses import replace

import pytest

from netdiag.findings import Severity
from netdiag.render.report import Input, Problem, Report, summary
from netdiag.render.wording import plural
from tests.render.reports import RUNNING

ONE = Input(name="a.yml", brokers=("k",))
BAD = Input(name="b.yml", error=Problem(message="m"))


@pytest.mark.parametrize(
    ("severities", "inputs", "text"),
    [
        ("", (ONE,), "no findings in 1 file (1 broker)"),
        ("ew", (ONE, ONE), "1 error, 1 warning in 2 files (2 brokers)"),
        ("een", (ONE,), "2 errors, 1 note in 1 file (1 broker)"),
        ("", (ONE, BAD), "no findings in 1 file (1 broker); 1 file could not be checked"),
        ("", (Input(name="c.yml"),), "no findings in 1 file"),
        ("", (BAD,), "1 file could not be checked"),
        ("", (Input(name="engine", kind="engine"), ONE), "no findings in 2 inputs (1 broker)"),
        ("", (), "nothing to check"),
    ],
)
def test_summary(severities: str, inputs: tuple[Input, ...], text: str) -> None:
    kinds = {severity.value[0]: severity for severity in Severity}
    findings = tuple(replace(RUNNING, severity=kinds[letter]) for letter in severities)
    assert summary(Report(inputs=inputs, findings=findings)) == text


def test_plural() -> None:
    assert [plural(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
