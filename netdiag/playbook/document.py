"""A playbook as values; `load` makes it of YAML."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from netdiag.playbook.actions import ACTIONS, ActionName
from netdiag.playbook.conditions import Condition
from netdiag.playbook.pattern import Pattern
from netdiag.values import dataclass

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

    @property
    def is_offline(self) -> bool:
        """Whether all of it can be done without touching anything that runs."""
        return not any(ACTIONS[step.action].live for step in self.steps)
