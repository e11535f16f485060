"""The recipes of CONTRIBUTING.md, carried out in a copy of the tree.

A block ```python PATH is a new file; ```diff PATH adds its `+` lines after the line above them, which must stand in
the file exactly once; ```console is run (see tests/house/examples.py).
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.examples import differs, execute, shown

_SECTION = re.compile(r"^## ", re.MULTILINE)
_BLOCK = re.compile(r"^```(?P<kind>\w+) ?(?P<path>\S*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes(document: str) -> dict[str, str]:
    """The sections of a document by their headings."""
    sections = _SECTION.split(document)[1:]
    return {section.partition("\n")[0]: section for section in sections}


def carry_out(recipe: str, tree: Path) -> Iterator[str]:
    """Do in `tree` what the recipe says; yields every command whose output is not what is shown."""
    status = 0
    for block in _BLOCK.finditer(recipe):
        match block["kind"]:
            case "python":
                (tree / block["path"]).write_text(block["body"], encoding="utf-8")
            case "diff":
                target = tree / block["path"]
                target.write_text(insert(target.read_text(encoding="utf-8"), block["body"]), encoding="utf-8")
            case "console":
                for one in shown(block.group()):
                    more = {"PYTHONPATH": str(tree)}
                    output, status = execute(one.command, tree, last_status=status, more=more)
                    if differs(one.output, output):
                        yield f"$ {one.command}\n{output}"


def insert(text: str, diff: str) -> str:
    """The text with each `+` line behind the line that stands before it in the diff."""
    lines = text.splitlines()
    at = None
    for line in diff.splitlines():
        if line.startswith("+"):
            if at is None:
                raise ValueError("a + line needs a line before it that says where")
            at += 1
            lines.insert(at, line[1:])
        elif lines.count(line[1:]) == 1:
            at = lines.index(line[1:])
        else:
            raise ValueError(f"stands {lines.count(line[1:])} times in the file: {line[1:]!r}")
    return "\n".join(lines) + "\n"
