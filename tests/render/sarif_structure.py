"""What SARIF 2.1.0 and code scanning demand of a file, strictly: known keys, ranges, references."""

import json
from typing import Any
from urllib.parse import unquote, urlsplit

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
