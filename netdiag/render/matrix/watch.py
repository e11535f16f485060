"""What changes from one live check to the next: as values, as lines for people, as JSON lines, and as a screen.

Only what was observed counts, and only a verdict: its words carry times and addresses that differ with every check.
The contract of a JSON line, version 1, is `schema/check-listeners-watch.v1.json`. The screen is as high and wide as the
terminal: how the matrix stands, the matrix itself, what changed last.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

from netdiag.deployment.model.verdict import Address, Cell, Verdict, Word
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, Mesh, edge_outcome, is_cut
from netdiag.engine.events import ShortLife
from netdiag.engine.testcontainers import session_title
from netdiag.render.json_values import sound
from netdiag.render.matrix.matrix_text import matrix_lines, verdict_explanation
from netdiag.render.matrix.sections import mesh_lines
from netdiag.render.redact import redacted
from netdiag.render.report import CameAndWent, Matrix, Report
from netdiag.render.screen import Line, Run, Screen, Style, line_width, width, wrap
from netdiag.render.wording import few_names, first_names, gathered_text, plural
from netdiag.values import dataclass

FORMAT = "netdiag-watch"
VERSION = 1
# Whatever a container advertises, it fills neither the screen nor a log.
_LONGEST = 1000
_NAMES_SHOWN = 4
# A cell may be unknown so many times in a row before that is a change: one check may just have had too little time.
_MOST_UNKNOWN = 2
# Of more groups of changes at one time than this the rest is counted.
_GROUPS_SHOWN = 20
_NOT_OBSERVED = "not observed"
_RUNS, _DOWN = "running", "not running"
_SEEN, _UNSEEN = "checked", "not checked"
# Of more containers that came and went between two looks the rest is counted.
_MOST_LIVES = 50
_ONE_TENTH = 9.95
# So much of the picture at least is for the changes, where there are as many.
_SHARE_OF_CHANGES = 3


class Kind(StrEnum):
    """What changed: a cell, a connection between members, whether a broker runs, whether an input can be looked at.

    Or a container that has come and gone.
    """

    CELL = "cell"
    EDGE = "edge"
    BROKER = "broker"
    INPUT = "input"
    CONTAINER = "container"


class Turn(StrEnum):
    """For better or worse; a `new` cell was not there before, one that is `gone` no longer is."""

    BROKE = "broke"
    BACK = "back"
    CHANGED = "changed"
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change. `before` and `after` are verdicts or other states; None where it was not or is not there.

    An edge goes from `subject` to the broker `target` at the address `bootstrap`.
    """

    kind: Kind
    turn: Turn
    input: str
    subject: str
    bootstrap: Address | None = None
    edge: str | None = None
    target: str | None = None
    before: str | None
    after: str | None
    reason: str = ""


_STYLES = {
    Turn.BROKE: Style.BAD,
    Turn.BACK: Style.GOOD,
    Turn.CHANGED: Style.HALF,
    Turn.NEW: Style.PLACE,
    Turn.GONE: Style.DIM,
}

_ORDER = (Turn.BROKE, Turn.BACK, Turn.CHANGED, Turn.GONE, Turn.NEW)

_Edges = dict[tuple[str, EdgeKind, str, Address], Edge]

_Cells = dict[tuple[str, str, Address], Cell]


class WatchState:
    """What is known from check to check; `known` is the report to draw, None before the first."""

    def __init__(self) -> None:
        self.known: Report | None = None
        self._unknown: dict[tuple[str, str, Address], int] = {}

    def take(self, report: Report) -> tuple[Change, ...]:
        """What the next check changes."""
        report = self._without_brief_unknowns(report)
        found = changes_between(self.known, report)
        self.known = with_last_known(self.known, report)
        return found

    def _without_brief_unknowns(self, report: Report) -> Report:
        """For a while a cell whose verdict is unknown keeps the one it had."""
        before = _observed(self.known)
        unknown: dict[tuple[str, str, Address], int] = {}

        def settled(name: str, cell: Cell) -> Cell:
            key = (name, cell.vantage, cell.bootstrap)
            was = before.get(key)
            if cell.observed is None or cell.observed.word is not Word.UNKNOWN or was is None or was.observed is None:
                return cell
            unknown[key] = self._unknown.get(key, 0) + 1
            return cell if unknown[key] > _MOST_UNKNOWN else replace(cell, observed=was.observed)

        edges = _meshes(self.known)
        matrices = tuple(
            replace(m, cells=tuple(settled(m.input, cell) for cell in m.cells), mesh=_as_known(m, edges))
            for m in report.matrices
        )
        self._unknown = unknown
        return replace(report, matrices=matrices)


