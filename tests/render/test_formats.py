"""The formats for build servers and review bots: structure, hostile text, every stack of this repository.

In a comment for a pull request, foreign text stays text and a long report stays a comment.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, fromstring

import pytest

from netdiag.cli.outputs import Format
from netdiag.findings import FileLocation
from netdiag.render.findings.finding_text import harmless, path_text
from netdiag.render.formats import github, gitlab, markdown
from netdiag.render.formats import json as json_format
from netdiag.render.formats.markdown import MARK, escaped
from netdiag.render.formats.text import render_concise
from netdiag.render.formats.xml import _xml_text, checkstyle, junit
from netdiag.render.report import Input, Problem, Report
from tests.app.checks import report_of
from tests.each import each
from tests.house.tree import ROOT
from tests.render.every_format import RELATIVE, in_format
from tests.render.golden import assert_golden
from tests.render.literals import place
from tests.render.reports import COMPOSE, EVERYTHING, FOREIGN, HOSTILE, RUNNING, hostile, loopback
from tests.render.test_sarif import run_of


def checkstyle_parsed(text: str) -> Element:
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


def test_checkstyle_everything() -> None:
    text = checkstyle(EVERYTHING)
    assert {file.attrib["name"]: len(file) for file in checkstyle_parsed(text)} == {
        "compose.yml": 3,
        "web.yml": 0,
        "gone.yml": 1,
        "kafka-9": 1,
    }
    assert_golden("everything.checkstyle.xml", text)


def test_checkstyle_nothing() -> None:
    assert len(checkstyle_parsed(checkstyle(Report()))) == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_checkstyle_hostile_text(text: str) -> None:
    ((error,),) = checkstyle_parsed(checkstyle(hostile(text)))
    assert error.attrib["message"] == f"says {harmless(text)}; {harmless(text)}"


def test_the_same_is_said_once_at_a_place() -> None:
    twice = replace(EVERYTHING, findings=(*EVERYTHING.findings, *EVERYTHING.findings))
    assert checkstyle(twice) == checkstyle(EVERYTHING)


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


def test_github_everything() -> None:
    text = github.render(EVERYTHING)
    names = [name for name, _, _ in commands(text)]
    assert names == ["error", "warning", "error", "error", "notice", "notice"]
    assert_golden("everything.github", text)


def test_github_nothing() -> None:
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


def test_what_the_runner_would_take_for_the_next_property_is_escaped() -> None:
    finding = loopback("broker-1")
    assert isinstance(finding.location, FileLocation)
    odd = replace(finding.location, path="a,line=1:b.yml", end_column=1)
    ((_, one, _),) = commands(github.render(Report(findings=(replace(finding, location=odd),))))
    assert one["file"] == "a,line=1:b.yml"
    # GitHub refuses an end before the beginning.
    assert (one["col"], one["endColumn"]) == ("35", "35")


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


def issues(text: str) -> list[dict[str, Any]]:
    """The issues of a text that keeps GitLab's rules."""
    assert text.isascii()
    value = json.loads(text)
    assert isinstance(value, list)
    for issue in value:
        fields = {"type", "check_name", "description", "categories", "severity", "fingerprint", "location"}
        assert issue.keys() == fields
        assert issue["type"] == "issue"
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"].keys() == {"path", "lines"}
        assert issue["location"]["path"]
        assert not issue["location"]["path"].startswith("./")
        lines = issue["location"]["lines"]
        assert 1 <= lines["begin"] <= lines["end"]
    assert len({issue["fingerprint"] for issue in value}) == len(value)
    return value


def test_gitlab_everything() -> None:
    text = gitlab.render(EVERYTHING)
    assert [i["severity"] for i in issues(text)] == ["blocker", "minor", "major", "major", "info"]
    assert_golden("everything.gitlab.json", text)


def test_gitlab_nothing() -> None:
    assert issues(gitlab.render(Report())) == []


def test_a_broker_that_does_not_start_is_critical() -> None:
    finding = replace(loopback("broker-1"), broker_prints="Socket server failed")
    assert issues(gitlab.render(Report(findings=(finding,))))[0]["severity"] == "critical"


