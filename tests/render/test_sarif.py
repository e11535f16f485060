"""SARIF that code scanning takes: structure, columns, URIs, links, fixes, fingerprints."""

import json
from dataclasses import replace
from typing import Any

import pytest

from netdiag.findings import Edit
from netdiag.render.findings.places import harmless
from netdiag.render.formats.sarif import render
from netdiag.render.report import Report
from tests.render.golden import assert_golden
from tests.render.literals import place
from tests.render.reports import EVERYTHING, FOREIGN, HOSTILE, RUNNING, SECRET, hostile, loopback
from tests.render.sarif_structure import run_of


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
