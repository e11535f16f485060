"""Each ability has its line; what is missing has its command; nothing foreign gets through unseen."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema

import netdiag.render
from netdiag.machine import Found, Trouble, abilities
from netdiag.render.doctor import doctor_json, doctor_text
from netdiag.render.screen import Screen
from tests.machine.literals import WELL


def test_all_is_well() -> None:
    text = doctor_text(abilities(WELL), Screen())
    assert text.splitlines()[-1] == "everything that netdiag can use is available"
    assert "→" not in text


def test_what_is_missing_is_shown_with_its_command() -> None:
    engine = Found(why_not="no engine answers there\x1b[2J", trouble=Trouble.NOBODY)
    lines = doctor_text(abilities(replace(WELL, engine=engine, tools={})), Screen(width=60)).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("missing engine"))
    assert any(line.strip() == "→ sudo apt-get install docker.io" for line in lines[at:])
    assert lines[-1] == "11 ok, 1 limited, 1 missing"
    assert "\x1b" not in "".join(lines)


SCHEMA = Path(netdiag.render.__file__).parent / "schema" / "doctor.v1.json"


def test_json_follows_its_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    lacking = replace(WELL, engine=Found(why_not="nobody", trouble=Trouble.NOBODY), tools={})
    worse = json.loads(doctor_json(lacking, abilities(lacking)))
    jsonschema.validate(worse, schema)
    assert {each["state"] for each in worse["abilities"]} == {"ok", "limited", "missing"}
    read = json.loads(doctor_json(WELL, abilities(WELL)))
    jsonschema.validate(read, schema)
    assert [each["name"] for each in read["abilities"]] == [each.name for each in abilities(WELL)]
    assert read["rights"] == sorted(WELL.rights)
