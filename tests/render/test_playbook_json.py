"""The document follows its schema."""

import json
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.render.playbooks import diagnosis_json
from tests.render.told import NOTHING, RUN, SYMPTOM

SCHEMA = Path(netdiag.render.__file__).parent / "schema" / "diagnosis.v1.json"


def test_json_follows_its_schema() -> None:
    text = diagnosis_json([SYMPTOM], [RUN, NOTHING])
    assert text.isascii()
    read = json.loads(text)
    jsonschema.validate(read, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert read["runs"][0]["conclusions"][0]["evidence"] == list(RUN.reached[0].evidence)
    assert read["symptoms"][0]["values"] == {"host": "kafka"}
