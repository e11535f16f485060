"""Hooks with the memory of connections: translations are made once, kept, and undone for answers."""

from dataclasses import replace

import pytest

from netdiag.linux.filtering import Packet, Verdict
from netdiag.linux.ruleset import Ruleset
from netdiag.topology.passage import Ends, Moving, Passage, ends_of, surroundings, told
from netdiag.topology.terrain import Place
from tests.topology.wires import Wires, rule, rules

TO_B = rule(1, "dnat to 10.0.0.2:9092", ("nat", {"type": "dnat", "addresses": ["10.0.0.2"]}))
DROP = rule(1, "drop", ("verdict", {"verdict": "drop", "chain": ""}))
FIRST = Packet(family=4, protocol="tcp", source="10.0.0.1", source_port=4, destination="9.9.9.9", destination_port=9092)


def place(ruleset: Ruleset) -> Place:
    made = Wires()
    made.space("a")
    made.device("a", "eth0", "", "10.0.0.254/24")
    return Place(replace(made.spaces["a"].facts(), ruleset=ruleset))


def test_without_rules_a_packet_passes_and_is_remembered() -> None:
    here, passage, moving = place(Ruleset()), Passage(), Moving(packet=FIRST)
    assert passage.hook(here, "prerouting", moving, in_link="eth0").verdict is Verdict.ACCEPT
    assert moving.track is not None
    assert moving.track.original == ends_of(FIRST)
    assert moving.track.reply == Ends(source="9.9.9.9", source_port=9092, destination="10.0.0.1", destination_port=4)


def test_a_drop_names_its_rule() -> None:
    here = place(rules("input", DROP))
    found = Passage().hook(here, "input", Moving(packet=FIRST), in_link="eth0")
    assert found.verdict is Verdict.DROP
    assert [one.text for one in told(found)] == ["drop"]


def test_answers_to_what_was_never_seen_are_invalid() -> None:
    moving = Moving(packet=FIRST, answer=True)
    Passage().hook(place(rules("prerouting")), "prerouting", moving, in_link="eth0")
    assert moving.track is None
    assert moving.packet.state.value == "invalid"


@pytest.mark.parametrize("hook", ["prerouting", "output"])
def test_masquerading_is_undone_for_the_answer(hook: str) -> None:
    masquerade = rules("postrouting", rule(1, "masquerade", ("masq", {})), type="nat", priority=100)
    here, passage, moving = place(masquerade), Passage(), Moving(packet=FIRST)
    passage.hook(here, "prerouting", moving, in_link="eth1")
    passage.hook(here, "postrouting", moving, out_link="eth0", towards="10.0.0.2")
    assert moving.packet.source == "10.0.0.254"
    back = Packet(
        family=4, protocol="tcp", source="9.9.9.9", source_port=9092, destination="10.0.0.254", destination_port=4
    )
    answer = Moving(packet=back, answer=True)
    passage.hook(here, hook, answer)
    assert (answer.packet.destination, answer.packet.state.value) == ("10.0.0.1", "established")
    error = Moving(packet=back, answer=True, error="10.0.0.9")
    passage.hook(here, hook, error)
    assert error.packet.destination == "10.0.0.1"


def test_what_rules_ask_of_the_namespace() -> None:
    around = surroundings(place(Ruleset()), 4, "10.0.0.2")
    assert around.is_local is not None
    assert around.is_local("10.0.0.254")
    assert around.address_of is not None
    assert (around.address_of("eth0"), around.address_of("nope")) == ("10.0.0.254", "")
    assert around.ifindexes["eth0"] == 2