def test_what_looks_alike_is_told_apart() -> None:
    assert len(issues(gitlab.render(Report(findings=(FOREIGN, FOREIGN, RUNNING, RUNNING))))) == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_gitlab_hostile_text(text: str) -> None:
    (issue,) = issues(gitlab.render(hostile(text)))
    assert issue["description"] == f"says {harmless(text)}; {harmless(text)}"
    assert issue["location"]["path"] == harmless(path_text(f"a{text}.yml"))


OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def parsed(text: str) -> dict[str, list[Element]]:
    """The cases of each suite of a text whose counts are right."""
    root = fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in (root, *root):
        counts = {"failures", "errors"} if element is root else {"failures", "errors", "skipped"}
        assert element.attrib.keys() == {"name", "tests", *counts}
        assert int(element.attrib["tests"]) == sum(1 for _ in element.iter("testcase"))
        for one, plural in OUTCOMES.items():
            assert plural not in counts or int(element.attrib[plural]) == sum(1 for _ in element.iter(one))
    for suite in root:
        assert suite.tag == "testsuite"
        for case in suite:
            assert case.tag == "testcase"
            assert case.attrib.keys() == {"classname", "name"}
            assert [child.tag for child in case] in ([], ["failure"], ["error"], ["skipped"], ["system-out"])
            for child in case:
                assert child.attrib.keys() <= {"type", "message"}
    assert len({suite.attrib["name"] for suite in root}) == len(root)
    return {suite.attrib["name"]: list(suite) for suite in root}


def outcomes(report: Report) -> dict[str, list[str]]:
    return {
        name: [child.tag for case in cases for child in case] for name, cases in parsed(junit(report)).items() if cases
    }


def test_junit_everything() -> None:
    assert outcomes(EVERYTHING) == {
        "web.yml": [],
        "gone.yml": ["error"],
        "compose.yml": ["failure"] * 3,
        "kafka-9": ["system-out"],
        "vantages": ["skipped"],
    }
    assert_golden("everything.junit.xml", junit(EVERYTHING))


def test_a_clean_file_is_one_passed_case() -> None:
    assert outcomes(Report()) == {}
    (case,) = parsed(junit(Report(inputs=(Input(name="a.yml", brokers=("b",)),))))["a.yml"]
    assert case.attrib == {"classname": "a.yml", "name": "check-listeners"}


def test_a_note_fails_nothing() -> None:
    assert outcomes(Report(findings=(RUNNING, FOREIGN))) == {"compose.yml": ["failure"], "kafka-9": ["system-out"]}


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_hostile_text(text: str) -> None:
    suites = parsed(junit(hostile(text)))
    ((failure,),) = suites[harmless(path_text(f"a{text}.yml"))]
    assert failure.attrib["message"] == f"says {harmless(text)}"
    assert f"\nwhy: {harmless(text)}\n" in (failure.text or "")


STACKS = sorted(ROOT.glob("compose/**/*.yml"))


