"""Every rule has a descriptor with its page; a name without a page has one, too."""

from netdiag.render.formats.sarif import rule_descriptors
from netdiag.rules.all_rules import ALL


def test_every_rule() -> None:
    for rule, found in zip(ALL, rule_descriptors(rule.ID for rule in ALL), strict=True):
        assert found["id"] == rule.ID
        assert found["name"].isalnum()
        assert found["shortDescription"]["text"] in (rule.__doc__ or "")
        assert "Why: " in found["help"]["text"]
        assert found["properties"]["problem.severity"] in ("error", "warning", "recommendation")
        assert "helpUri" not in found


def test_what_has_no_rule_and_what_nobody_knows() -> None:
    unused, unknown = rule_descriptors(["unused-ignore", "x"])
    assert unused["shortDescription"]["text"] == "A comment ignores findings that do not occur."
    assert unknown == {"id": "x"}
