"""Rules as text: the list, and one rule explained."""

import textwrap
from collections.abc import Iterable, Sequence

from netdiag.findings import Severity
from netdiag.render.finding_text import SEVERITY_STYLES
from netdiag.render.screen import Line, Run, Screen, Style, paint, wrap


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
            lines += [(Run(f"    {part}"),) for text in paragraphs for part in _wrapped(text, screen)]
    return paint(lines, screen)


def _wrapped(text: str, screen: Screen) -> list[str]:
    return wrap(screen.visible(" ".join(text.split())), max(30, screen.width - 4))
