"""One line per finding, whatever the finding holds."""

import re
from dataclasses import replace

import pytest

from netdiag.render.formats import concise
from netdiag.render.report import Report
from tests.render.golden import assert_golden
from tests.render.literals import place
from tests.render.reports import COMPOSE, EVERYTHING, FOREIGN, HOSTILE, RUNNING, SECRET, hostile

LINE = re.compile(r"(?P<place>.+): (?P<severity>error|warning|note) (?P<rule>[a-z-]+) (?P<message>.+)")


def test_everything() -> None:
    text = concise.render(EVERYTHING)
    assert_golden("everything.concise", text)
    assert [LINE.fullmatch(line) is not None for line in text.splitlines()] == [True] * 5


def test_nothing() -> None:
    assert concise.render(Report()) == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_on_its_line(text: str) -> None:
    (line,) = concise.render(hostile(text)).splitlines()
    assert LINE.fullmatch(line)
    assert line.isprintable()


def test_order_is_that_of_places_and_secrets_are_hidden() -> None:
    assert concise.render(replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == concise.render(EVERYTHING)
    assert "hunter2" not in concise.render(SECRET)


def test_a_container_is_a_place() -> None:
    assert concise.render(Report(findings=(RUNNING,))) == "kafka-9: note broker-not-running restarts again and again\n"


def test_paths_below_the_root_are_relative() -> None:
    finding = replace(FOREIGN, location=place(COMPOSE, '"9091:9091"', "/a/b/c.yml"))
    report = Report(findings=(finding,))
    assert concise.render(report, "/a/b").startswith("c.yml:4:13: ")
    assert concise.render(report, "/a/bb").startswith("/a/b/c.yml:4:13: ")