@each("stack", STACKS, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_stack(stack: Path) -> None:
    report = report_of(str(stack))
    root = str(ROOT)
    count = len(report.findings)
    for form in RELATIVE:
        text = in_format(form, report, root)
        assert text == in_format(form, report, root)
        assert root not in text
        assert form not in SHOWN or SHOWN[form](text) == max(count, form is Format.JUNIT)


# How many findings a text of the format shows; JUnit has a passed case where there is none.
SHOWN: dict[Format, Callable[[str], int]] = {
    Format.SARIF: lambda text: len(run_of(text)["results"]),
    Format.GITLAB: lambda text: len(issues(text)),
    Format.GITHUB: lambda text: len(commands(text)),
    Format.CONCISE: lambda text: len(text.splitlines()),
    Format.CHECKSTYLE: lambda text: sum(map(len, checkstyle_parsed(text))),
    Format.JUNIT: lambda text: sum(map(len, parsed(text).values())),
}


LINE = re.compile(r"(?P<place>.+): (?P<severity>error|warning|note) (?P<rule>[a-z-]+) (?P<message>.+)")


def test_everything() -> None:
    text = render_concise(EVERYTHING)
    assert_golden("everything.concise", text)
    assert [LINE.fullmatch(line) is not None for line in text.splitlines()] == [True] * 5


def test_nothing() -> None:
    assert render_concise(Report()) == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_on_its_line(text: str) -> None:
    (line,) = render_concise(hostile(text)).splitlines()
    assert LINE.fullmatch(line)
    assert line.isprintable()


def test_a_container_is_a_place() -> None:
    assert render_concise(Report(findings=(RUNNING,))) == "kafka-9: note broker-not-running restarts again and again\n"


def test_paths_below_the_root_are_relative() -> None:
    finding = replace(FOREIGN, location=place(COMPOSE, '"9091:9091"', "/a/b/c.yml"))
    report = Report(findings=(finding,))
    assert render_concise(report, "/a/b").startswith("c.yml:4:13: ")
    assert render_concise(report, "/a/bb").startswith("/a/b/c.yml:4:13: ")


def test_it_reads_back() -> None:
    root = Element("a", {"b": "<&\"'>日\U0001f600\n"})
    SubElement(root, "c").text = "]]> </c> é"
    text = _xml_text(root)
    assert text.isascii()
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<a ')
    back = fromstring(text.encode())
    assert back.attrib == root.attrib
    assert [child.text for child in back] == ["]]> </c> é"]


def test_a_file_that_cannot_be_read_is_a_finding_in_json() -> None:
    broken = Problem(message="not YAML", where="a.yml:3:7", hint=None)
    absent = Problem(message="no such file", where="b.yml", hint=None)
    engine = Input(name="docker", kind="engine", error=absent)
    document = json.loads(
        json_format.render(
            Report(inputs=(Input(name="a.yml", error=broken), Input(name="b.yml", error=absent), engine))
        )
    )
    assert [(f["rule"], f["severity"], f["message"]) for f in document["findings"]] == [
        ("compose-syntax", "error", "not YAML"),
        ("compose-syntax", "error", "no such file"),
    ]
    places = [(f["location"]["path"], f["location"]["line"], f["location"]["column"]) for f in document["findings"]]
    assert places == [("a.yml", 3, 7), ("b.yml", 1, 1)]


TAG = re.compile(r"<(?!br>|!-- -->|/?details>|/?summary>|/?pre>)")


def shown(text: str) -> str:
    """What a reader of the page sees of one cell."""
    return html.unescape(text.replace("<!-- -->", ""))


def test_markdown_everything() -> None:
    text = markdown.render(EVERYTHING)
    assert text.count("<details>") == text.count("</details>") == 2
    assert_golden("everything.md", text)


def test_markdown_nothing() -> None:
    assert markdown.render(Report()) == f"{MARK}\n**netdiag**: nothing to check\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_hostile_text_is_shown_as_it_is(text: str) -> None:
    rendered = markdown.render(hostile(text)).removeprefix(MARK)
    assert not TAG.search(rendered)
    (row,) = (line for line in rendered.splitlines() if line.startswith("| ❌"))
    cells = row.strip("| ").split(" | ")
    assert len(cells) == 3
    assert shown(cells[2].split("<br>")[0]) == f"says {harmless(text)} (listener-bound-to-loopback)"
    assert not re.search(r"[@#][a-z]|https?://|www\.", re.sub(r"&#\d+;", "", row))


@pytest.mark.parametrize("text", ["| a", "`a`", "*a*", "[a](b)", "<a>", "a_b_c", "@team", "#12", "&amp;", "\\", "$a$"])
def test_markdown_escaped_text_is_shown_as_it_is(text: str) -> None:
    assert shown(escaped(text)) == text
    assert escaped(text) != text


def test_markdown_a_long_report_is_counted() -> None:
    many = tuple(replace(RUNNING, message=f"{n} " + "<" * 500) for n in range(500))
    text = markdown.render(Report(findings=many, notes=("n" * 99_000,)))
    assert len(text) < 65_536
    assert " more |\n" in text
    assert "- and 1 more\n" in text
