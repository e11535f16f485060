"""Rules as text, the list and one of them explained; and a rule's page as markdown, for SARIF's help and docs/rules."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from netdiag.findings import Severity
from netdiag.patterns import regex
from netdiag.render.findings.finding_text import SEVERITY_STYLES
from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint
from netdiag.rules.rule import RulePage


def rule_list(rules: Sequence[tuple[str, Severity, str]], screen: Screen) -> str:
    """Id, usual severity and title of each rule."""
    longest = max((len(name) for name, _, _ in rules), default=0)
    return paint(
        (
            (
                Run(f"{name:<{longest}}  ", Style.BOLD),
                Run(f"{severity.value:<7}  ", SEVERITY_STYLES[severity]),
                screen.run(title),
            )
            for name, severity, title in rules
        ),
        screen,
    )


def rule_text(name: str, severity: Severity, title: str, sections: Iterable[tuple[str, str]], screen: Screen) -> str:
    """One rule with its sections; examples and patches stay as they are, others are wrapped."""
    lines: list[Line] = [
        (Run(name, Style.BOLD), Run(" ("), Run(severity.value, SEVERITY_STYLES[severity]), Run(")")),
        (screen.run(title),),
    ]
    for heading, body in sections:
        if not body.strip():
            continue
        lines += [(), (Run(heading, Style.PLACE),)]
        if heading in ("Bad", "Good", "Repair"):
            lines += [(screen.run(f"    {line}"),) for line in body.rstrip().splitlines()]
        else:
            paragraphs = textwrap.dedent(body).strip().split("\n\n")
            for paragraph in paragraphs:
                lines += hanging((Run("    "),), " ".join(paragraph.split()), screen)
    return paint(lines, screen)


# HTML, emphasis, links and single backticks would vanish or change their look. Code stays code, and underscores inside
# words stay as they are.
_MARKUP = regex(r"(?P<code>`[^`]+`)|[\\`*<\[]|(?<!\w)_|_(?!\w)")


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
    """Prose without accidental markup; what is in backticks is code."""
    return _MARKUP.sub(lambda match: match[0] if match["code"] else "\\" + match[0], text)
