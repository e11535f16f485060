"""A probe as text and as JSON, version 1.

The text has every step with its time, then for each address what a client gets there, and what to do next.
"""

from collections.abc import Iterator
from typing import Any

from netdiag import __version__
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    Contact,
    EndpointOutcome,
    Failed,
    NodeEndpoint,
    Unknown,
    Word,
)
from netdiag.deployment.observation.probe import (
    AddressReport,
    BootstrapReport,
    GroupReport,
    ProbeReport,
    Step,
    next_step,
)
from netdiag.render.matrix.matrix_text import matrix_lines
from netdiag.render.report import Matrix
from netdiag.render.screen import Line, Run, Screen, Style, hanging, line_width, paint, width, wrap

_ACT = 9
_TIME = 9
FORMAT = "netdiag-probe"
VERSION = 1
Value = dict[str, Any]


def probe_text(story: ProbeReport, screen: Screen, matrix: Matrix | None = None) -> str:
    """The text; `matrix` holds what the same addresses give from elsewhere."""
    drawing = _Drawing(story.place, screen, story.speaks)
    lines = [line for one in story.bootstraps for line in drawing.bootstrap(one)]
    if matrix is not None and matrix.cells:
        lines += [*matrix_lines(matrix, screen, named=False), ()]
    lines += [drawing.note(note) for note in story.notes]
    return paint(lines, screen)


