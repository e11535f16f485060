"""A probe as text: every step with its time, then for each address what a client gets there, and what to do next."""

from collections.abc import Iterator

from netdiag.deployment.probe_advice import next_step
from netdiag.deployment.probe_story import BootstrapStory, Dialogue, GroupStory, ProbeStory, Step
from netdiag.deployment.verdict import EndpointOutcome, Word
from netdiag.render.matrix_text import matrix_lines
from netdiag.render.report import Matrix
from netdiag.render.screen import Line, Run, Screen, Style, line_width, paint, width, wrap

_ACT = 9
_TIME = 9


def probe_text(story: ProbeStory, screen: Screen, matrix: Matrix | None = None) -> str:
    """The text; `matrix` is how the same addresses fare from elsewhere."""
    drawing = _Drawing(story.place, screen, story.speaks)
    lines = [line for one in story.bootstraps for line in drawing.bootstrap(one)]
    if matrix is not None and matrix.cells:
        lines += [*matrix_lines(matrix, screen, named=False), ()]
    lines += [drawing.note(note) for note in story.notes]
    return paint(lines, screen)


class _Drawing:
    def __init__(self, place: str, screen: Screen, speaks: str) -> None:
        self._place = place
        self._speaks = speaks
        self._as = "" if speaks == "PLAINTEXT" else f", in {speaks}"
        self._screen = screen

    def bootstrap(self, story: BootstrapStory) -> Iterator[Line]:
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
            yield from self._wrapped("next:    ", step)
        yield ()

    def note(self, text: str) -> Line:
        return (self._screen.run(f"note: {text}", Style.DIM),)

    def _dialogue(self, dialogue: Dialogue) -> Iterator[Line]:
        yield from self._step(dialogue.resolve)
        for attempt in dialogue.attempts:
            for step in attempt.steps:
                yield from self._step(step)

    def _endpoint(self, story: BootstrapStory, outcome: EndpointOutcome, dialogue: Dialogue) -> Iterator[Line]:
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

    def _group(self, group: GroupStory) -> Iterator[Line]:
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

    def _wrapped(self, head: str, text: str) -> Iterator[Line]:
        first, *rest = wrap(self._screen.visible(text), max(30, self._screen.width - width(head)))
        yield (Run(head, Style.BOLD), Run(first))
        for more in rest:
            yield (Run(" " * width(head)), Run(more))


def _verdict(story: BootstrapStory) -> str:
    if story.verdict.usable and not story.usable:
        return "ok, but not for consumer groups"
    return str(story.verdict)


def _duration(seconds: float) -> str:
    if not seconds:
        return ""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
