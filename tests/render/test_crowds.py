"""Of a crowd of equal findings the first are told, and how many there are."""

from dataclasses import replace

from netdiag.findings import FileLocation, Finding, Overlooked, Severity, Suppressed
from netdiag.render.report import MOST_OF_A_KIND, Report, limited


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
