"""Markdown for an issue: the cause, its evidence and the steps; foreign text is text."""

from netdiag.render.playbooks import diagnosis_markdown
from tests.render.told import RUN, SYMPTOM


def test_what_it_holds() -> None:
    text = diagnosis_markdown([SYMPTOM], [RUN])
    for part in ("the client dials itself", "give it the service name", "1 finding", "line 3, Java clients, 2 times"):
        assert part in text
    assert "<script" not in text
    assert "\x1b" not in text
    assert text.count("\n|") == len(RUN.steps) + 2
