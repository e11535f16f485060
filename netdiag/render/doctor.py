"""What a machine lets netdiag do: as text and as JSON, version 1.

The text has a line for each ability, and the command that would give what is missing.
"""

import json
from collections.abc import Sequence

from netdiag import __version__
from netdiag.machine import Ability, Machine, State
from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint

_STYLES = {State.OK: Style.GOOD, State.LIMITED: Style.HALF, State.MISSING: Style.BAD}
FORMAT = "netdiag-doctor"
VERSION = 1


def doctor_text(abilities: Sequence[Ability], screen: Screen) -> str:
    """All abilities, with a last line that counts them."""
    width = max((len(each.name) for each in abilities), default=0)
    lines: list[Line] = []
    for each in abilities:
        lines += _ability(each, width, screen)
    return paint([*lines, (), (Run(_summary(abilities)),)], screen)


def doctor_json(machine: Machine, abilities: Sequence[Ability]) -> str:
    """The document and a line break."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "system": machine.system,
        "kernel": machine.kernel,
        "python": machine.python,
        "root": machine.is_root,
        "rights": sorted(machine.rights),
        "tools": dict(machine.tools),
        "libraries": dict(machine.libraries),
        "abilities": [
            {
                "name": each.name,
                "state": each.state.value,
                "told": each.told,
                "serves": each.serves,
                "fix": each.fix or None,
            }
            for each in abilities
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _ability(each: Ability, width: int, screen: Screen) -> list[Line]:
    head = (Run(f"{each.state.value:<8}", _STYLES[each.state]), Run(f"{each.name:<{width}}  ", Style.BOLD))
    blank = Run(" " * (10 + width))
    lines = hanging(head, each.told, screen)
    if each.state is not State.OK:
        lines += hanging((blank,), f"for {each.serves}", screen, Style.DIM)
        if each.fix:
            lines.append((blank, screen.run(f"{screen.glyphs.arrow} {each.fix}", Style.PLACE)))
    return lines


def _summary(abilities: Sequence[Ability]) -> str:
    count = {state: sum(each.state is state for each in abilities) for state in State}
    if count[State.OK] == len(abilities):
        return "everything that netdiag can use is available"
    return f"{count[State.OK]} ok, {count[State.LIMITED]} limited, {count[State.MISSING]} missing"
