"""`netdiag topology --watch`: the tree, drawn again whenever something changes, with what changed and when."""

import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from netdiag.cli.console import Console, is_terminal, report_error, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.topology_looking import Order, drawn, judged, look_at
from netdiag.errors import NetdiagError
from netdiag.render.topology.diff import change_summary, changes_text
from netdiag.render.topology.json import topology_document
from netdiag.topology.diff import Difference, differences

EVERY = 2.0
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
# On a terminal the latest rounds of changes stay below the tree, as many lines of each.
_ROUNDS = 3
_LINES = 6


def watch_topology(order: Order, console: Console, *, every: float = EVERY) -> ExitStatus:
    """Look and draw until KeyboardInterrupt; what cannot be looked at is told once, and tried again."""
    before: dict[str, Any] | None = None
    latest: deque[list[str]] = deque(maxlen=_ROUNDS)
    trouble = ""
    while True:
        try:
            seen = look_at(order, console)
            findings = judged(seen)
        except NetdiagError as error:
            if str(error) != trouble:
                report_error(error, console.error_screen)
            trouble = str(error)
        else:
            trouble = ""
            now = topology_document(seen, findings)
            changes = () if before is None else differences(before, now)
            if before is None or changes:
                latest.append(_first(_told(changes, console)))
                tree = drawn(order, seen, findings, console.screen, full=console.verbose)
                _show(tree, changes, latest, console, first=before is None)
            before = now
        time.sleep(every)


def _told(changes: Sequence[Difference], console: Console) -> list[str]:
    """The changes as lines of text, the first of them with the time."""
    if not changes:
        return []
    clock = time.strftime("%H:%M:%S")
    text = changes_text(changes, console.screen, full=console.verbose)
    return [f"{clock} {change_summary(changes)}", *text.splitlines()[:-1]]


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - 1 - _LINES
    return [*lines[: 1 + _LINES], f"  and {more} more"] if more > 1 else lines


def _show(
    tree: str, changes: Sequence[Difference], latest: Iterable[list[str]], console: Console, *, first: bool
) -> None:
    """On a terminal the tree and the latest changes; elsewhere the tree once, then the changes as they come."""
    if is_terminal():
        write_text(_CLEAR + tree + "".join(f"{line}\n" for lines in latest if lines for line in ("", *lines)))
    else:
        write_text(tree if first else "".join(f"{line}\n" for line in _told(changes, console)))
    if first:
        say("netdiag: watching the network of this machine; Ctrl-C ends it")
