"""A playbook as values, which `load` makes of YAML, its conditions on what steps saw, and the playbooks that fit a log.

A condition says which things there must be, and which there must not. Texts are compared, nothing is run. A value of
`where` is a glob (`*` any text), or a comparison of numbers (`>=3`). With several values one must fit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import assert_never

from netdiag.playbook.pattern import Pattern, even_line, match
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that an action gives: a finding, a cell, a line of a log, an edge. `of` is its kind."""

    of: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an action gave. `why_not` is why it could not look, `fix` what to do about that; "" where it could."""

    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    why_not: str = ""
    fix: str = ""
    seconds: float = field(default=0.0, compare=False)

    @property
    def looked(self) -> bool:
        """Whether the action could look."""
        return not self.why_not


_COMPARISONS = (">=", "<=", ">", "<")


@dataclass(frozen=True, slots=True, kw_only=True)
class There:
    """At least so many things of a kind, as a step saw them, whose fields fit; `step` "" is any step."""

    step: str
    of: str
    where: Mapping[str, tuple[str, ...]]
    at_least: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """All of these hold."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """One of these holds."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class No:
    """This does not hold, and the steps it asks about could look."""

    part: "Condition"


Condition = There | Every | Either | No


def evidence(condition: Condition, seen: Mapping[str, Outcome]) -> tuple[Item, ...] | None:
    """The things that make a condition hold, by step; None where it does not hold. An absence has no things."""
    match condition:
        case There():
            found = [item for outcome in _of(condition.step, seen) for item in outcome.items if _fits(condition, item)]
            return tuple(found) if len(found) >= condition.at_least else None
        case Every():
            return _all(condition.parts, seen)
        case Either():
            held = [things for part in condition.parts if (things := evidence(part, seen)) is not None]
            return _once(item for things in held for item in things) if held else None
        case No():
            if not all(step in seen and seen[step].looked for step in asked(condition.part) if step):
                return None
            return () if evidence(condition.part, seen) is None else None
        case _:
            assert_never(condition)


def asked(condition: Condition) -> tuple[str, ...]:
    """The steps that a condition asks about."""
    match condition:
        case There():
            return (condition.step,)
        case Every() | Either():
            return tuple(dict.fromkeys(step for part in condition.parts for step in asked(part)))
        case No():
            return asked(condition.part)
        case _:
            assert_never(condition)


def glob(pattern: str, text: str) -> bool:
    """Whether a text fits a glob, without regard to case."""
    first, *others = pattern.lower().split("*")
    text = text.lower()
    if not others:
        return text == first
    *middle, last = others
    if not (text.startswith(first) and text.endswith(last) and len(first) + len(last) <= len(text)):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def is_comparison(value: str) -> bool:
    """Whether a value compares numbers."""
    return value.startswith(_COMPARISONS)


def _of(step: str, seen: Mapping[str, Outcome]) -> Iterable[Outcome]:
    if not step:
        return seen.values()
    return (seen[step],) if step in seen else ()


def _fits(condition: There, item: Item) -> bool:
    return item.of == condition.of and all(
        any(_matches(value, item.fields.get(name, "")) for value in values) for name, values in condition.where.items()
    )


def _matches(value: str, text: str) -> bool:
    sign = next((each for each in _COMPARISONS if value.startswith(each)), None)
    if sign is None:
        return glob(value, text)
    try:
        number, limit = float(text), float(value[len(sign) :])
    except ValueError:
        return False
    return {">=": number >= limit, "<=": number <= limit, ">": number > limit, "<": number < limit}[sign]


def _all(parts: Sequence[Condition], seen: Mapping[str, Outcome]) -> tuple[Item, ...] | None:
    found: list[Item] = []
    for part in parts:
        held = evidence(part, seen)
        if held is None:
            return None
        found += held
    return _once(found)


