"""Changes as text and as JSON."""

import json

from netdiag.render.screen import Screen
from netdiag.render.topology.tree import change_summary, changes_json, changes_text
from netdiag.topology.diff import ChangeKind, Difference, FactChange
from tests.render.topology.hostile import EVIL

CHANGES = (
    Difference(
        turn=ChangeKind.APPEARED,
        kind="link",
        name="host eth1",
        facts=(FactChange(name="mtu", before="", after="1500"),),
    ),
    Difference(
        turn=ChangeKind.CHANGED,
        kind="link",
        name="host eth0",
        facts=(FactChange(name="mtu", before="1500", after="1400"),),
    ),
    Difference(turn=ChangeKind.GONE, kind="published port", name="0.0.0.0:9092/tcp"),
)


def test_text() -> None:
    assert changes_text(CHANGES, Screen()).splitlines() == [
        "+ link host eth1  mtu 1500",
        "~ link host eth0  mtu 1500 -> 1400",
        "- published port 0.0.0.0:9092/tcp",
        "3 changes: 1 appeared, 1 gone, 1 changed",
    ]


def test_nothing() -> None:
    assert changes_text((), Screen()) == "nothing changed\n"
    assert json.loads(changes_json(())) == {"format": "netdiag-topology-diff", "version": 1, "changes": []}


def test_json() -> None:
    value = json.loads(changes_json(CHANGES))
    assert value["changes"][1] == {
        "turn": "changed",
        "kind": "link",
        "name": "host eth0",
        "facts": [{"name": "mtu", "before": "1500", "after": "1400"}],
    }
    assert value["changes"][0]["facts"][0]["before"] is None


def test_many_of_a_kind_are_counted() -> None:
    many = [Difference(turn=ChangeKind.GONE, kind="route", name=f"host 10.0.{n}.0/24") for n in range(100)]
    assert "  and 80 more of kind route" in changes_text(many, Screen()).splitlines()
    assert changes_text(many, Screen(), full=True).count("- route") == 100
    assert change_summary(many) == "100 changes: 100 gone"


def test_what_is_in_a_namespace_that_came_or_went_goes_with_it() -> None:
    def changes(turn: ChangeKind) -> list[Difference]:
        names = (
            ("namespace", "pid 7 (java)"),
            ("link", "pid 7 (java) lo"),
            ("link", "pid 70 lo"),
            ("network", "pid 7 (java) x"),
        )
        return [Difference(turn=turn, kind=kind, name=name) for kind, name in names]

    told = changes_text([*changes(ChangeKind.APPEARED), *changes(ChangeKind.GONE)], Screen()).splitlines()
    assert told == [
        "+ namespace pid 7 (java)  with 1 thing in it",
        "- namespace pid 7 (java)  with 1 thing in it",
        "+ link pid 70 lo",
        "- link pid 70 lo",
        "+ network pid 7 (java) x",
        "- network pid 7 (java) x",
        "8 changes: 4 appeared, 4 gone",
    ]
    assert "+ link pid 7 (java) lo" in changes_text(changes(ChangeKind.APPEARED), Screen(), full=True)


def test_hostile_names_stay_on_their_lines() -> None:
    evil = Difference(
        turn=ChangeKind.CHANGED, kind=EVIL, name=EVIL, facts=(FactChange(name=EVIL, before=EVIL, after="x" * 9999),)
    )
    text = changes_text((evil,), Screen(width=100))
    assert not {character for character in text if not character.isprintable()} - {"\n"}
    assert len(text) < 2000
    assert json.loads(changes_json((evil,)))["changes"][0]["name"] == EVIL
