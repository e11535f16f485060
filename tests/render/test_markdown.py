"""A comment for a pull request: foreign text stays text, a long report stays a comment."""

import html
import re
from dataclasses import replace

import pytest

from netdiag.render.findings.finding_text import harmless
from netdiag.render.formats.markdown import MARK, escaped, render
from netdiag.render.report import Report
from tests.render.golden import assert_golden
from tests.render.reports import EVERYTHING, HOSTILE, RUNNING, SECRET, hostile

TAG = re.compile(r"<(?!br>|!-- -->|/?details>|/?summary>|/?pre>)")


def shown(text: str) -> str:
    """What a reader of the page sees of one cell."""
    return html.unescape(text.replace("<!-- -->", ""))


def test_everything() -> None:
    text = render(EVERYTHING)
    assert text.count("<details>") == text.count("</details>") == 2
    assert_golden("everything.md", text)


def test_nothing() -> None:
    assert render(Report()) == f"{MARK}\n**netdiag**: nothing to check\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_is(text: str) -> None:
    rendered = render(hostile(text)).removeprefix(MARK)
    assert not TAG.search(rendered)
    (row,) = (line for line in rendered.splitlines() if line.startswith("| ❌"))
    cells = row.strip("| ").split(" | ")
    assert len(cells) == 3
    assert shown(cells[2].split("<br>")[0]) == f"says {harmless(text)} (listener-bound-to-loopback)"
    assert not re.search(r"[@#][a-z]|https?://|www\.", re.sub(r"&#\d+;", "", row))


@pytest.mark.parametrize("text", ["| a", "`a`", "*a*", "[a](b)", "<a>", "a_b_c", "@team", "#12", "&amp;", "\\", "$a$"])
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    assert shown(escaped(text)) == text
    assert escaped(text) != text


def test_a_long_report_is_counted() -> None:
    many = tuple(replace(RUNNING, message=f"{n} " + "<" * 500) for n in range(500))
    text = render(Report(findings=many, notes=("n" * 99_000,)))
    assert len(text) < 65_536
    assert " more |\n" in text
    assert "- and 1 more\n" in text


def test_secrets_and_order() -> None:
    assert "hunter2" not in render(SECRET)
    assert render(replace(EVERYTHING, findings=EVERYTHING.findings[::-1])) == render(EVERYTHING)
