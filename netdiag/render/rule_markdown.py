"""A rule's page as GitHub-flavoured markdown, for SARIF's help and for docs/rules."""

import re

from netdiag.rules.rule import RulePage

# What would vanish or change its look: HTML, emphasis, code, links. Underscores inside words stay as they are.
_MARKUP = re.compile(r"[\\`*<\[]|(?<!\w)_|_(?!\w)")


def rule_markdown(page: RulePage, *, after_bad: str = "", after_good: str = "") -> str:
    """The page without a heading of its own; the two additions are markdown that goes behind the examples."""
    return "\n\n".join(
        part
        for part in (
            escaped(page.title),
            escaped(page.why),
            f"## Bad\n\n{fenced(page.bad, 'yaml')}",
            after_bad,
            f"## Good\n\n{fenced(page.good, 'yaml')}",
            after_good,
            f"## Seen\n\n{escaped(page.seen)}",
            f"## Sources\n\n{escaped(page.sources)}",
        )
        if part
    )


def fenced(text: str, language: str) -> str:
    """Text that is shown as it is, in a block whose fence is longer than any inside."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def escaped(text: str) -> str:
    """Prose without accidental markup."""
    return _MARKUP.sub(lambda match: "\\" + match[0], text)