def changes_between(before: Report | None, after: Report) -> tuple[Change, ...]:
    """What is different in the later report; of an input that could not be looked at, that alone.

    Compared with no report, every cell is new, and so is everything else that is wrong.
    """
    found: list[Change] = []
    for item in after.inputs:
        was = None if before is None else next((i for i in before.inputs if i.name == item.name), None)
        troubled = "" if was is None or was.error is None else was.error.message
        if item.error is not None:
            if item.error.message != troubled:
                found.append(_input_failed(item.name, item.error.message, first=was is None, again=bool(troubled)))
        elif troubled:
            found.append(_input_back(item.name))
    unseen = {item.name for item, _ in after.unread}
    found += _brokers(before, after, unseen)
    found += _edges(_meshes(before), _meshes(after), unseen)
    found += _cells(_observed(before), _observed(after), unseen)
    found += _lives(after.came_and_went)
    return tuple(found)


def with_last_known(before: Report | None, after: Report) -> Report:
    """The later report, with what was last known of inputs that cannot be looked at now."""
    unseen = {item.name for item, _ in after.unread}
    if before is None or not unseen:
        return after
    known = {item.name: item.brokers for item in before.inputs}
    inputs = tuple(replace(i, brokers=known.get(i.name, ())) if i.name in unseen else i for i in after.inputs)
    old = tuple(matrix for matrix in before.matrices if matrix.input in unseen)
    return replace(after, inputs=inputs, matrices=(*after.matrices, *old))


def change_line(change: Change, time: str) -> str:
    """A change as one line of JSON; `time` as RFC 3339 has it."""
    value = {
        "format": FORMAT,
        "version": VERSION,
        "time": time,
        "kind": change.kind.value,
        "turn": change.turn.value,
        "input": change.input,
        "vantage": change.subject if change.kind in (Kind.CELL, Kind.EDGE) else None,
        "bootstrap": None if change.bootstrap is None else str(change.bootstrap),
        "broker": change.subject if change.kind is Kind.BROKER else change.target,
        "container": change.subject if change.kind is Kind.CONTAINER else None,
        "edge": change.edge,
        "before": change.before,
        "after": change.after,
        "reason": _short(change.reason) or None,
    }
    return json.dumps(sound(value)) + "\n"


def change_lines(changes: Sequence[Change], screen: Screen, clock: str, *, full: bool = False) -> list[Line]:
    """Changes for people, the worst first, similar ones in one line with the reason below; `full` leaves none out."""
    lines: list[Line] = []
    groups = sorted(_grouped(changes), key=lambda group: _ORDER.index(group[0].turn))
    for group in groups if full else groups[:_GROUPS_SHOWN]:
        head: tuple[Run, ...] = (
            Run((clock if not lines else " " * len(clock)) + " ", Style.DIM),
            Run(f"{group[0].turn.value:<8}", _STYLES[group[0].turn]),
        )
        indent = sum(width(run.text) for run in head)
        room = max(30, screen.width - indent)
        first, *rest = wrap(screen.visible(_change_text(group, screen)), room)
        lines.append((*head, Run(first)))
        lines += [(Run(" " * indent + part),) for part in rest]
        if group[0].reason and group[0].turn is not Turn.BACK:
            parts = wrap(screen.visible(_short(group[0].reason)), room)
            lines += [(Run(" " * indent + part, Style.DIM),) for part in parts]
    if len(groups) > _GROUPS_SHOWN and not full:
        lines.append((Run(f"{' ' * len(clock)} and {len(groups) - _GROUPS_SHOWN} more changes", Style.DIM),))
    return lines


