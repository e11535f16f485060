"""The parts of a finding that the whole outputs of test_text.py do not show."""

from dataclasses import replace

from netdiag.findings import ContainerLocation, Related
from netdiag.render.findings.finding_text import SourceLines, clickable_place, finding_lines
from netdiag.render.screen import Screen, paint
from tests.render.literals import place
from tests.render.reports import COMPOSE, loopback


def shown(*, related: int, columns: int = 100) -> str:
    finding = loopback("broker-1")
    more = tuple(Related(location=place(COMPOSE, "apache/kafka:3.9.1"), message=f"no. {n}") for n in range(related))
    screen = Screen(width=columns)
    lines = SourceLines({"compose.yml": COMPOSE})
    return paint(finding_lines(replace(finding, related=more), lines, screen), screen)


def test_the_first_line_can_be_clicked() -> None:
    assert shown(related=0).startswith(
        "compose.yml:6:35: error: INTERNAL of broker-1 is bound to 127.0.0.1: the other brokers cannot reach it "
        "[listener-bound-to-loopback]\n"
    )


def test_many_related_places_are_counted() -> None:
    text = shown(related=9)
    assert "no. 5" in text
    assert "no. 6" not in text
    assert "also: 3 more places" in text


def test_long_sentences_are_wrapped_below_their_title() -> None:
    lines = shown(related=0, columns=50).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  why: "))
    assert lines[first + 1].startswith("       ")
    assert all(len(line) <= 50 for line in lines[first:])


def test_places() -> None:
    assert clickable_place(place(COMPOSE, "127.0.0.1")) == "compose.yml:6:35"
    assert clickable_place(ContainerLocation(container="k")) == "k"
    assert clickable_place(ContainerLocation(container="k", part="KAFKA_LISTENERS")) == "k (KAFKA_LISTENERS)"
