"""Figures as people read them; every column of every section is there."""

import pytest

from netdiag.render.analysis.tables import SECTIONS, duration, moment, size
from netdiag.traffic.tables import aggregate
from tests.render.analyses import T0, answer


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "-"), (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123_456, "123 kB"), (5e15, "5000 TB")],
)
def test_sizes(count: float | None, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, "-"),
        (0.128, "0.13 ms"),
        (12.6, "13 ms"),
        (1500, "1.5 s"),
        (600_000, "10 min"),
        (7_500_000, "2 h 5 min"),
    ],
)
def test_durations(ms: float | None, text: str) -> None:
    assert duration(ms) == text


def test_moments() -> None:
    assert moment(T0) == "2023-11-14 22:13:20.123"


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_a_section_writes_rows_of_its_answer(section: object) -> None:
    from netdiag.render.analysis.tables import Section

    assert isinstance(section, Section)
    (empty,) = answer(section.answer, {}).rows
    assert all(isinstance(column.value(empty), str) for column in section.columns)
    section.keep(empty)
    assert aggregate(section.answer)
