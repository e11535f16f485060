"""Run a playbook: over what files and the engine say now, or over what was recorded in a bundle.

`diagnose` recognises the symptom in lines of a log, and runs its playbook until a cause is found. Renderers know no
playbook: they take the plain values that `playbook_view` and `run_view` make of one and of its run.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from netdiag.app.playbook_actions import Actions, Subject
from netdiag.app.progress import SILENT, Listener
from netdiag.deployment.observation.recording import masked, masked_text
from netdiag.errors import UsageError
from netdiag.io.files.playbooks import find, read_bundle, shipped, text_of, write_bundle
from netdiag.playbook.bundle import Recorded, recorded, to_json
from netdiag.playbook.document import ACTIONS, Conclusion, Item, Outcome, Playbook, Recognised, Step, recognised
from netdiag.playbook.load import GIVEN, load
from netdiag.playbook.runner import End, Perform, Reached, Run, Taken, run, variables_of
from netdiag.render.playbooks import ConclusionView, PlaybookView, RunView, StepView, SymptomView, diagnosis_markdown
from netdiag.values import dataclass

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
        state, result = "skipped", taken.skipped
    elif outcome.looked:
        state, result = "done", _counted(outcome)
    else:
        state, result = "failed", masked_text(outcome.why_not)
    return StepView(
        id=taken.step.id,
        title=taken.step.title,
        action=taken.step.action.value,
        state=state,
        result=result,
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
        case End.NO_CAUSE:
            return "netdiag found no cause: every step ran, and none of the known causes applies"
        case End.INCOMPLETE:
            first = next((each.outcome for each in run.taken if each.outcome and not each.outcome.looked), None)
            return f"netdiag found no cause, but could not run every step: {first.why_not if first else ''}"


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


_CAPTURE = re.compile(r"\.(?:p?cap|pcapng)(?:\.(?:gz|zst|xz|bz2|lz4))?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookOptions:
    """What a run looks at: compose files and captures, with `live` also what runs; seconds for each connection."""

    live: bool = False
    files: tuple[str, ...] = ()
    host: str | None = None
    timeout: float = 4.0
    client_properties: str | None = None

    @property
    def variables(self) -> dict[str, str]:
        """The variables that the files give; a file is a capture by its name, else a compose file."""
        found: dict[str, list[str]] = {"files": [], "capture": []}
        for file in self.files:
            found["capture" if _CAPTURE.search(file) else "files"].append(file)
        return {name: "\n".join(files) for name, files in found.items() if files}

    @property
    def subject(self) -> Subject:
        """The same for the actions."""
        declared = tuple(file for file in self.files if not _CAPTURE.search(file))
        return Subject(files=declared, host=self.host, timeout=self.timeout, client_properties=self.client_properties)


class RunListener:
    """Hears how runs of playbooks go; as it is it does nothing."""

    def begun(self, playbook: Playbook) -> None:
        """A run begins."""

    def step(self, taken: Taken) -> None:
        """A step is over."""

    def ended(self, run: Run) -> None:
        """The run is over."""


def playbooks() -> tuple[Playbook, ...]:
    """The playbooks that come with netdiag."""
    return shipped()


def playbook_named(name: str) -> Playbook:
    """The playbook of that name, or in the file of that path."""
    return find(name, shipped())


def run_playbook(
    name: str,
    variables: Mapping[str, str],
    options: PlaybookOptions,
    listener: Listener = SILENT,
    runs: RunListener | None = None,
) -> Run:
    """Run one playbook; UsageError for a variable that it does not have."""
    playbook = playbook_named(name)
    known = (*playbook.variables, *GIVEN)
    unknown = [each for each in variables if each not in known]
    if unknown:
        raise UsageError(
            f"playbook {playbook.name} has no variable '{unknown[0]}'", hint=f"its variables are {', '.join(known)}"
        )
    given = variables_of(playbook, {}, {**variables, **options.variables})
    with Actions(options.subject, listener) as actions:
        return performed(playbook, given, actions.perform, live=options.live, runs=runs)


def replay_bundle(path: str, runs: RunListener | None = None) -> tuple[Run, ...]:
    """The runs over what a bundle holds; nothing else is looked at."""
    return tuple(_replayed(record, path, runs) for record in read_bundle(path).runs)


def save_bundle(path: str, found: Sequence[Recognised], runs: Sequence[tuple[Run, str]], *, live: bool) -> None:
    """Write a bundle of runs, each with the name that its playbook was found by; secrets are hidden."""
    records = [recorded(made, text_of(name, made.playbook), live=live) for made, name in runs]
    page = diagnosis_markdown([symptom_view(one) for one in found], [run_view(made) for made, _ in runs])
    write_bundle(path, to_json(found, records), page)


def performed(
    playbook: Playbook,
    variables: Mapping[str, str],
    perform: Perform,
    *,
    live: bool,
    runs: RunListener | None = None,
) -> Run:
    """A run whose listener hears of its beginning, its steps and its end."""
    runs = runs or RunListener()
    runs.begun(playbook)
    made = run(playbook, variables, perform, live=live, tell=runs.step)
    runs.ended(made)
    return made


def _replayed(record: Recorded, path: str, runs: RunListener | None) -> Run:
    def perform(step: Step, arguments: Mapping[str, str]) -> Outcome:
        return record.outcomes.get(step.id, Outcome(why_not="it is not in the bundle"))

    playbook = load(record.name, f"{path}: {record.name}.yml", record.text.encode())
    return performed(playbook, record.variables, perform, live=record.live, runs=runs)


# So many symptoms are followed.
_LIMIT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The symptoms that were recognised, best first, and the runs of their playbooks."""

    symptoms: tuple[Recognised, ...]
    runs: tuple[Run, ...]


def diagnose(
    lines: Sequence[str],
    options: PlaybookOptions,
    listener: Listener = SILENT,
    runs: RunListener | None = None,
    followed: Callable[[Sequence[Recognised]], None] = lambda symptoms: None,
) -> Diagnosis:
    """Recognise, and run; `followed` hears of the symptoms whose playbooks will run, before the first does."""
    symptoms = recognised(lines, playbooks())
    best = symptoms[:_LIMIT]
    followed(best)
    made: list[Run] = []
    with Actions(options.subject, listener) as actions:
        for one in best:
            variables = variables_of(one.playbook, one.values, options.variables)
            made.append(performed(one.playbook, variables, actions.perform, live=options.live, runs=runs))
            if made[-1].end is End.CAUSE:
                break
    return Diagnosis(symptoms=tuple(symptoms), runs=tuple(made))
