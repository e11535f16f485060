"""Checkstyle's XML: a file for every input, an error for every finding, whatever these hold."""

from dataclasses import replace
from xml.etree.ElementTree import Element, fromstring

import pytest

from netdiag.render.findings.places import harmless
from netdiag.render.formats.xml import checkstyle
from netdiag.render.report import Report
from tests.render.golden import assert_golden
from tests.render.reports import EVERYTHING, HOSTILE, SECRET, hostile


def parsed(text: str) -> Element:
    """The root of a text that keeps what readers of checkstyle rely on."""
    root = fromstring(text.encode())
    assert root.tag == "checkstyle"
    assert root.attrib == {"version": "4.3"}
    assert len({file.attrib["name"] for file in root}) == len(root)
    for file in root:
        assert file.tag == "file"
        for error in file:
            assert error.tag == "error"
            assert error.attrib.keys() - {"column"} == {"line", "severity", "message", "source"}
            assert int(error.attrib["line"]) >= 1
            assert int(error.attrib.get("column", "1")) >= 1
            assert error.attrib["severity"] in ("error", "warning", "info")
    return root


def test_everything() -> None:
    text = checkstyle(EVERYTHING)
    assert {file.attrib["name"]: len(file) for file in parsed(text)} == {
        "compose.yml": 3,
        "web.yml": 0,
        "gone.yml": 1,
        "kafka-9": 1,
    }
    assert_golden("everything.checkstyle.xml", text)


def test_nothing() -> None:
    assert len(parsed(checkstyle(Report()))) == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(text: str) -> None:
    ((error,),) = parsed(checkstyle(hostile(text)))
    assert error.attrib["message"] == f"says {harmless(text)}; {harmless(text)}"


def test_secrets_and_order() -> None:
    assert "hunter2" not in checkstyle(SECRET)
    assert checkstyle(replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == checkstyle(EVERYTHING)


def test_the_same_is_said_once_at_a_place() -> None:
    twice = replace(EVERYTHING, findings=(*EVERYTHING.findings, *EVERYTHING.findings))
    assert checkstyle(twice) == checkstyle(EVERYTHING)
