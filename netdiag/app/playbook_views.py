"""Playbooks and their runs as the values that renderers take."""

from netdiag.deployment.observation.secrets import masked, masked_text
from netdiag.playbook.conditions import Item, Outcome
from netdiag.playbook.document import ACTIONS, Conclusion, Playbook
from netdiag.playbook.recognise import Recognised
from netdiag.playbook.runner import End, Reached, Run, Taken
from netdiag.render.playbooks import ConclusionView, PlaybookView, RunView, StepView, SymptomView

_MOST_EVIDENCE = 5
_NAMES = {
    "findings": ("finding", "findings"),
    "cells": ("cell", "cells"),
    "edges": ("edge", "edges"),
    "lines": ("line", "lines"),
    "steps": ("step", "steps"),
    "hops": ("hop", "hops"),
    "ends": ("end", "ends"),
    "causes": ("cause", "causes"),
    "captures": ("capture", "captures"),
    "traffic": ("summary", "summaries"),
    "connections": ("kind of connection", "kinds of connections"),
}


def playbook_view(playbook: Playbook) -> PlaybookView:
    """A playbook to show."""
    return PlaybookView(
        name=playbook.name,
        title=playbook.title,
        means=playbook.means,
        symptoms=tuple((symptom.who, symptom.line.text) for symptom in playbook.symptoms),
        steps=tuple((step.title, step.action.value, ACTIONS[step.action].live) for step in playbook.steps),
        conclusions=tuple(_conclusion(one) for one in playbook.conclusions),
    )


def symptom_view(one: Recognised) -> SymptomView:
    """A line that was recognised."""
    return SymptomView(
        playbook=one.playbook.name,
        title=one.playbook.title,
        means=one.playbook.means,
        who=one.symptom.who,
        line=masked_text(one.line.strip()),
        number=one.number,
        times=one.times,
        values=tuple((name, masked_text(value)) for name, value in one.values.items()),
    )


def step_view(taken: Taken) -> StepView:
    """A step that is over."""
    outcome = taken.outcome
    if outcome is None:
        state, told = "passed over", taken.passed_over
    elif outcome.looked:
        state, told = "looked", _counted(outcome)
    else:
        state, told = "could not look", masked_text(outcome.why_not)
    return StepView(
        id=taken.step.id,
        title=taken.step.title,
        action=taken.step.action.value,
        state=state,
        told=told,
        fix="" if outcome is None else outcome.fix,
        seconds=0.0 if outcome is None else round(outcome.seconds, 3),
        notes=() if outcome is None else outcome.notes,
    )


def run_view(run: Run) -> RunView:
    """A run that is over."""
    return RunView(
        playbook=run.playbook.name,
        title=run.playbook.title,
        end=run.end.value,
        summary=_summary(run),
        steps=tuple(step_view(each) for each in run.taken),
        reached=tuple(_reached(one) for one in run.reached),
        variables=tuple((name, masked(name, value)) for name, value in run.variables.items()),
    )


def _summary(run: Run) -> str:
    match run.end:
        case End.CAUSE:
            return run.reached[0].cause
        case End.NOTHING_WRONG:
            return "nothing wrong was found: every step looked, and none of the causes applies"
        case End.COULD_NOT_LOOK:
            first = next((each.outcome for each in run.taken if each.outcome and not each.outcome.looked), None)
            return f"no cause was found, but not every step could look: {first.why_not if first else ''}"


def _reached(one: Reached) -> ConclusionView:
    shown = tuple(_item(item) for item in one.evidence[:_MOST_EVIDENCE])
    more = len(one.evidence) - len(shown)
    return ConclusionView(
        name=one.conclusion.id,
        confidence=one.confidence.value,
        cause=one.cause,
        repair=one.repair,
        rules=one.conclusion.rules,
        evidence=(*shown, f"and {more} more") if more else shown,
    )


def _conclusion(one: Conclusion) -> ConclusionView:
    return ConclusionView(
        name=one.id, confidence=one.confidence.value, cause=one.cause, repair=one.repair, rules=one.rules
    )


def _item(item: Item) -> str:
    field = {name: masked_text(value) for name, value in item.fields.items()}
    match item.of:
        case "findings":
            return f"{field['where']}: {field['message']} ({field['rule']})"
        case "cells":
            return f"{field['vantage']} at {field['bootstrap']}: {field['verdict']}"
        case "edges":
            return f"{field['source']} to {field['target'] or field['address']}: {field['reason'] or field['worth']}"
        case "connections":
            how = "answered" if field["answered"] == "yes" else "not a byte in response"
            return f"{field['client']} to {field['broker']}: {field['protocol']}, {how}, {field['times']} times"
        case "causes":
            return f"{field['because']} ({field['mechanism']})"
        case _:
            return ": ".join(value for value in field.values() if value)


def _counted(outcome: Outcome) -> str:
    counts: dict[str, int] = {}
    for item in outcome.items:
        counts[item.of] = counts.get(item.of, 0) + 1
    said = [f"{count} {_NAMES.get(of, (of, of))[count != 1]}" for of, count in counts.items()]
    return ", ".join(said) or "nothing amiss"