def watch_screen(
    report: Report, changes: Sequence[Line], screen: Screen, *, rows: int, columns: int, status: str
) -> list[Line]:
    """At most `rows` lines, none wider than `columns`; `changes` are the lines of all changes, the latest first."""
    head: list[Line] = [_status_line(report, screen, status), *_failed_inputs(report, screen)]
    several = len(report.inputs) > 1
    body: list[Line] = []
    for matrix in report.matrices:
        if matrix.cells:
            body += [(), *matrix_lines(matrix, screen, named=several)]
        if matrix.mesh is not None and matrix.mesh.edges:
            body += [(), *mesh_lines(matrix.mesh, screen, name=matrix.input if several else "")]
    body += _remarks(report, screen)
    room = max(0, rows - len(head))
    lower = [(), (Run("Changes", Style.BOLD),)]
    least = min(len(changes), max(1, room // _SHARE_OF_CHANGES)) + len(lower) if changes else 0
    upper = _cut(body, max(0, room - least), screen)
    left = room - len(upper) - len(lower)
    latest = [*lower, *changes[:left]] if changes and left > 0 else []
    return [_clipped(line, columns, screen) for line in [*head, *upper, *latest][:rows]]


def _input_failed(name: str, message: str, *, first: bool, again: bool) -> Change:
    return Change(
        kind=Kind.INPUT,
        turn=Turn.NEW if first else Turn.CHANGED if again else Turn.BROKE,
        input=name,
        subject=name,
        before=None if first else _UNSEEN if again else _SEEN,
        after=_UNSEEN,
        reason=message,
    )


def _input_back(name: str) -> Change:
    return Change(kind=Kind.INPUT, turn=Turn.BACK, input=name, subject=name, before=_UNSEEN, after=_SEEN)


def _brokers(before: Report | None, after: Report, unseen: set[str]) -> Iterable[Change]:
    """The brokers that do not run, or do again; of those that there were not before, only what does not run."""
    old, new = _states(before), _states(after)
    for key in dict.fromkeys((*old, *new)):
        was, now = old.get(key), new.get(key)
        if key[0] in unseen or was == now or (was is None and now == _RUNS):
            continue
        turn = Turn.NEW if was is None else Turn.GONE if now is None else Turn.CHANGED
        if was == _RUNS and now is not None:
            turn = Turn.BROKE
        elif now == _RUNS:
            turn = Turn.BACK
        yield Change(
            kind=Kind.BROKER,
            turn=turn,
            input=key[0],
            subject=key[1],
            before=_broker_state(was),
            after=_broker_state(now),
            reason=now if now is not None and now != _RUNS else "",
        )


def _states(report: Report | None) -> dict[tuple[str, str], str]:
    """By input and broker: that it runs, or why it does not."""
    if report is None:
        return {}
    found = {(item.name, broker): _RUNS for item in report.inputs for broker in item.brokers}
    return found | {(m.input, broker): reason for m in report.matrices for broker, reason in m.not_running.items()}


def _broker_state(state: str | None) -> str | None:
    return state if state is None or state == _RUNS else _DOWN


def _meshes(report: Report | None) -> _Edges:
    matrices = () if report is None else report.matrices
    return {(m.input, e.kind, e.source, e.address): e for m in matrices if m.mesh is not None for e in m.mesh.edges}


def _edges(before: _Edges, after: _Edges, unseen: set[str]) -> Iterable[Change]:
    """What members get from each other; an edge whose state is unknown this time is no change."""
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        old, new = _got(was), _got(now)
        if key[0] in unseen or old == new or (now is not None and new is None):
            continue
        turn = Turn.NEW if old is None else Turn.GONE if new is None else Turn.CHANGED
        if Word.OK.value in (old, new) and turn is Turn.CHANGED:
            turn = Turn.BROKE if old == Word.OK.value else Turn.BACK
        edge = now or was
        assert edge is not None
        failed = now is not None and now.observed is not None and is_cut(now)
        yield Change(
            kind=Kind.EDGE,
            turn=turn,
            input=key[0],
            subject=edge.source,
            bootstrap=edge.address,
            edge=edge.kind.value,
            target=edge.target or None,
            before=old,
            after=new,
            reason=now.observed.because if failed and now is not None and now.observed is not None else "",
        )


def _as_known(matrix: Matrix, before: _Edges) -> Mesh | None:
    """The mesh, its edges whose state is unknown this time as they were."""
    if matrix.mesh is None:
        return None
    edges = (
        replace(e, observed=was.observed)
        if is_cut(e) is None and (was := before.get((matrix.input, e.kind, e.source, e.address))) is not None
        else e
        for e in matrix.mesh.edges
    )
    return replace(matrix.mesh, edges=tuple(edges))


def _got(edge: Edge | None) -> str | None:
    if edge is None or edge.observed is None or is_cut(edge) is None:
        return None
    return edge_outcome(edge, edge.observed)


def _observed(report: Report | None) -> _Cells:
    matrices = () if report is None else report.matrices
    return {(m.input, cell.vantage, cell.bootstrap): cell for m in matrices for cell in m.cells}


def _cells(before: _Cells, after: _Cells, unseen: set[str]) -> Iterable[Change]:
    for key in dict.fromkeys((*before, *after)):
        was, now = before.get(key), after.get(key)
        if key[0] in unseen or (
            was is not None and now is not None and _observed_outcome(was) == _observed_outcome(now)
        ):
            continue
        verdict = None if now is None else now.observed
        yield Change(
            kind=Kind.CELL,
            turn=_turn(was, now),
            input=key[0],
            subject=key[1],
            bootstrap=key[2],
            before=_state(was),
            after=_state(now),
            reason="" if verdict is None or verdict.usable else verdict_explanation(verdict),
        )


def _lives(passed: Sequence[CameAndWent]) -> Iterable[Change]:
    """The containers that nobody has seen run; of many, the first."""
    for one in passed[:_MOST_LIVES]:
        yield _gone(one.input, one.life.start.name or one.life.start.id[:12], _life_text(one.life))
    if len(passed) > _MOST_LIVES:
        yield _gone(passed[-1].input, f"{len(passed) - _MOST_LIVES} more containers", "")


def _gone(name: str, subject: str, reason: str) -> Change:
    return Change(
        kind=Kind.CONTAINER, turn=Turn.GONE, input=name, subject=subject, before=None, after=None, reason=reason
    )


def _life_text(life: ShortLife) -> str:
    """Which image ran for how long, how it ended, and whose it was."""
    seconds = f"{life.seconds:.1f}" if life.seconds < _ONE_TENTH else f"{life.seconds:.0f}"
    code = "" if life.exit_code is None else f", exit code {life.exit_code}"
    title = session_title(life.start)
    return f"image {life.start.image} ran for {seconds} s{code}" + (f" ({title})" if title else "")


def _observed_outcome(cell: Cell) -> tuple[object, ...]:
    """What makes a change: the verdict, and what became of each broker."""
    if cell.observed is None:
        return ()
    return (str(cell.observed), tuple((o.endpoint.node_id, o.outcome) for o in cell.observed.endpoints))


def _state(cell: Cell | None) -> str | None:
    if cell is None:
        return None
    return _NOT_OBSERVED if cell.observed is None else str(cell.observed)


def _turn(was: Cell | None, now: Cell | None) -> Turn:
    if was is None:
        return Turn.NEW
    if now is None:
        return Turn.GONE
    before, after = _worth(was.observed), _worth(now.observed)
    if before is None or after is None or before == after:
        return Turn.CHANGED
    return Turn.BROKE if after < before else Turn.BACK


def _worth(verdict: Verdict | None) -> int | None:
    if verdict is None or verdict.word is Word.UNKNOWN:
        return None
    return 2 if verdict.usable else 1 if verdict.word is Word.PARTIAL else 0


def _short(text: str) -> str:
    text = redacted(text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _grouped(changes: Sequence[Change]) -> list[list[Change]]:
    """Cells that went the same way: first the addresses of one vantage, then vantages with the same addresses."""
    rows: dict[object, list[Change]] = {}
    for change in changes:
        alone = change.kind is not Kind.CELL
        rows.setdefault((change if alone else _direction(change), change.subject), []).append(change)
    groups: dict[object, list[Change]] = {}
    for (way, _), row in ((key, row) for key, row in rows.items() if isinstance(key, tuple)):
        groups.setdefault((way, tuple(change.bootstrap for change in row)), []).extend(row)
    return list(groups.values())


def _direction(change: Change) -> object:
    return (change.input, change.turn, change.before, change.after)


def _change_text(group: Sequence[Change], screen: Screen) -> str:
    arrow = screen.glyphs.arrow
    first = group[0]
    words = f" {arrow} ".join(word for word in (first.before, first.after) if word is not None)
    if first.kind is Kind.EDGE:
        return f"{first.subject} {arrow} {first.target or first.bootstrap} ({first.edge}, {first.bootstrap}): {words}"
    if first.kind is Kind.CONTAINER:
        return f"{first.subject}: came and went"
    if first.kind is not Kind.CELL:
        return f"{first.subject}: {words}"
    vantages = few_names(list(dict.fromkeys(change.subject for change in group)))
    addresses = list(dict.fromkeys(change.bootstrap for change in group if change.bootstrap))
    where = gathered_text(addresses)
    if where.count(", ") >= _NAMES_SHOWN:
        where = first_names([str(address) for address in addresses], _NAMES_SHOWN - 1)
    return f"{vantages} {arrow} {where}: {words}"


def _status_line(report: Report, screen: Screen, status: str) -> Line:
    cells = [cell.observed for matrix in report.matrices for cell in matrix.cells if cell.observed is not None]
    works = sum(verdict.usable for verdict in cells)
    partly = sum(verdict.word is Word.PARTIAL for verdict in cells)
    style = Style.GOOD if cells and works == len(cells) else Style.HALF
    text = f"{works} of {plural(len(cells), 'cell')} work" + (f", {partly} in part" if partly else "")
    return (Run(text, style), screen.run(f"  {status}", Style.DIM))


def _failed_inputs(report: Report, screen: Screen) -> list[Line]:
    return [
        (
            screen.run(item.name, Style.BOLD),
            Run(": not checked: ", Style.ERROR),
            screen.run(redacted(problem.message)),
            Run("; below is the last observation" if any(m.input == item.name for m in report.matrices) else ""),
        )
        for item, problem in report.unread
    ]


def _remarks(report: Report, screen: Screen) -> list[Line]:
    lines: list[Line] = [
        (screen.run(item.name, Style.BOLD), Run(": no Kafka broker found"))
        for item in report.inputs
        if item.error is None and not item.brokers
    ]
    for item in report.skipped:
        lines.append((Run("not checked: ", Style.WARNING), screen.run(f"{item.vantage}: {item.reason}")))
    lines += [(Run("note: ", Style.NOTE), screen.run(redacted(note))) for note in report.notes]
    if report.findings:
        text = f"{plural(len(report.findings), 'finding')}: check-listeners --live without --watch shows them"
        lines.append((Run(text, Style.DIM),))
    return [(), *lines] if lines else []


def _cut(lines: list[Line], rows: int, screen: Screen) -> list[Line]:
    if len(lines) <= rows:
        return lines
    left_out = len(lines) - rows + 1
    note = f"{screen.glyphs.ellipsis} {plural(left_out, 'more line')}: enlarge the window"
    return [*lines[: rows - 1], (Run(note, Style.DIM),)] if rows > 0 else []


def _clipped(line: Line, columns: int, screen: Screen) -> Line:
    """The line as far as it fits, so that a terminal need neither wrap nor scroll."""
    if line_width(line) <= columns:
        return line
    room = columns - width(screen.glyphs.ellipsis)
    runs: list[Run] = []
    for run in line:
        text = ""
        for character in run.text:
            if width(text + character) > room:
                return (*runs, Run(text, run.style), Run(screen.glyphs.ellipsis, Style.DIM))
            text += character
        room -= width(text)
        runs.append(run)
    return tuple(runs)
