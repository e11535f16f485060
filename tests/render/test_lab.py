"""A teaching lab as text."""

from netdiag.render.lab import invitation_text, left_text, passed_over_text, step_text, trials_text
from netdiag.render.screen import Screen
from netdiag.topology.tutorial_lab import STEPS, TRIALS

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
