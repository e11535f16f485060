"""Playbooks and diagnoses in every format: everything is there, nothing foreign gets through."""

import json
from dataclasses import asdict
from html.parser import HTMLParser

import jsonschema

from netdiag.render.playbooks import (
    ConclusionView,
    PlaybookView,
    RunView,
    StepView,
    SymptomView,
    diagnosis_html,
    diagnosis_json,
    diagnosis_markdown,
    end_text,
    playbook_list,
    playbook_page,
    recognised_text,
    step_text,
)
from netdiag.render.screen import Screen
from tests.render.schemas import strict_schema

EVIL = "<script>alert(1)</script>\x1b[2J‮"

CAUSE = ConclusionView(
    name="client-dials-itself",
    confidence="proven",
    cause="the client dials itself",
    repair="give it the service name",
    rules=("dependent-bootstrap-localhost",),
    evidence=("compose.yml:7: localhost", EVIL),
)
RUN = RunView(
    playbook="bootstrap-refused",
    title="The address refuses",
    end="cause",
    summary="the client dials itself",
    steps=(
        StepView(id="files", title="what files declare", action="lint", state="done", result="1 finding", seconds=0.2),
        StepView(
            id="live",
            title="what runs",
            action="matrix",
            state="failed",
            result="no engine",
            fix="run again with --live",
            notes=(EVIL,),
        ),
        StepView(id="log", title="the log", action="log", state="skipped", result="no use"),
    ),
    reached=(CAUSE,),
    variables=(("host", EVIL),),
)
NOTHING = RunView(
    playbook="x", title="X", end="no cause", summary="netdiag found no cause", steps=RUN.steps[:1], reached=()
)
SYMPTOM = SymptomView(
    playbook="bootstrap-refused",
    title="The address refuses",
    means="Nobody listens.",
    who="Java clients",
    line=f"Connection refused {EVIL}",
    number=3,
    times=2,
    values=(("host", "kafka"),),
)
PLAYBOOK = PlaybookView(
    name="bootstrap-refused",
    title="The address refuses",
    means="Nobody listens.",
    symptoms=(("Java clients", "Connection refused {host}"),),
    steps=(("what files declare", "lint", False), ("what runs", "matrix", True)),
    conclusions=(CAUSE,),
)


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
    assert [text[:7].strip() for text in steps] == ["done", "failed", "skipped"]
    assert "→ run again with --live" in steps[1]
    end = end_text(RUN, Screen())
    for part in ("the client dials itself", "seen: compose.yml:7", "→ give it the service name", "netdiag explain"):
        assert part in end
    assert all(map(harmless, [*steps, end]))
    assert "netdiag found no cause" in end_text(NOTHING, Screen())


def test_what_was_recognised() -> None:
    text = recognised_text([SYMPTOM, SYMPTOM], Screen())
    assert "line 3, Java clients, 2 times:" in text
    assert harmless(text)


SCHEMA = strict_schema("diagnosis.v1.json")


def test_json_follows_its_schema() -> None:
    text = diagnosis_json([SYMPTOM], [RUN, NOTHING])
    assert text.isascii()
    read = json.loads(text)
    jsonschema.validate(read, SCHEMA)
    assert read["runs"][0]["conclusions"][0]["evidence"] == list(RUN.reached[0].evidence)
    assert read["symptoms"][0]["values"] == {"host": "kafka"}


def test_what_it_holds() -> None:
    text = diagnosis_markdown([SYMPTOM], [RUN])
    for part in ("the client dials itself", "give it the service name", "1 finding", "line 3, Java clients, 2 times"):
        assert part in text
    assert "<script" not in text
    assert "\x1b" not in text
    assert text.count("\n|") == len(RUN.steps) + 2


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_playbook_html_what_it_holds() -> None:
    page = Seen()
    page.feed(diagnosis_html([SYMPTOM], [RUN]))
    assert not {"script", "img", "iframe", "link"} & set(page.tags)
    for part in ("the client dials itself", "give it the service name", "1 finding", "<script>alert(1)</script>"):
        assert part in page.text
    assert "\x1b" not in page.text
    assert "‮" not in page.text


def plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    return isinstance(value, str | int | float | bool)


def test_it_is_texts_and_numbers() -> None:
    for told in (PLAYBOOK, RUN, SYMPTOM):
        assert plain(asdict(told))
