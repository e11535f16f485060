"""Playbooks and runs on a terminal: everything is there, nothing foreign gets through."""

from netdiag.render.playbooks import end_text, playbook_list, playbook_page, recognised_text, step_text
from netdiag.render.screen import Screen
from tests.render.told import NOTHING, PLAYBOOK, RUN, SYMPTOM


def harmless(text: str) -> bool:
    return "\x1b" not in text and "‮" not in text


def test_the_list() -> None:
    made = playbook_list([("a", "A thing"), ("long-name", "Another")], Screen())
    assert made == "a          A thing\nlong-name  Another\n"


def test_a_page() -> None:
    text = playbook_page(PLAYBOOK, Screen())
    for part in ("Nobody listens.", "Connection refused {host}", "(matrix, with --live)", "(lint)", "proven"):
        assert part in text


def test_steps_and_end() -> None:
    steps = [step_text(step, Screen()) for step in RUN.steps]
    assert [text[:14].strip() for text in steps] == ["looked", "could not look", "passed over"]
    assert "→ run again with --live" in steps[1]
    end = end_text(RUN, Screen())
    for part in ("the client dials itself", "seen: compose.yml:7", "→ give it the service name", "netdiag explain"):
        assert part in end
    assert all(map(harmless, [*steps, end]))
    assert "nothing wrong was found" in end_text(NOTHING, Screen())


def test_what_was_recognised() -> None:
    text = recognised_text([SYMPTOM, SYMPTOM], Screen())
    assert "line 3, Java clients, 2 times:" in text
    assert harmless(text)
