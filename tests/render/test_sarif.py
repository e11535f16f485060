"""SARIF that code scanning takes: structure, columns, URIs, links, fixes, fingerprints."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from netdiag.findings import ContainerLocation, Edit, FileLocation
from netdiag.render.findings.finding_text import harmless
from netdiag.render.formats.sarif import Places, render, rule_descriptors
from netdiag.render.report import Report
from netdiag.rules.all_rules import ALL
from tests.render.golden import assert_golden
from tests.render.literals import place
from tests.render.reports import EVERYTHING, FOREIGN, HOSTILE, RUNNING, SECRET, hostile, loopback

_TOP = {"$schema", "version", "runs"}
_RUN = {"tool", "columnKind", "newlineSequences", "invocations", "results"}
_RULE = {
    "id",
    "name",
    "shortDescription",
    "fullDescription",
    "help",
    "helpUri",
    "defaultConfiguration",
    "properties",
}
_RESULT = {
    "ruleId",
    "ruleIndex",
    "level",
    "message",
    "locations",
    "relatedLocations",
    "partialFingerprints",
    "fixes",
    "suppressions",
    "properties",
}
_LEVELS = {"error", "warning", "note"}


def run_of(text: str) -> dict[str, Any]:
    """The one run of a SARIF text that keeps the rules."""
    value = json.loads(text)
    assert value.keys() == _TOP
    assert value["version"] == "2.1.0"
    (run,) = value["runs"]
    assert run.keys() == _RUN
    assert run["columnKind"] == "utf16CodeUnits"
    driver = run["tool"]["driver"]
    assert driver.keys() == {"name", "semanticVersion", "rules"}
    for rule in driver["rules"]:
        _rule(rule)
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for invocation in run["invocations"]:
        _invocation(invocation)
    for result in run["results"]:
        _result(result, [rule["id"] for rule in driver["rules"]])
    assert isinstance(run, dict)
    return run


def _rule(rule: dict[str, Any]) -> None:
    assert rule.keys() <= _RULE
    for name in ("shortDescription", "fullDescription", "help"):
        assert rule.get(name, {"text": "x"})["text"]
    if "helpUri" in rule:
        assert urlsplit(rule["helpUri"]).scheme
    if "defaultConfiguration" in rule:
        assert rule["defaultConfiguration"]["level"] in _LEVELS


def _invocation(invocation: dict[str, Any]) -> None:
    assert invocation.keys() <= {"executionSuccessful", "toolExecutionNotifications"}
    assert isinstance(invocation["executionSuccessful"], bool)
    for notification in invocation.get("toolExecutionNotifications", []):
        assert notification.keys() <= {"level", "message", "locations"}
        assert notification["level"] in _LEVELS
        assert notification["message"]["text"]
        for location in notification.get("locations", []):
            _location(location)


def _result(result: dict[str, Any], rules: list[str]) -> None:
    assert result.keys() <= _RESULT
    assert rules[result["ruleIndex"]] == result["ruleId"]
    assert result["level"] in _LEVELS
    assert result["message"]["text"]
    assert len(result["locations"]) == 1
    assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
    for location in (*result["locations"], *result.get("relatedLocations", [])):
        _location(location)
    ids = [related["id"] for related in result.get("relatedLocations", [])]
    assert ids == list(range(1, len(ids) + 1))
    for fix in result.get("fixes", []):
        assert fix.keys() == {"description", "artifactChanges", "properties"}
        assert fix["properties"]["applicability"] in ("safe", "unsafe")
        assert fix["artifactChanges"]
        for change in fix["artifactChanges"]:
            _artifact(change["artifactLocation"])
            for replacement in change["replacements"]:
                assert replacement.keys() <= {"deletedRegion", "insertedContent"}
                _region(replacement["deletedRegion"])


def _location(location: dict[str, Any]) -> None:
    assert location.keys() <= {"id", "message", "physicalLocation", "logicalLocations"}
    assert ("physicalLocation" in location) != ("logicalLocations" in location)
    if "physicalLocation" in location:
        physical = location["physicalLocation"]
        _artifact(physical["artifactLocation"])
        if "region" in physical:
            _region(physical["region"])
    for logical in location.get("logicalLocations", []):
        assert logical.keys() == {"name", "fullyQualifiedName", "kind"}
        assert all(logical.values())


def _artifact(artifact: dict[str, Any]) -> None:
    assert artifact.keys() <= {"uri", "uriBaseId"}
    reference = artifact["uri"]
    assert reference.isascii()
    assert reference.isprintable()
    assert not set(reference) & set(' "<>\\^`{|}#?')
    parts = urlsplit(reference)
    assert (parts.scheme == "file") == ("uriBaseId" not in artifact)
    assert unquote(parts.path, errors="surrogateescape")


def _region(region: dict[str, int]) -> None:
    assert region.keys() == {"startLine", "startColumn", "endLine", "endColumn"}
    assert all(value >= 1 for value in region.values())
    start = (region["startLine"], region["startColumn"])
    assert start <= (region["endLine"], region["endColumn"])


def test_everything() -> None:
    text = render(EVERYTHING)
    run_of(text)
    assert_golden("everything.sarif", text)


def test_nothing_has_results_all_the_same() -> None:
    run = run_of(render(Report()))
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_levels_places_and_rules() -> None:
    run = run_of(render(EVERYTHING))
    assert [r["level"] for r in run["results"]] == ["warning", "error", "error", "note"]
    assert run["invocations"][0]["executionSuccessful"] is False
    first, *_, last = run["results"]
    assert [sorted(r) for r in first["relatedLocations"]] == [
        ["id", "message", "physicalLocation"],
        ["id", "logicalLocations", "message"],
    ]
    assert last["locations"] == [
        {"logicalLocations": [{"name": "kafka-9", "fullyQualifiedName": "kafka-9", "kind": "resource"}]}
    ]


def test_a_rule_brings_its_page() -> None:
    run = run_of(render(Report(findings=(loopback("broker-1"),)), pages="https://example.org/rules/"))
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://example.org/rules/listener-bound-to-loopback.md"
    assert "## Good" in rule["help"]["markdown"]
    assert rule["defaultConfiguration"] == {"level": "error"}


@pytest.mark.parametrize("before", ["", "# \U0001f600\r\n", "\ufeff# x\r", "# é\n"])
def test_a_fix_is_the_edit_whatever_the_bytes(before: str) -> None:
    data = f"{before}a: '\U0001f600' # 127.0.0.1 é\r\nb: 1\r\n".encode()
    where = place(data.replace(b"\r#", b"\n#"), "127.0.0.1") if "\r#" not in before else place(data, "127.0.0.1")
    finding = replace(
        loopback("broker-1"),
        location=where,
        related=(),
        edits=(Edit(path="compose.yml", start=where.start, end=where.end, replacement="0.0.0.0"),),
    )
    (result,) = run_of(render(Report(findings=(finding,), sources={"compose.yml": data})))["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    region = change["replacements"][0]["deletedRegion"]
    assert applied(data, region, "0.0.0.0") == data.replace(b"127.0.0.1", b"0.0.0.0")


def applied(data: bytes, region: dict[str, int], text: str) -> bytes:
    """What a reader of SARIF makes of a replacement: lines as said, columns in UTF-16 code units."""
    body = data.decode("utf-8-sig")
    lines = body.replace("\r\n", "\0\n").replace("\r", "\1\n").split("\n")
    units = lines[region["startLine"] - 1].encode("utf-16-le")
    assert region["startLine"] == region["endLine"]
    start, end = (region[name] * 2 - 2 for name in ("startColumn", "endColumn"))
    lines[region["startLine"] - 1] = (units[:start] + text.encode("utf-16-le") + units[end:]).decode("utf-16-le")
    changed = "\n".join(lines).replace("\0\n", "\r\n").replace("\1\n", "\r")
    return changed.encode("utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8")


def test_an_edit_that_cannot_be_placed_is_no_fix() -> None:
    assert "fixes" not in run_of(render(Report(findings=(loopback("broker-1"),))))["results"][0]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(text: str) -> None:
    rendered = render(hostile(text))
    assert rendered.isascii()
    message = run_of(rendered)["results"][0]["message"]["text"]
    assert all(line.isprintable() for line in message.split("\n"))
    shown = harmless(text).replace("[", "\\[") if "](" in text else harmless(text)
    assert message.startswith(f"says {shown}\nwhy: ")


def test_secrets_are_not_printed() -> None:
    assert "hunter2" not in render(SECRET)


def test_fingerprints_are_unique_and_equal_reports_give_equal_bytes() -> None:
    results: list[Any] = run_of(render(Report(findings=(FOREIGN, FOREIGN, RUNNING))))["results"]
    assert len({json.dumps(r["partialFingerprints"]) for r in results}) == 3
    assert render(replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == render(EVERYTHING)


DATA = "a: 'é\U0001f600b'\nc: d\n".encode()
PLACES = Places({"/r/x y.yml": DATA}, "/r")


@pytest.mark.parametrize(
    ("place", "region"),
    [
        ((1, 7, 1, 8), (1, 8, 1, 9)),
        ((1, 6, 1, 7), (1, 6, 1, 8)),
        ((1, 5, 2, 3), (1, 5, 2, 3)),
        ((0, 0, 0, 0), (1, 1, 1, 1)),
        ((2, 4, 1, 1), (2, 4, 2, 4)),
        ((99, 3, 99, 9), (99, 3, 99, 9)),
    ],
)
def test_columns(place: tuple[int, int, int, int], region: tuple[int, int, int, int]) -> None:
    line, column, end_line, end_column = place
    where = FileLocation(
        path="/r/x y.yml", line=line, column=column, end_line=end_line, end_column=end_column, start=0, end=0
    )
    physical = PLACES.location(where)["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "x%20y.yml", "uriBaseId": "%SRCROOT%"}
    assert tuple(physical["region"].values()) == region


def test_a_container_is_a_resource() -> None:
    (where,) = PLACES.location(ContainerLocation(container="k", part="A"))["logicalLocations"]
    assert where == {"name": "A", "fullyQualifiedName": "k (A)", "kind": "resource"}


def test_changes_are_in_order_and_all_or_none() -> None:
    edits = [Edit(path="/r/x y.yml", start=n, end=n, replacement=text) for n, text in ((3, "z"), (0, ""))]
    (change,) = PLACES.changes(edits)
    assert [r["deletedRegion"]["startColumn"] for r in change["replacements"]] == [1, 4]
    assert "insertedContent" not in change["replacements"][0]
    assert PLACES.changes([*edits, Edit(path="gone", start=0, end=0, replacement="z")]) == []


def test_a_file_elsewhere_has_its_whole_address() -> None:
    assert PLACES.artifact("/elsewhere/x.yml") == {"uri": "file:///elsewhere/x.yml"}


def test_every_rule() -> None:
    for rule, found in zip(ALL, rule_descriptors(rule.ID for rule in ALL), strict=True):
        assert found["id"] == rule.ID
        assert found["name"].isalnum()
        assert found["shortDescription"]["text"] in (rule.__doc__ or "")
        assert "Why: " in found["help"]["text"]
        assert found["properties"]["problem.severity"] in ("error", "warning", "recommendation")
        assert "helpUri" not in found


def test_what_has_no_rule_and_what_nobody_knows() -> None:
    unused, unknown = rule_descriptors(["unused-ignore", "x"])
    assert unused["shortDescription"]["text"] == "A comment ignores findings that do not occur."
    assert unknown == {"id": "x"}
