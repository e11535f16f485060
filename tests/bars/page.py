"""docs/bars.md: a row per bar; a bar not measured on this machine keeps the row that it has."""

import re
from collections.abc import Mapping, Sequence

from tests.bars.record import Record
from tests.bars.targets import Target

_HEAD = """\
# Measurements

`make bars` writes this page. Each figure belongs to the commit beside it.

| bar | promise | figure | verdict | took | date | commit |
|---|---|---|---|---|---|---|
"""
_ROW = re.compile(r"^\| `([\w-]+)` \|.*$", re.MULTILINE)


def render(targets: Sequence[Target], measured: Mapping[str, Record], present: str) -> str:
    """The page, from the newest records and from the rows of the present page."""
    kept = {match[1]: match[0] for match in _ROW.finditer(present)}
    rows = []
    for target in targets:
        if target.name in measured:
            rows.append(_row(target, measured[target.name]))
        else:
            rows.append(kept.get(target.name, f"| `{target.name}` | {_cell(target.promise)} | | not measured | | | |"))
    return _HEAD + "\n".join(rows) + "\n"


def _row(target: Target, record: Record) -> str:
    figures = "<br>".join(_cell(figure) for figure in record.figures)
    took = f"{record.seconds:.0f} s"
    cells = (f"`{target.name}`", _cell(target.promise), figures, record.verdict, took, record.date, record.commit)
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
