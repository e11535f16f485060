"""GitLab's code quality report: the fields it demands, fingerprints it can tell apart."""

import json
from dataclasses import replace
from typing import Any

import pytest

from netdiag.render.findings.places import harmless, path_text
from netdiag.render.formats import gitlab
from netdiag.render.report import Report
from tests.render.golden import assert_golden
from tests.render.reports import EVERYTHING, FOREIGN, HOSTILE, RUNNING, SECRET, hostile, loopback


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


def test_everything() -> None:
    text = gitlab.render(EVERYTHING)
    assert [i["severity"] for i in issues(text)] == ["blocker", "minor", "major", "major", "info"]
    assert_golden("everything.gitlab.json", text)


def test_nothing() -> None:
    assert issues(gitlab.render(Report())) == []


def test_a_broker_that_does_not_start_is_critical() -> None:
    finding = replace(loopback("broker-1"), broker_prints="Socket server failed")
    assert issues(gitlab.render(Report(findings=(finding,))))[0]["severity"] == "critical"


def test_what_looks_alike_is_told_apart() -> None:
    assert len(issues(gitlab.render(Report(findings=(FOREIGN, FOREIGN, RUNNING, RUNNING))))) == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(text: str) -> None:
    (issue,) = issues(gitlab.render(hostile(text)))
    assert issue["description"] == f"says {harmless(text)}; {harmless(text)}"
    assert issue["location"]["path"] == harmless(path_text(f"a{text}.yml"))


def test_secrets_and_order() -> None:
    assert "hunter2" not in gitlab.render(SECRET)
    assert gitlab.render(replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == gitlab.render(EVERYTHING)
