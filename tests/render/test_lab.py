"""A teaching lab as text."""

import json
from dataclasses import replace

import jsonschema
import pytest

from netdiag.findings import Severity
from netdiag.machine import Found, Trouble, abilities
from netdiag.render.doctor import doctor_json, doctor_text
from netdiag.render.lab import invitation_text, left_text, passed_over_text, step_text, trials_text
from netdiag.render.rule_pages import escaped, fenced, rule_list, rule_markdown, rule_text
from netdiag.render.screen import Screen
from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import rule_page
from netdiag.topology.tutorial_lab import STEPS, TRIALS
from tests.each import each
from tests.machine.test_machine import WELL
from tests.render.schemas import strict_schema

SCREEN = Screen(width=80)


def test_a_step_has_its_reason_and_its_commands() -> None:
    lines = step_text("x", 1, STEPS[0], SCREEN).splitlines()
    assert lines[0] == "1. a namespace that plays the host"
    assert lines[-3:] == ["   $ ip netns add netdiag-x-host", "   $ ip -n netdiag-x-host link set lo up", ""]
    assert max(len(line) for line in lines) <= 80


def test_what_cannot_be_shown_takes_one_line() -> None:
    text = passed_over_text(6, STEPS[5], "this kernel does not support these devices", SCREEN)
    assert text == "6. a VLAN, skipped: this kernel does not support these devices\n\n"


def test_trials_and_what_to_do_next() -> None:
    results = [(TRIALS[0], "connected"), (TRIALS[1], "no answer")]
    assert trials_text(results, SCREEN).splitlines() == [
        "tried",
        "   one → two (10.123.0.12), over the bridge: connected",
        "   outside → one (10.123.0.11), routed by the host: no answer",
        "",
    ]
    assert invitation_text([("a", "one"), ("abc", "two")], SCREEN) == "next\n   $ a    one\n   $ abc  two\n"


def test_what_is_left_is_named_harmlessly() -> None:
    assert left_text([("x\x1b[31m", "others have devices in it: a\nb")], SCREEN) == (
        "left: x\\x1b[31m: others have devices in it: a\\nb\n"
    )


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


SCHEMA = strict_schema("doctor.v1.json")


def test_json_follows_its_schema() -> None:
    lacking = replace(WELL, engine=Found(why_not="nobody", trouble=Trouble.NOBODY), tools={})
    worse = json.loads(doctor_json(lacking, abilities(lacking)))
    jsonschema.validate(worse, SCHEMA)
    assert {each["state"] for each in worse["abilities"]} == {"ok", "limited", "missing"}
    read = json.loads(doctor_json(WELL, abilities(WELL)))
    jsonschema.validate(read, SCHEMA)
    assert [each["name"] for each in read["abilities"]] == [each.name for each in abilities(WELL)]
    assert read["rights"] == sorted(WELL.rights)


def test_the_list_is_aligned() -> None:
    rules = [("a-rule", Severity.ERROR, "One."), ("another-rule", Severity.WARNING, "Two.")]
    assert rule_list(rules, Screen()) == "a-rule        error    One.\nanother-rule  warning  Two.\n"


def test_prose_is_wrapped_and_examples_are_not() -> None:
    long = "word " * 30
    text = rule_text(
        "r", Severity.NOTE, "Title.", [("Why", long), ("Bad", "k: " + "v" * 90), ("Seen", "")], Screen(width=60)
    )
    lines = text.splitlines()
    assert lines[:4] == ["r (note)", "Title.", "", "Why"]
    assert all(len(line) <= 60 for line in lines if "word" in line)
    assert "    k: " + "v" * 90 in lines
    assert "Seen" not in lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("KAFKA_LISTENERS is a_b", "KAFKA_LISTENERS is a_b"),
        ("<host> and *", "\\<host> and \\*"),
        ("a [link](x)", "a \\[link](x)"),
        ("_a_ `b_<c>` `", "\\_a\\_ `b_<c>` \\`"),
    ],
)
def test_prose(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_fence_is_longer_than_those_inside() -> None:
    assert fenced("a\n```\nb\n", "yaml") == "````yaml\na\n```\nb\n````"


@each("rule", ALL, ids=lambda rule: rule.ID)
def test_every_rule(rule: object) -> None:
    page = rule_page(rule.__doc__ or "")
    text = rule_markdown(page, after_bad="BEHIND BAD", after_good="BEHIND GOOD")
    headings = [line for line in text.splitlines() if line.startswith(("## ", "BEHIND"))]
    assert headings == ["## Bad", "BEHIND BAD", "## Good", "BEHIND GOOD", "## Seen", "## Sources"]
    assert page.bad.rstrip() in text
    assert page.good.rstrip() in text
