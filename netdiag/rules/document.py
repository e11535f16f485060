"""A rule's docstring taken apart: title, sections and the examples that tests execute."""

import textwrap
from dataclasses import dataclass

MARK = "# <- here"
_SECTIONS = ("Why", "Bad", "Good", "Seen", "Sources")


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePage:
    """One rule explained. `bad` and `good` are compose files as text; `bad_lines` are the 1-based marked lines."""

    title: str
    why: str
    bad: str
    good: str
    seen: str
    sources: str

    @property
    def bad_lines(self) -> tuple[int, ...]:
        """The lines of `bad` at which the rule must fire."""
        return tuple(n for n, line in enumerate(self.bad.splitlines(), 1) if line.rstrip().endswith(MARK))


def rule_page(docstring: str) -> RulePage:
    """The page of a rule; ValueError where a section is missing, so that no rule goes undocumented."""
    title, _, rest = docstring.partition("\n")
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in textwrap.dedent(rest).splitlines():
        name, colon, tail = line.partition(":")
        if colon and name in _SECTIONS and not line.startswith(" "):
            current = sections.setdefault(name, [tail.strip()] if tail.strip() else [])
        elif current is not None:
            current.append(line)
    missing = [name for name in _SECTIONS if name not in sections]
    if missing:
        raise ValueError(f"the docstring has no section {missing[0]}")
    text = {name: textwrap.dedent("\n".join(lines)).strip("\n") for name, lines in sections.items()}
    return RulePage(
        title=title.strip(),
        why=text["Why"].strip(),
        bad=text["Bad"] + "\n",
        good=text["Good"] + "\n",
        seen=text["Seen"].strip(),
        sources=text["Sources"].strip(),
    )
