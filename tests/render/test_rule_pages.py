"""Rules listed and explained, as text and as markdown."""

import pytest

from netdiag.findings import Severity
from netdiag.render.rule_pages import escaped, fenced, rule_list, rule_markdown, rule_text
from netdiag.render.screen import Screen
from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import rule_page
from tests.each import each


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
