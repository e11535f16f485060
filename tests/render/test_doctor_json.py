"""The document follows its schema."""

import json
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.machine.abilities import abilities
from netdiag.render.doctor import doctor_json
from tests.machine.literals import WELL

SCHEMA = Path(netdiag.render.__file__).parent / "schema" / "doctor.v1.json"


def test_json_follows_its_schema() -> None:
    read = json.loads(doctor_json(WELL, abilities(WELL)))
    jsonschema.validate(read, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [each["name"] for each in read["abilities"]] == [each.name for each in abilities(WELL)]
    assert read["rights"] == sorted(WELL.rights)
