"""JSON is a contract: the schema describes it, and nothing that a file holds can break it."""

import json
import random
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from netdiag.deployment.model.verdict import Failed, Mechanism, Reason, Unknown, judge
from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    TopologyLocation,
    WireLocation,
)
from netdiag.render.formats.json import render
from netdiag.render.json_values import finding_value, indented, sound
from netdiag.render.report import Input, Report
from tests.render.golden import assert_golden
from tests.render.literals import HOST, address, matrix
from tests.render.reports import EVERYTHING, RUNNING
from tests.render.schemas import strict_schema

SCHEMA = strict_schema("check-listeners.v1.json")


def valid(text: str) -> dict[str, object]:
    """The value of a JSON text that keeps the schema."""
    value = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(value)
    assert isinstance(value, dict)
    return value


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_everything() -> None:
    text = render(EVERYTHING)
    valid(text)
    assert_golden("everything.json", text)


def test_nothing() -> None:
    nothing: dict[str, object] = {
        name: []
        for name in (
            "inputs",
            "findings",
            "suppressed",
            "matrix",
            "mesh",
            "security",
            "registered",
            "causes",
            "skipped",
            "notes",
        )
    }
    assert valid(render(Report())) == {"version": 1, "urls": [], **nothing}


def test_the_shape_that_the_first_release_promised() -> None:
    finding = json.loads(render(EVERYTHING))["findings"][2]
    assert {"rule", "severity", "message", "hint", "location", "related", "service", "listener"} <= finding.keys()
    assert {"path", "line", "column"} <= finding["location"].keys()
    cell = json.loads(render(EVERYTHING))["matrix"][0]
    assert {"vantage", "bootstrap", "predicted", "observed", "endpoints", "agrees"} <= cell.keys()
    assert {"verdict", "reason", "reached", "advertised"} <= cell["predicted"].keys()


def test_a_container_is_a_place() -> None:
    value = json.loads(render(Report(findings=(RUNNING,))))
    assert value["findings"][0]["location"] == {"container": "kafka-9", "part": ""}


@pytest.mark.parametrize(
    "name", ["\x1b[2J", "\u202e", "\x00", "日本", "\ud800", "\U0001f600", 'a"b\\c', "\udcff\udc80"]
)
def test_hostile_text_gives_plain_ascii(name: str) -> None:
    place = FileLocation(path=name, line=1, column=1, end_line=1, end_column=1, start=0, end=0)
    finding = Finding(rule="r", severity=Severity.NOTE, message=name, location=place)
    report = Report(inputs=(Input(name=name),), findings=(finding,), matrices=(matrix([HOST], {}, name),))
    text = render(report)
    valid(text)
    assert text.isascii()
    json.loads(text)["findings"][0]["message"].encode("utf-8")


def test_secrets_are_not_printed() -> None:
    finding = replace(RUNNING, message='bad password="hunter2"', why="password=hunter2", hint="not password=hunter2")
    assert "hunter2" not in render(Report(findings=(finding,)))


def test_equal_reports_give_equal_bytes() -> None:
    assert render(EVERYTHING) == render(replace(EVERYTHING))


def test_the_schema_knows_every_mechanism() -> None:
    assert SCHEMA["$defs"]["mechanism"]["enum"] == [*Mechanism, None]


def test_a_failure_names_its_mechanism() -> None:
    refused = Failed(reason=Reason.REFUSED, because="", mechanism=Mechanism.NOT_PUBLISHED)
    verdict = judge(refused, lambda endpoint: Unknown(because=""))
    text = render(Report(matrices=(matrix([HOST], {"localhost:9092": [verdict]}),)))
    valid(text)
    assert json.loads(text)["matrix"][0]["predicted"]["mechanism"] == "not-published"


def test_the_second_hop_is_told_endpoint_by_endpoint() -> None:
    cells = [c for c in json.loads(render(EVERYTHING))["matrix"] if c["bootstrap"] == str(address("localhost:9092"))]
    own = next(c for c in cells if c["vantage"] == "inside broker-2")
    assert own["predicted"] == {
        "verdict": "partial",
        "reason": None,
        "reached": 1,
        "advertised": 5,
        "because": None,
        "mechanism": None,
    }
    assert [e["outcome"] for e in own["endpoints"]] == ["ok", "refused", "refused", "refused", "refused"]


FILE = FileLocation(path="a.yml", line=1, column=2, end_line=1, end_column=3, start=1, end=2)


@pytest.mark.parametrize(
    ("location", "told"),
    [
        (FILE, {"path": "a.yml", "line": 1, "column": 2, "end_line": 1, "end_column": 3}),
        (ContainerLocation(container="kafka", part="log"), {"container": "kafka", "part": "log"}),
        (
            WireLocation(file="a.pcap", packet=None, time=1, client="a", broker="b"),
            {"file": "a.pcap", "packet": None, "time": 1, "client": "a", "broker": "b"},
        ),
        (TopologyLocation(place="host", device="br0"), {"place": "host", "device": "br0", "part": ""}),
    ],
)
def test_places(location: Location, told: dict[str, object]) -> None:
    finding = Finding(rule="r", severity=Severity.NOTE, message="password=x", location=location)
    value = finding_value(finding)
    assert (value["location"], value["severity"], value["message"]) == (told, "note", "password=[hidden]")


def test_the_layout_is_that_of_the_standard_library() -> None:
    chance = random.Random(3)
    texts = ["", "a", "é", "\udcff", "\U0001f600", '"\\ud8', "\n\t", "\x7f"]

    def value(depth: int) -> Any:
        kind = chance.randrange(8 if depth else 5)
        if kind < 5:
            return [None, True, chance.randrange(-9, 9), chance.random(), chance.choice(texts)][kind]
        several = [value(depth - 1) for _ in range(chance.randrange(4))]
        named = {f"{chance.choice(texts[:3])}{number}": one for number, one in enumerate(several)}
        return [several, tuple(several), named][kind - 5]

    for _ in range(3000):
        made = value(4)
        assert indented(made) == json.dumps(sound(made), indent=2)


def test_lone_surrogates_are_replaced_at_every_depth() -> None:
    assert sound({"a": ["\udcff", {"b": "\ud83d\ude00"}], "c": 1}) == {"a": ["\ufffd", {"b": "\U0001f600"}], "c": 1}
