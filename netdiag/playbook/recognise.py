"""Which playbooks fit lines that somebody pasted: the symptoms in them, best first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from netdiag.playbook.document import Playbook, Symptom
from netdiag.playbook.pattern import even_line, match
from netdiag.values import dataclass

MOST_LINES = 20_000
PASTED = 20
"""So few lines somebody has chosen; more are a log, of which some lines mean something only when they come often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """A line (`number` from 1) that shows a symptom of a playbook; `values` of the holes; how often it was seen."""

    playbook: Playbook
    symptom: Symptom
    line: str
    number: int
    values: Mapping[str, str]
    times: int = 1


def recognised(lines: Iterable[str], playbooks: Sequence[Playbook]) -> tuple[Recognised, ...]:
    """One for every playbook that fits, the surest first: what says most, then what was seen first.

    A line belongs to the symptom that says most of it, so that a general one does not hide a special one.
    """
    found: dict[tuple[str, str], Recognised] = {}
    number = 0
    for number, line in enumerate(lines, 1):
        if number > MOST_LINES:
            break
        best = _best(line, number, playbooks)
        if best is None:
            continue
        key = (best.playbook.name, best.symptom.line.text)
        known = found.get(key)
        found[key] = best if known is None else replace(known, times=known.times + 1)
    counted = [one for one in found.values() if number <= PASTED or one.times >= one.symptom.often]
    best_of: dict[str, Recognised] = {}
    for one in sorted(counted, key=_order):
        known = best_of.get(one.playbook.name)
        best_of[one.playbook.name] = one if known is None else replace(known, times=known.times + one.times)
    return tuple(best_of.values())


def _best(line: str, number: int, playbooks: Sequence[Playbook]) -> Recognised | None:
    best: Recognised | None = None
    even = even_line(line)
    for playbook in playbooks:
        for symptom in playbook.symptoms:
            if best is not None and symptom.line.weight <= best.symptom.line.weight:
                continue
            values = match(symptom.line, even)
            if values is not None:
                best = Recognised(playbook=playbook, symptom=symptom, line=line, number=number, values=values)
    return best


def _order(one: Recognised) -> tuple[int, int]:
    return -one.symptom.line.weight, one.number
