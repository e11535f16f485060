"""Run a playbook: one step after the other, by injected actions, until a cause is proven or no step is left.

The runner itself opens and reads nothing. An action returns a value, so a run over recorded outcomes gives the same.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from netdiag.playbook.document import ACTIONS, Conclusion, Confidence, Item, Outcome, Playbook, Step, evidence
from netdiag.values import dataclass

_REFERENCE = re.compile(r"\{([^{}]*)\}")
_ORDER = tuple(Confidence)
# The fields of a thing that are its cause and its repair.
_TEXTS = {"findings": ("why", "hint"), "causes": ("because", "repair")}
NOT_LIVE = "needs --live"
WITH_LIVE = "run again with --live"

Perform = Callable[[Step, Mapping[str, str]], Outcome]
"""Take a step with its arguments filled in; a failure is an outcome that could not look."""


class End(StrEnum):
    """How a run ended."""

    CAUSE = "cause"
    NO_CAUSE = "no cause"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A step as it was taken; `skipped` is why it was not ("" where it was), and then there is no outcome."""

    step: Step
    arguments: Mapping[str, str]
    outcome: Outcome | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A conclusion that holds, with its texts and the things that make it hold.

    The texts are those of its evidence, where that is a finding or a cause; else the playbook's own, filled in.

    Notes prove nothing: what they alone show is likely at most.
    """

    conclusion: Conclusion
    confidence: Confidence
    cause: str
    repair: str
    evidence: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of it: `reached` surest first."""

    playbook: Playbook
    variables: Mapping[str, str]
    taken: tuple[Taken, ...]
    reached: tuple[Reached, ...]
    end: End


def run(
    playbook: Playbook,
    variables: Mapping[str, str],
    perform: Perform,
    *,
    live: bool,
    tell: Callable[[Taken], None] = lambda taken: None,
) -> Run:
    """Take the steps. `variables`: all that are told, by name; `tell` hears of each step when it is over."""
    seen: dict[str, Outcome] = {}
    taken: list[Taken] = []
    for step in playbook.steps:
        each = _take(step, variables, seen, perform, live=live)
        taken.append(each)
        tell(each)
        if each.outcome is not None:
            seen[step.id] = each.outcome
        if any(one.confidence is Confidence.PROVEN for one in _reached(playbook, variables, seen)):
            break
    reached = _reached(playbook, variables, seen)
    return Run(
        playbook=playbook,
        variables=variables,
        taken=tuple(taken),
        reached=reached,
        end=_end(reached, taken),
    )


def filled(text: str, variables: Mapping[str, str]) -> str:
    """A text with its variables filled in; one that is not set is empty."""
    return _REFERENCE.sub(lambda found: variables.get(found[1], ""), text)


def _filled_in(text: str, variables: Mapping[str, str]) -> str:
    """A sentence with its variables filled in; one that is not set stands there in capitals, as in a usage line."""
    return _REFERENCE.sub(lambda found: variables.get(found[1]) or found[1].upper(), text)


def variables_of(playbook: Playbook, holes: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """All variables of a run: what was told, else the default, which the holes of the symptom fill in.

    A default of which a hole is not known is none.
    """
    found = dict(holes)
    for name, variable in playbook.variables.items():
        if variable.default is not None and all(each in holes for each in _REFERENCE.findall(variable.default)):
            found[name] = filled(variable.default, holes)
    return {**found, **told}


def missing(playbook: Playbook, variables: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that steps need and that are not set."""
    return tuple(name for name in playbook.variables if not variables.get(name))


def _take(
    step: Step, variables: Mapping[str, str], seen: Mapping[str, Outcome], perform: Perform, *, live: bool
) -> Taken:
    arguments = {name: filled(value, variables) for name, value in step.arguments.items()}
    if step.when is not None and evidence(step.when, seen) is None:
        return Taken(step=step, arguments=arguments, skipped="not needed after the earlier steps")
    empty = [name for name, argument in ACTIONS[step.action].arguments.items() if argument.required]
    untold = [name for name in empty if not arguments.get(name)]
    if untold:
        return Taken(step=step, arguments=arguments, skipped=f"variable '{untold[0]}' is not set")
    spared = [name for name, argument in ACTIONS[step.action].arguments.items() if argument.spares]
    if any(arguments.get(name) for name in spared):
        return Taken(step=step, arguments=arguments, skipped="a file replaces it")
    if ACTIONS[step.action].live and not live:
        return Taken(step=step, arguments=arguments, outcome=Outcome(why_not=NOT_LIVE, fix=WITH_LIVE))
    return Taken(step=step, arguments=arguments, outcome=perform(step, arguments))


def _reached(playbook: Playbook, variables: Mapping[str, str], seen: Mapping[str, Outcome]) -> tuple[Reached, ...]:
    found: list[Reached] = []
    for conclusion in playbook.conclusions:
        things = evidence(conclusion.when, seen)
        if things is None:
            continue
        cause, repair = _own_texts(things) or (
            _filled_in(conclusion.cause, variables),
            _filled_in(conclusion.repair, variables),
        )
        found.append(
            Reached(
                conclusion=conclusion,
                confidence=_confidence(conclusion, things),
                cause=cause,
                repair=repair,
                evidence=things,
            )
        )
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.confidence)))


def _own_texts(things: tuple[Item, ...]) -> tuple[str, str] | None:
    """Cause and repair as the evidence says them, so that a run says what a finding and `--why` say."""
    for item in things:
        fields = _TEXTS.get(item.of, ())
        texts = [item.fields.get(name, "") for name in fields]
        if texts and all(texts):
            return texts[0], texts[1]
    return None


def _confidence(conclusion: Conclusion, things: tuple[Item, ...]) -> Confidence:
    only_notes = bool(things) and all(item.fields.get("severity") == "note" for item in things)
    return Confidence.LIKELY if only_notes and conclusion.confidence is Confidence.PROVEN else conclusion.confidence


def _end(reached: tuple[Reached, ...], taken: list[Taken]) -> End:
    if reached:
        return End.CAUSE
    looked = [each.outcome.looked for each in taken if each.outcome is not None]
    return End.NO_CAUSE if looked and all(looked) else End.INCOMPLETE
