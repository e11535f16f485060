"""A report is a value: its summary, and what is left out where there is too much of one kind."""

from dataclasses import FrozenInstanceError, replace

import pytest

from netdiag.findings import FileLocation, Finding, Overlooked, Severity, Suppressed
from netdiag.render.report import MOST_OF_A_KIND, Input, Problem, Report, limited, summary
from netdiag.render.wording import plural
from tests.render.reports import RUNNING


def test_a_report_starts_empty_and_stays_what_it_is() -> None:
    report = Report()
    assert (report.inputs, report.findings, report.matrices, report.skipped) == ((), (), (), ())
    with pytest.raises(FrozenInstanceError):
        report.inputs = (Input(name="a"),)  # type: ignore[misc]


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
        (
            "",
            (Input(name="a", brokers=("b", "c", "d"), controllers=("c",)),),
            "no findings in 1 file (2 brokers, 1 controller)",
        ),
        ("", (Input(name="a", brokers=("c",), controllers=("c",)),), "no findings in 1 file (1 controller)"),
    ],
)
def test_summary(severities: str, inputs: tuple[Input, ...], text: str) -> None:
    kinds = {severity.value[0]: severity for severity in Severity}
    findings = tuple(replace(RUNNING, severity=kinds[letter]) for letter in severities)
    assert summary(Report(inputs=inputs, findings=findings)) == text


def test_plural() -> None:
    assert [plural(n, "file") for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


def found(line: int, *, severity: Severity = Severity.WARNING, service: str = "kafka") -> Finding:
    """A finding on a line."""
    place = FileLocation(path="compose.yml", line=line, column=1, end_line=line, end_column=2, start=line, end=line + 1)
    return Finding(rule="some-rule", severity=severity, message=f"m{line}", location=place, service=service)


def test_a_report_of_the_usual_size_is_left_as_it_is() -> None:
    report = Report(findings=tuple(found(n) for n in range(1, MOST_OF_A_KIND + 1)))
    assert limited(report) is report


def test_the_first_are_kept_and_the_rest_is_counted() -> None:
    report = Report(findings=tuple(found(n) for n in range(1, 3 * MOST_OF_A_KIND)), notes=("before",))
    less = limited(report)
    assert less.findings == report.findings[:MOST_OF_A_KIND]
    assert less.notes == (
        "before",
        f"compose.yml: {3 * MOST_OF_A_KIND - 1} findings of some-rule in kafka (warning), the first {MOST_OF_A_KIND}"
        " of them are shown",
    )


def test_the_one_that_is_worse_is_kept() -> None:
    error = found(5 * MOST_OF_A_KIND, severity=Severity.ERROR)
    less = limited(Report(findings=(*(found(n) for n in range(1, 2 * MOST_OF_A_KIND)), error)))
    assert error in less.findings


def test_services_are_counted_on_their_own() -> None:
    report = Report(findings=tuple(found(1, service=f"kafka-{n}") for n in range(2 * MOST_OF_A_KIND)))
    assert limited(report) is report


def test_those_overlooked_are_bounded_too() -> None:
    items = tuple(Suppressed(finding=found(n), by=Overlooked.COMMENT, reason="") for n in range(2 * MOST_OF_A_KIND))
    report = Report(suppressed=items)
    assert limited(report) == replace(report, suppressed=items[:MOST_OF_A_KIND])
