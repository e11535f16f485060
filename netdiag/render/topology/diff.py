"""What changed between two topologies, as text for people and as JSON, version 1 (`schema/topology-diff.v1.json`)."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from netdiag.render.json_values import sound
from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style, paint
from netdiag.render.topology.branches import Branch, branch_glyphs, draw_branches
from netdiag.render.wording import plural
from netdiag.topology.diff import NAMESPACED_KINDS, ChangeKind, Difference, FactChange

FORMAT = "netdiag-topology-diff"
VERSION = 1

_SIGNS = {
    ChangeKind.APPEARED: ("+ ", Style.GOOD),
    ChangeKind.GONE: ("- ", Style.BAD),
    ChangeKind.CHANGED: ("~ ", Style.HALF),
}
# Of more changes of one kind than this the rest is counted; `full` shows all.
_SHOWN = 20
_LONGEST = 160
# A name of a place has no more words than this.
_MOST_WORDS = 12


def changes_text(changes: Sequence[Difference], screen: Screen, *, full: bool = False) -> str:
    """A line for each change, kind by kind, and a count; what is in a namespace that came or went goes with it."""
    lines: list[Line] = []
    inside = {} if full else _inside(changes)
    by_kind: dict[str, list[Difference]] = {}
    for change in changes:
        if change.kind in NAMESPACED_KINDS and _place_of(change, inside) is not None:
            continue
        by_kind.setdefault(change.kind, []).append(change)
    for kind, own in by_kind.items():
        shown = own if full else own[:_SHOWN]
        lines += draw_branches([_branch(change, screen, inside) for change in shown], screen, full=True)
        if len(own) > len(shown):
            lines.append((Run(f"  and {len(own) - len(shown)} more of kind {screen.visible(kind)}", Style.DIM),))
    lines.append((Run(change_summary(changes), Style.PLAIN),))
    return paint(lines, screen)


def change_summary(changes: Sequence[Difference]) -> str:
    """How much changed, in one line."""
    if not changes:
        return "nothing changed"
    counts = Counter(change.turn for change in changes)
    told = ", ".join(f"{counts[turn]} {turn.value}" for turn in ChangeKind if counts[turn])
    return f"{plural(len(changes), 'change')}: {told}"


def changes_value(changes: Sequence[Difference]) -> dict[str, Any]:
    """The changes as values that JSON has."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "changes": [
            {
                "turn": change.turn.value,
                "kind": change.kind,
                "name": change.name,
                "facts": [{"name": f.name, "before": f.before or None, "after": f.after or None} for f in change.facts],
            }
            for change in changes
        ],
    }


def changes_json(changes: Sequence[Difference]) -> str:
    """The JSON text, ASCII only, ending with a line feed."""
    return json.dumps(sound(changes_value(changes)), indent=1) + "\n"


def _inside(changes: Sequence[Difference]) -> dict[tuple[ChangeKind, str], int]:
    """By namespace that appeared or went: how many changes are of what is in it."""
    found: dict[tuple[ChangeKind, str], int] = {
        (change.turn, change.name): 0
        for change in changes
        if change.kind == "namespace" and change.turn is not ChangeKind.CHANGED
    }
    for change in changes:
        place = _place_of(change, found) if change.kind in NAMESPACED_KINDS else None
        if place is not None:
            found[place] += 1
    return found


def _place_of(change: Difference, places: Mapping[tuple[ChangeKind, str], int]) -> tuple[ChangeKind, str] | None:
    """The namespace among these that a change is in; its name may have spaces in it."""
    words = change.name.split(" ")
    names = ((change.turn, " ".join(words[:count])) for count in range(1, min(len(words), _MOST_WORDS)))
    return next((name for name in names if name in places), None)


def _branch(change: Difference, screen: Screen, inside: Mapping[tuple[ChangeKind, str], int]) -> Branch:
    count = inside.get((change.turn, change.name), 0) if change.kind == "namespace" else 0
    if count:
        change = replace(change, facts=())
    with_it: tuple[Line, ...] = ((Run(f"with {plural(count, 'thing')} in it", Style.DIM),),) if count else ()
    sign, style = _SIGNS[change.turn]
    head: Line = (Run(sign, style), screen.run(f"{change.kind} ", Style.DIM), screen.run(_short(change.name)))
    return Branch(parts=(head, *with_it, *(_fact(fact, change.turn, screen) for fact in change.facts)))


def _fact(fact: FactChange, turn: ChangeKind, screen: Screen) -> Line:
    name = screen.run(f"{fact.name} ", Style.DIM)
    if turn is ChangeKind.APPEARED:
        return (name, screen.run(_short(fact.after)))
    arrow = branch_glyphs(screen).arrow
    return (
        name,
        screen.run(_short(fact.before) or "nothing", Style.BAD),
        Run(f" {arrow} "),
        screen.run(_short(fact.after) or "nothing", Style.GOOD),
    )


def _short(text: str) -> str:
    safe = redacted(text)
    return safe if len(safe) <= _LONGEST else safe[: _LONGEST - 1] + "…"
