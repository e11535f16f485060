"""The address of the rule pages: said by the environment, used by SARIF, never a broken one."""

import pytest

from netdiag.cli.rule_pages import PUBLISHED, VARIABLE, rule_pages


def test_nobody_told() -> None:
    assert rule_pages({}) == PUBLISHED
    assert rule_pages({VARIABLE: ""}) == PUBLISHED


@pytest.mark.parametrize(
    ("told", "taken"),
    [
        ("https://example.org/a/b/blob/v1/docs/rules", True),
        ("http://localhost:3000/x", True),
        ("https://example.org", True),
        ("docs/rules", False),
        ("javascript:alert(1)", False),
        ("https://example.org/a b", False),
        ("https://example.org/\x1b]8;;", False),
        ("https://example.org/a)b", False),
        ("file:///etc", False),
    ],
)
def test_only_plain_addresses(told: str, taken: bool) -> None:
    assert rule_pages({VARIABLE: told}) == (told if taken else None)
