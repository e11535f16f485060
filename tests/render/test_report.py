"""A report is a value: nothing can be put into it afterwards."""

from dataclasses import FrozenInstanceError

import pytest

from netdiag.render.report import Input, Report


def test_a_report_starts_empty_and_stays_what_it_is() -> None:
    report = Report()
    assert (report.inputs, report.findings, report.matrices, report.skipped) == ((), (), (), ())
    with pytest.raises(FrozenInstanceError):
        report.inputs = (Input(name="a"),)  # type: ignore[misc]
