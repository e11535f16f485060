"""A rule's page as markdown: prose stays prose, examples stay as they are."""

import pytest

from netdiag.render.rule_pages import escaped, fenced, rule_markdown
from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import rule_page


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


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.ID)
def test_every_rule(rule: object) -> None:
    page = rule_page(rule.__doc__ or "")
    text = rule_markdown(page, after_bad="BEHIND BAD", after_good="BEHIND GOOD")
    headings = [line for line in text.splitlines() if line.startswith(("## ", "BEHIND"))]
    assert headings == ["## Bad", "BEHIND BAD", "## Good", "BEHIND GOOD", "## Seen", "## Sources"]
    assert page.bad.rstrip() in text
    assert page.good.rstrip() in text
