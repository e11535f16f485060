"""Workflow commands, read back as the runner reads them."""

import re
from dataclasses import replace

import pytest

from netdiag.findings import FileLocation
from netdiag.render.findings.places import harmless, path_text
from netdiag.render.formats import github
from netdiag.render.report import Report
from tests.render.golden import assert_golden
from tests.render.reports import EVERYTHING, HOSTILE, RUNNING, SECRET, hostile, loopback

COMMAND = re.compile(r"::(?P<name>error|warning|notice) (?P<properties>[^:]*)::(?P<data>.*)")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Name, properties and message of each line, unescaped in the runner's order (ActionCommand.cs)."""
    found = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        assert match, line
        pairs = [pair.partition("=") for pair in match["properties"].split(",")]
        properties = {key: unescaped(value, {"%3A": ":", "%2C": ","}) for key, _, value in pairs}
        assert properties.keys() <= {"file", "line", "endLine", "col", "endColumn", "title"}
        found.append((match["name"], properties, unescaped(match["data"], {})))
    return found


def unescaped(text: str, more: dict[str, str]) -> str:
    for code, character in {"%0D": "\r", "%0A": "\n", **more, "%25": "%"}.items():
        text = text.replace(code, character)
    return text


def test_everything() -> None:
    text = github.render(EVERYTHING)
    names = [name for name, _, _ in commands(text)]
    assert names == ["error", "warning", "error", "error", "notice", "notice"]
    assert_golden("everything.github", text)


def test_nothing() -> None:
    assert github.render(Report()) == ""


def test_columns_only_within_one_line() -> None:
    finding = loopback("broker-1")
    assert isinstance(finding.location, FileLocation)
    ((_, one, _),) = commands(github.render(Report(findings=(finding,))))
    assert {key: one[key] for key in ("file", "line", "endLine", "col", "endColumn")} == {
        "file": "compose.yml",
        "line": "6",
        "endLine": "6",
        "col": "35",
        "endColumn": "44",
    }
    long = replace(finding, location=replace(finding.location, end_line=8))
    ((_, several, _),) = commands(github.render(Report(findings=(long,))))
    assert several.keys() == {"title", "file", "line", "endLine"}


def test_a_container_has_no_file() -> None:
    ((name, properties, message),) = commands(github.render(Report(findings=(RUNNING,))))
    assert name == "notice"
    assert list(properties) == ["title"]
    assert message == "kafka-9: restarts again and again"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(text: str) -> None:
    annotation, *_ = commands(github.render(hostile(text)))
    name, properties, message = annotation
    assert (name, properties["title"]) == ("error", "netdiag listener-bound-to-loopback")
    assert properties["file"] == harmless(path_text(f"a{text}.yml"))
    assert message.split("\n")[0] == f"says {harmless(text)}"


def test_secrets_and_order() -> None:
    assert "hunter2" not in github.render(SECRET)
    assert github.render(replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == github.render(EVERYTHING)
