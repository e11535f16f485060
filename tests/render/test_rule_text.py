"""Rules listed and explained."""

from netdiag.findings import Severity
from netdiag.render.rule_pages import rule_list, rule_text
from netdiag.render.screen import Screen


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
