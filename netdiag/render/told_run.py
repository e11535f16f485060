"""What is told of playbooks and runs, as plain values: every format is made of these.

Rendering does not know playbooks (they are beside it, see docs/architecture.md): `cli` fills these in.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldConclusion:
    """A cause; `evidence` is what was seen that makes it one, empty in a playbook that was not run."""

    name: str
    confidence: str
    cause: str
    repair: str
    rules: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldPlaybook:
    """A playbook: symptoms as (who, line), steps as (title, action, live)."""

    name: str
    title: str
    means: str
    symptoms: tuple[tuple[str, str], ...]
    steps: tuple[tuple[str, str, bool], ...]
    conclusions: tuple[ToldConclusion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSymptom:
    """A line that was recognised; `number` counts from 1."""

    playbook: str
    title: str
    means: str
    who: str
    line: str
    number: int
    times: int
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldStep:
    """A step of a run. `state` is "looked", "could not look" or "passed over"; `told` what was seen or why not."""

    id: str
    title: str
    action: str
    state: str
    told: str
    fix: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldRun:
    """A run that is over; `end` is "cause", "nothing wrong" or "could not look", `summary` that in a sentence."""

    playbook: str
    title: str
    end: str
    summary: str
    steps: tuple[ToldStep, ...]
    reached: tuple[ToldConclusion, ...]
    variables: tuple[tuple[str, str], ...] = ()
