"""Runs of playbooks as Markdown, for an issue or a chat: cause, evidence, repair, steps. Foreign text is escaped."""

from collections.abc import Sequence

from netdiag.render.markdown import escaped
from netdiag.render.places import plain
from netdiag.render.told_run import ToldConclusion, ToldRun, ToldSymptom


def diagnosis_markdown(symptoms: Sequence[ToldSymptom], runs: Sequence[ToldRun]) -> str:
    """The markdown."""
    blocks = [_symptom(one) for one in symptoms] + [_run(run) for run in runs]
    return "\n\n".join(blocks) + "\n"


def _symptom(one: ToldSymptom) -> str:
    times = f", {one.times} times" if one.times > 1 else ""
    head = f"**{_safe(one.title)}** (line {one.number}, {_safe(one.who)}{times})"
    return f"{head}\n\n> {_safe(one.line)}\n\n{_safe(one.means)}"


def _run(run: ToldRun) -> str:
    parts = [f"### {_safe(run.title)}", f"**{_safe(run.summary)}**"]
    parts += [_conclusion(one) for one in run.reached]
    rows = [f"| {_safe(step.state)} | {_safe(step.title)} | {_safe(step.told)} |" for step in run.steps]
    parts.append("\n".join(["| | Step | What it saw |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _conclusion(one: ToldConclusion) -> str:
    lines = [f"- **{_safe(one.confidence)}**: {_safe(one.cause)}"]
    lines += [f"  - seen: {_safe(each)}" for each in one.evidence]
    lines.append(f"  - repair: {_safe(one.repair)}")
    return "\n".join(lines)


def _safe(text: str) -> str:
    return escaped(plain(text))
