"""Docstrings of rules taken apart."""

import pytest

from netdiag.rules.document import rule_page

PAGE = """Title of it.

Why: because
it is.

Bad:
    a: 1
    b: 2  # <- here

Good:
    a: 1

Seen: a line

Sources: KIP-103.
"""


def test_sections() -> None:
    page = rule_page(PAGE)
    assert page.title == "Title of it."
    assert page.why == "because\nit is."
    assert page.bad == "a: 1\nb: 2  # <- here\n"
    assert page.bad_lines == (2,)
    assert page.good == "a: 1\n"
    assert (page.seen, page.sources) == ("a line", "KIP-103.")


@pytest.mark.parametrize("section", ["Why", "Bad", "Good", "Seen", "Sources"])
def test_a_page_without_a_section_is_refused(section: str) -> None:
    with pytest.raises(ValueError, match=f"no section {section}"):
        rule_page(PAGE.replace(f"{section}:", "Else:"))