def probe_document(story: ProbeReport, matrix: Matrix | None = None) -> Value:
    """The document; times are in milliseconds. `matrix` holds what the same addresses give from elsewhere."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "from": story.place,
        "speaks": story.speaks,
        "usable": story.usable,
        "bootstraps": [_bootstrap_value(story, one) for one in story.bootstraps],
        "matrix": None if matrix is None else [_cell_value(cell) for cell in matrix.cells],
        "notes": list(story.notes),
    }


class _Drawing:
    def __init__(self, place: str, screen: Screen, speaks: str) -> None:
        self._place = place
        self._speaks = speaks
        self._as = "" if speaks == "PLAINTEXT" else f", in {speaks}"
        self._screen = screen

    def bootstrap(self, story: BootstrapReport) -> Iterator[Line]:
        yield (self._screen.run(f"{story.dialogue.address} from {self._place}{self._as}", Style.BOLD),)
        yield from self._dialogue(story.dialogue)
        for outcome, dialogue in zip(story.verdict.endpoints, story.endpoints, strict=False):
            yield from self._endpoint(story, outcome, dialogue)
        if story.group is not None:
            yield from self._group(story.group)
        good = story.usable
        style = Style.GOOD if good else Style.HALF if story.verdict.usable or story.verdict.reached else Style.BAD
        yield (Run("verdict: ", Style.BOLD), self._screen.run(_verdict(story), style))
        step = next_step(self._place, story, speaks=self._speaks)
        if step is not None:
            yield from hanging((Run("next:    ", Style.BOLD),), step, self._screen)
        yield ()

    def note(self, text: str) -> Line:
        return (self._screen.run(f"note: {text}", Style.DIM),)

    def _dialogue(self, dialogue: AddressReport) -> Iterator[Line]:
        yield from self._step(dialogue.resolve)
        for attempt in dialogue.attempts:
            for step in attempt.steps:
                yield from self._step(step)

    def _endpoint(self, story: BootstrapReport, outcome: EndpointOutcome, dialogue: AddressReport) -> Iterator[Line]:
        endpoint = outcome.endpoint
        style = Style.GOOD if outcome.outcome == Word.OK.value else Style.BAD
        yield (
            self._screen.run(f"broker {endpoint.node_id}, at {endpoint.address}: ", Style.PLACE),
            self._screen.run(outcome.outcome, style),
        )
        if dialogue.address == story.dialogue.address:
            yield (Run(f"  {'':{_ACT}}the same address: see above", Style.DIM),)
        else:
            yield from self._dialogue(dialogue)

    def _group(self, group: GroupReport) -> Iterator[Line]:
        word, style = group.outcome or ("no coordinator" if not group.harmless else "not asked for"), Style.BAD
        if group.harmless or group.outcome == Word.OK.value:
            style = Style.GOOD if group.outcome else Style.DIM
        yield (self._screen.run(f"group {group.group}: ", Style.PLACE), self._screen.run(word, style))
        yield from self._timed("ask", group.said, group.seconds, Style.PLAIN)

    def _step(self, step: Step) -> Iterator[Line]:
        yield from self._timed(step.act.value, step.said, step.seconds, Style.PLAIN if step.well else Style.BAD)

    def _timed(self, act: str, said: str, seconds: float, style: Style) -> Iterator[Line]:
        head = f"  {act:<{_ACT}}"
        room = max(24, self._screen.width - width(head) - _TIME - 2)
        first, *rest = wrap(self._screen.visible(said), room)
        line: Line = (Run(head, Style.DIM), Run(first, style))
        gap = max(2, self._screen.width - line_width(line) - _TIME)
        yield (*line, Run(f"{'':{gap}}{_duration(seconds):>{_TIME}}", Style.DIM))
        for more in rest:
            yield (Run(" " * width(head)), Run(more, style))


def _verdict(story: BootstrapReport) -> str:
    if story.verdict.usable and not story.usable:
        return "ok, but not for consumer groups"
    return str(story.verdict)


def _duration(seconds: float) -> str:
    if not seconds:
        return ""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _bootstrap_value(whole: ProbeReport, story: BootstrapReport) -> Value:
    verdict = story.verdict
    return {
        **_dialogue_value(story.dialogue),
        "verdict": str(verdict),
        "usable": story.usable,
        "next": next_step(whole.place, story, speaks=whole.speaks),
        "endpoints": [
            {"node_id": outcome.endpoint.node_id, "outcome": outcome.outcome, **_dialogue_value(dialogue)}
            for outcome, dialogue in zip(verdict.endpoints, story.endpoints, strict=False)
        ],
        "group": None if story.group is None else _group_value(story.group),
    }


def _cell_value(cell: Cell) -> Value:
    return {
        "vantage": cell.vantage,
        "address": _address_value(cell.bootstrap),
        "predicted": None if cell.predicted is None else str(cell.predicted),
        "observed": None if cell.observed is None else str(cell.observed),
        "agrees": cell.agrees,
    }


def _dialogue_value(dialogue: AddressReport) -> Value:
    return {
        "address": _address_value(dialogue.address),
        "resolve": _step_value(dialogue.resolve),
        "attempts": [
            {"ip": one.ip, "steps": [_step_value(step) for step in one.steps], "contact": _contact_value(one.contact)}
            for one in dialogue.attempts
        ],
        "contact": _contact_value(dialogue.contact),
    }


def _step_value(step: Step) -> Value:
    return {"act": step.act.value, "well": step.well, "said": step.said, "ms": round(step.seconds * 1000, 3)}


def _contact_value(contact: Contact) -> Value:
    answered = contact if isinstance(contact, Answered) else None
    failed = contact if isinstance(contact, Failed) else None
    return {
        "outcome": "answered" if answered else failed.reason.value if failed else "unknown",
        "because": contact.because,
        "node_id": answered.node_id if answered else None,
        "cluster_id": answered.cluster_id if answered else None,
        "listener": answered.listener if answered else None,
        "ip": None if isinstance(contact, Unknown) else contact.ip,
    }


def _group_value(group: GroupReport) -> Value:
    return {
        "name": group.group,
        "said": group.said,
        "ms": round(group.seconds * 1000, 3),
        "coordinator": None if group.endpoint is None else _endpoint_value(group.endpoint),
        "outcome": group.outcome or None,
        "harmless": group.harmless,
    }


def _endpoint_value(endpoint: NodeEndpoint) -> Value:
    return {"node_id": endpoint.node_id, **_address_value(endpoint.address)}


def _address_value(address: Address) -> Value:
    return {"host": address.host, "port": address.port}
