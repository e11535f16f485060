"""Which playbooks fit lines that somebody pasted: the symptoms in them, best first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from netdiag.playbook.document import Playbook, Symptom
from netdiag.playbook.pattern import match

MOST_LINES = 20_000


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
    found: dict[str, Recognised] = {}
    for number, line in enumerate(lines, 1):
        if number > MOST_LINES:
            break
        best = _best(line, number, playbooks)
        if best is None:
            continue
        known = found.get(best.playbook.name)
        if known is None:
            found[best.playbook.name] = best
        else:
            found[best.playbook.name] = replace(max(known, best, key=_weight), times=known.times + 1)
    return tuple(sorted(found.values(), key=lambda one: (-_weight(one), one.number)))


def _best(line: str, number: int, playbooks: Sequence[Playbook]) -> Recognised | None:
    best: Recognised | None = None
    for playbook in playbooks:
        for symptom in playbook.symptoms:
            if best is not None and symptom.line.weight <= _weight(best):
                continue
            values = match(symptom.line, line)
            if values is not None:
                best = Recognised(playbook=playbook, symptom=symptom, line=line, number=number, values=values)
    return best


def _weight(one: Recognised) -> int:
    return one.symptom.line.weight