def _once(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple({id(item): item for item in items}.values())


class ActionName(StrEnum):
    """The actions."""

    LINT = "lint"
    MATRIX = "matrix"
    PROBE = "probe"
    MESH = "mesh"
    TOPOLOGY = "topology"
    TRACE = "trace"
    LOG = "log"
    CAPTURE = "capture"
    ANALYZE = "analyze"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """What an action may be told; `most` bounds a number.

    `step`: it names an earlier step with that action. `spares`: where it is told, there is nothing to do.
    """

    required: bool = False
    number: bool = False
    most: int = 0
    step: ActionName | None = None
    spares: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """`gives`: kind of thing -> names of its fields, which conditions may compare."""

    what: str
    live: bool
    arguments: Mapping[str, Argument]
    gives: Mapping[str, tuple[str, ...]]


FINDING = ("rule", "severity", "message", "where", "why", "hint")
CELL = ("vantage", "bootstrap", "host", "port", "verdict", "word", "reason", "mechanism", "because", "endpoints")
_LINE = ("container", "line")

ACTIONS: Mapping[ActionName, Action] = {
    ActionName.LINT: Action(
        what="check Compose files",
        live=False,
        arguments={"files": Argument()},
        gives={"findings": FINDING},
    ),
    ActionName.MATRIX: Action(
        what="contact every listener from every vantage",
        live=True,
        arguments={},
        gives={"cells": CELL, "findings": FINDING},
    ),
    ActionName.PROBE: Action(
        what="connect to a broker step by step, as a client does",
        live=True,
        arguments={"bootstrap": Argument(required=True), "from": Argument()},
        gives={"cells": CELL, "steps": ("address", "step", "outcome", "said")},
    ),
    ActionName.MESH: Action(
        what="try every connection between brokers, controllers and ZooKeeper",
        live=True,
        arguments={},
        gives={"edges": ("kind", "source", "target", "address", "worth", "reason")},
    ),
    ActionName.TOPOLOGY: Action(
        what="read bridges, addresses, NAT and sockets",
        live=True,
        arguments={},
        gives={"findings": FINDING},
    ),
    ActionName.TRACE: Action(
        what="follow a connection hop by hop through the kernel",
        live=True,
        arguments={"to": Argument(required=True), "from": Argument()},
        gives={
            "ends": ("end", "because", "errno"),
            "hops": ("hop", "what"),
            "causes": ("mechanism", "certainty", "because", "repair"),
        },
    ),
    ActionName.LOG: Action(
        what="read the last log lines of containers",
        live=True,
        arguments={"container": Argument()},
        gives={"lines": _LINE},
    ),
    ActionName.CAPTURE: Action(
        what="capture packets of brokers for some seconds; only what analyze finds is kept",
        live=True,
        arguments={
            "from": Argument(),
            "port": Argument(),
            "seconds": Argument(number=True, most=60),
            "packets": Argument(number=True, most=500_000),
            "megabytes": Argument(number=True, most=64),
            "file": Argument(spares=True),
        },
        gives={"captures": ("place", "packets", "lost", "seconds")},
    ),
    ActionName.ANALYZE: Action(
        what="analyze the packets that an earlier step captured, or that are in a file",
        live=False,
        arguments={"capture": Argument(step=ActionName.CAPTURE), "file": Argument()},
        gives={
            "findings": FINDING,
            "traffic": ("packets", "connections", "exchanges"),
            "connections": ("client", "broker", "protocol", "opening", "ending", "answered", "times"),
        },
    ),
}


VERSION = 1


class Confidence(StrEnum):
    """How sure a conclusion is; a proven one ends the run."""

    PROVEN = "proven"
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """A line that somebody's log shows: who writes it, what it looks like, and a line of that kind.

    `often`: programs that are well write it, too, now and then while they start, so in a log it counts from so many
    lines on.
    """

    who: str
    line: Pattern
    example: str
    often: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """What a run may be told. `default` may name holes of the symptom; None is one that must be told."""

    about: str
    default: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A look. Arguments may name variables: `{bootstrap}`. Without `when` it is always taken."""

    id: str
    title: str
    action: ActionName
    arguments: Mapping[str, str] = field(default_factory=dict)
    when: Condition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A cause, and what it takes to conclude it. `rules` explain it further."""

    id: str
    when: Condition
    confidence: Confidence
    cause: str
    repair: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """One symptom, written in as many ways as there are programs; the steps; the causes, likeliest first."""

    name: str
    title: str
    means: str
    symptoms: tuple[Symptom, ...]
    variables: Mapping[str, Variable]
    steps: tuple[Step, ...]
    conclusions: tuple[Conclusion, ...]
    reading: tuple[str, ...] = ()


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
