"""The published schema takes every playbook that netdiag takes, and names the same actions and things."""

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

import netdiag.playbook
from netdiag.playbook.actions import ACTIONS, ActionName
from tests.house.tree import ROOT
from tests.playbook.examples import TEXT

SCHEMA = json.loads((Path(netdiag.playbook.__file__).parent / "schema" / "playbook.v1.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("path", sorted((ROOT / "playbooks").glob("*.yml")), ids=lambda path: path.stem)
def test_shipped_playbooks_follow_it(path: Path) -> None:
    VALIDATOR.validate(YAML(typ="safe").load(path.read_text("utf-8")))


def test_it_refuses_what_is_none() -> None:
    VALIDATOR.validate(YAML(typ="safe").load(TEXT))
    for said, instead in [
        ("playbook: 1", "playbook: 2"),
        ("action: lint", "action: shell"),
        ("of: cells", "of: money"),
    ]:
        assert not VALIDATOR.is_valid(YAML(typ="safe").load(TEXT.replace(said, instead)))


def test_its_words_are_ours() -> None:
    step = SCHEMA["properties"]["steps"]["items"]["properties"]
    assert step["action"]["enum"] == list(ActionName)
    things = {of for action in ACTIONS.values() for of in action.gives}
    assert set(SCHEMA["$defs"]["condition"]["oneOf"][3]["properties"]["of"]["enum"]) == things
