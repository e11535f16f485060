"""JSON of an analysis is a contract: the schema describes it, and has every column of every answer."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import netdiag.render
from netdiag.render.analysis.tables import analysis_json
from netdiag.traffic.analysis import Analysis, Seen
from netdiag.traffic.tables import aggregate, aggregate_names
from tests.render.analyses import analysis, answer, finding

SCHEMA = json.loads((Path(netdiag.render.__file__).parent / "schema" / "analyze.v1.json").read_text(encoding="utf-8"))
EMPTY = {name: answer(name) for name in aggregate_names()}


def parsed(value: Analysis) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(analysis_json(value))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", aggregate_names())
def test_the_schema_has_every_column(name: str) -> None:
    row = SCHEMA["properties"]["answers"]["properties"][name]["properties"]["rows"]["items"]
    assert tuple(row["properties"]) == tuple(row["required"]) == aggregate(name).names
    assert [entry["description"] for entry in row["properties"].values()] == [c.doc for c in aggregate(name).columns]


def test_a_document_keeps_the_schema() -> None:
    answers = {name: answer(name, {}) for name in aggregate_names()}
    found = parsed(replace(analysis(**answers), findings=(finding(),)))
    assert found["first_time"] == "2023-11-14T22:13:20.123456789Z"
    assert found["protocols"] == {"kafka": 2, "tls": 1}
    assert found["findings"][0]["rule"] == "wire-told-loopback"
    assert found["answers"]["timeline"]["rows"][0]["time"] == "2023-11-14T22:13:20.123456789Z"
    assert found["answers"]["lag"] == {"total": 1, "rows": [found["answers"]["lag"]["rows"][0]]}


def test_an_empty_one_does_too() -> None:
    found = parsed(replace(analysis(**EMPTY), seen=Seen()))
    assert (found["first_time"], found["packets"]) == (None, 0)


def test_foreign_text_stays_inside_its_string() -> None:
    evil = analysis(**{**EMPTY, "topics": answer("topics", {"topic": '"}\x1b\ud800'})})
    text = analysis_json(evil)
    assert text.isascii()
    assert parsed(evil)["answers"]["topics"]["rows"][0]["topic"] == '"}\x1b\ufffd'
