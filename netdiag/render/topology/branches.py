"""A tree of lines for a terminal: branches drawn, long lines folded, branches that look alike drawn once.

Branches of one parent look alike when they differ in numbers only (`veth3f2a1b0`, `10.0.3.7`, `pid 4711`). Of many such
the first few are drawn and the rest is counted, so that 200 namespaces stay readable and an odd one stands out.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import field

from netdiag.patterns import regex
from netdiag.render.screen import Line, Run, Screen, Style, line_width, width
from netdiag.values import dataclass

# Of more branches than _FEW that look alike, _SHOWN are drawn.
_FEW = 8
_SHOWN = 3
# Numbers, and the hexadecimal digits around them: of addresses, ids and generated names.
_HEX_NUMBERS = regex(r"\bveth[0-9a-f]+|[0-9a-f]*(?::[0-9a-f]*){2,}|[0-9a-f]*[0-9][0-9a-f]*")
# A branch that is indented deeper than this leaves no room to fold a line.
_LEAST_WIDTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchGlyphs:
    """What branches are drawn with, each as wide as the others, and an arrow within them."""

    fork: str
    last: str
    through: str
    blank: str
    arrow: str


UNICODE_BRANCHES = BranchGlyphs(fork="├─ ", last="└─ ", through="│  ", blank="   ", arrow="→")
ASCII_BRANCHES = BranchGlyphs(fork="|- ", last="`- ", through="|  ", blank="   ", arrow="->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A line of parts, which may be folded between them, and what hangs from it.

    `name` is what it is called where many that look alike are counted.
    """

    parts: tuple[Line, ...]
    name: str = ""
    children: tuple["Branch", ...] = ()


@dataclasses.dataclass(slots=True)
class _Canvas:
    """Where branches are drawn."""

    screen: Screen
    signs: BranchGlyphs
    full: bool
    appearances: dict[int, object] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)


def draw_branches(roots: Iterable[Branch], screen: Screen, *, full: bool = False) -> list[Line]:
    """The lines of these trees, roots at the margin; `full` draws what appearances alike, too."""
    canvas = _Canvas(screen=screen, signs=branch_glyphs(screen), full=full)
    every = list(roots)
    for root in every if full else _without_repeats(every, canvas.appearances):
        _draw_branch(root, canvas, "", "")
        _draw_children(root.children, canvas, "")
    return canvas.lines


def branch_glyphs(screen: Screen) -> BranchGlyphs:
    """Box drawing on a terminal that shows colour and has the letters for it; ASCII in files and pipes."""
    return UNICODE_BRANCHES if screen.colour and screen.glyphs.bar == "│" else ASCII_BRANCHES


def _draw_children(children: Sequence[Branch], canvas: _Canvas, indent: str) -> None:
    shown = list(children) if canvas.full else _without_repeats(children, canvas.appearances)
    for index, child in enumerate(shown):
        is_last = index == len(shown) - 1
        _draw_branch(
            child, canvas, indent + (canvas.signs.last if is_last else canvas.signs.fork), indent, is_last=is_last
        )
        _draw_children(child.children, canvas, indent + (canvas.signs.blank if is_last else canvas.signs.through))


def _draw_branch(branch: Branch, canvas: _Canvas, first: str, indent: str, *, is_last: bool = False) -> None:
    """One branch in as many lines as it takes; those after the first keep the drawing to their left whole."""
    rest = indent + (canvas.signs.blank if is_last else canvas.signs.through) if first else ""
    rest += (canvas.signs.through if branch.children else canvas.signs.blank) + " "
    line: list[Run] = [Run(first, Style.DIM)] if first else []
    used, empty = len(first), True
    for each in branch.parts:
        needed = line_width(each) + (0 if empty else 2)
        if not empty and used + needed > canvas.screen.width:
            canvas.lines.append(tuple(line))
            line, used, empty = [Run(rest, Style.DIM)], len(rest), True
            needed -= 2
        if empty and used + needed > canvas.screen.width:
            for folded in _folded(each, canvas.screen.width - max(used, len(rest))):
                if not empty:
                    canvas.lines.append(tuple(line))
                    line, used = [Run(rest, Style.DIM)], len(rest)
                line += folded
                used, empty = used + line_width(folded), False
            continue
        line += [Run("" if empty else "  "), *each]
        used, empty = used + needed, False
    canvas.lines.append(tuple(run for run in line if run.text))


def _folded(line: Line, columns: int) -> list[Line]:
    """A part that is wider than the screen, folded between its words; styles stay."""
    columns = max(_LEAST_WIDTH, columns)
    lines: list[list[Run]] = [[]]
    used = 0
    for run in line:
        kept = ""
        for index, word in enumerate(run.text.split(" ")):
            piece = f" {word}" if index else word
            if used and word and used + width(piece) > columns:
                lines[-1].append(Run(kept, run.style, run.link))
                lines.append([])
                kept, piece, used = "", word, 0
            kept, used = kept + piece, used + width(piece)
        lines[-1].append(Run(kept, run.style, run.link))
    return [tuple(run for run in each if run.text) for each in lines]


def _without_repeats(children: Sequence[Branch], appearances: dict[int, object]) -> list[Branch]:
    """The branches to draw; `appearances` keeps what each looks like, as every level above a branch asks for it."""
    alike: dict[object, list[int]] = {}
    for index, child in enumerate(children):
        alike.setdefault(_appearance(child, appearances), []).append(index)
    kept: dict[int, Branch] = {}
    for indexes in alike.values():
        if len(indexes) <= _FEW:
            kept |= {index: children[index] for index in indexes}
            continue
        kept |= {index: children[index] for index in indexes[:_SHOWN]}
        kept[indexes[_SHOWN]] = _rest([children[index] for index in indexes[_SHOWN:]])
    return [kept[index] for index in sorted(kept)]


def _appearance(branch: Branch, appearances: dict[int, object]) -> object:
    # The branches outlive the drawing, so no other one has the same id meanwhile.
    if id(branch) not in appearances:
        text = "  ".join("".join(run.text for run in each) for each in branch.parts)
        appearances[id(branch)] = (
            _HEX_NUMBERS.sub("#", text),
            tuple(_appearance(child, appearances) for child in branch.children),
        )
    return appearances[id(branch)]


def _rest(branches: Sequence[Branch]) -> Branch:
    named = [branch.name for branch in branches if branch.name]
    names = f": {named[0]} to {named[-1]}" if len(named) > 1 else ""
    return Branch(parts=((Run(f"and {len(branches)} more like these{names}", Style.DIM),),))
