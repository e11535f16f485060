"""Playbooks and diagnoses: as text, JSON version 1, Markdown, and one HTML page without scripts.

Every format takes the plain values below, because rendering does not know playbooks (see docs/architecture.md). Foreign
text is escaped in Markdown, for an issue or a chat, and in HTML, which opens offline.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from netdiag import __version__
from netdiag.render.findings.finding_text import plain
from netdiag.render.formats.markdown import escaped
from netdiag.render.screen import Line, Run, Screen, Style, hanging, paint
from netdiag.values import dataclass

_STEP_STYLES = {"done": Style.GOOD, "failed": Style.HALF, "skipped": Style.DIM}
FORMAT = "netdiag-diagnosis"
VERSION = 1
_STYLE = """
:root { color-scheme: light dark; --edge: #8884; --good: #1a7f37; --half: #9a6700; --dim: #656d76; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --half: #d29922; --dim: #9198a1; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
blockquote, .cause { border-left: 4px solid var(--edge); margin: 1rem 0; padding: .2rem 1rem; overflow-wrap: anywhere; }
.proven { border-color: var(--good); } .likely, .possible { border-color: var(--half); }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--edge); padding: .3rem .5rem;
text-align: left; vertical-align: top; overflow-wrap: anywhere; } .dim { color: var(--dim); }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConclusionView:
    """A cause; `evidence` is what was seen that makes it one, empty in a playbook that was not run."""

    name: str
    confidence: str
    cause: str
    repair: str
    rules: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybookView:
    """A playbook: symptoms as (who, line), steps as (title, action, live)."""

    name: str
    title: str
    means: str
    symptoms: tuple[tuple[str, str], ...]
    steps: tuple[tuple[str, str, bool], ...]
    conclusions: tuple[ConclusionView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SymptomView:
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
class StepView:
    """A step of a run. `state` is "done", "failed" or "skipped"; `result` is what was seen, or why not."""

    id: str
    title: str
    action: str
    state: str
    result: str
    fix: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run that is over; `end` is "cause", "no cause" or "incomplete", `summary` that in a sentence."""

    playbook: str
    title: str
    end: str
    summary: str
    steps: tuple[StepView, ...]
    reached: tuple[ConclusionView, ...]
    variables: tuple[tuple[str, str], ...] = ()


def playbook_list(playbooks: Sequence[tuple[str, str]], screen: Screen) -> str:
    """Name and title of each."""
    width = max((len(name) for name, _ in playbooks), default=0)
    return paint(((Run(f"{name:<{width}}  ", Style.BOLD), screen.run(title)) for name, title in playbooks), screen)


def playbook_page(playbook: PlaybookView, screen: Screen) -> str:
    """One playbook: what it means, the lines that lead to it, the steps, the causes."""
    lines: list[Line] = [(Run(playbook.name, Style.BOLD),), (screen.run(playbook.title),), ()]
    lines += hanging((), playbook.means, screen)
    lines += [(), (Run("Lines that lead here", Style.PLACE),)]
    for who, line in playbook.symptoms:
        lines += [(Run("    "), screen.run(who, Style.DIM)), (Run("      "), screen.run(line))]
    lines += [(), (Run("Steps", Style.PLACE),)]
    for step, action, live in playbook.steps:
        how = f" ({action}{', with --live' if live else ''})"
        lines.append((Run("    "), screen.run(step), screen.run(how, Style.DIM)))
    lines += [(), (Run("Causes", Style.PLACE),)]
    for conclusion in playbook.conclusions:
        lines += _conclusion_lines(conclusion, screen)
    return paint(lines, screen)


def recognised_text(symptoms: Sequence[SymptomView], screen: Screen) -> str:
    """What lines were recognised as, best first."""
    lines: list[Line] = []
    for number, one in enumerate(symptoms):
        if number:
            lines.append(())
        lines.append((Run(one.playbook, Style.BOLD), Run("  "), screen.run(one.title)))
        times = f", {one.times} times" if one.times > 1 else ""
        lines.append((Run("    "), screen.run(f"line {one.number}, {one.who}{times}:", Style.DIM)))
        lines.append((Run("    "), screen.run(one.line[:400])))
        lines += hanging((Run("    "),), one.means, screen)
    return paint(lines, screen)


def step_text(step: StepView, screen: Screen) -> str:
    """A step that is over."""
    head = (
        Run(f"{step.state:<7}  ", _STEP_STYLES[step.state]),
        screen.run(step.title),
        screen.run(f"  {step.result}" if step.result else "", Style.DIM),
    )
    lines: list[Line] = [head]
    if step.fix:
        lines.append((Run(" " * 16), screen.run(f"{screen.glyphs.arrow} {step.fix}", Style.PLACE)))
    lines += [(Run(" " * 16), screen.run(note, Style.DIM)) for note in step.notes]
    return paint(lines, screen)


def end_text(run: RunView, screen: Screen) -> str:
    """How a run ended: the cause with its evidence and repair, or that there is none."""
    lines: list[Line] = [()]
    if not run.reached:
        lines.append((screen.run(run.summary, Style.BOLD),))
        return paint(lines, screen)
    for number, one in enumerate(run.reached):
        if number:
            lines.append(())
        lines += _conclusion_lines(one, screen, 0)
    return paint(lines, screen)


def diagnosis_json(symptoms: Sequence[SymptomView], runs: Sequence[RunView]) -> str:
    """The document and a line break; of a playbook run by name there are no symptoms."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "symptoms": [{**asdict(one), "values": dict(one.values)} for one in symptoms],
        "runs": [_run_value(run) for run in runs],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def diagnosis_markdown(symptoms: Sequence[SymptomView], runs: Sequence[RunView]) -> str:
    """Recognised lines and runs as Markdown."""
    blocks = [_symptom_markdown(one) for one in symptoms] + [_run_markdown(run) for run in runs]
    return "\n\n".join(blocks) + "\n"


def diagnosis_html(symptoms: Sequence[SymptomView], runs: Sequence[RunView]) -> str:
    """Recognised lines and runs as a page."""
    body = "".join(map(_symptom_html, symptoms)) + "".join(map(_run_html, runs))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n<title>netdiag: diagnosis</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Diagnosis</h1>\n{body}</main>\n</body>\n</html>\n"
    )


def _conclusion_lines(one: ConclusionView, screen: Screen, indent: int = 4) -> list[Line]:
    head = (Run(" " * indent), Run(one.confidence, Style.WARNING), Run("  "), screen.run(one.name, Style.BOLD))
    below = (Run(" " * (indent + 4)),)
    lines: list[Line] = [head, *hanging(below, one.cause, screen)]
    for each in one.evidence:
        lines += hanging(below, f"seen: {each}", screen, Style.DIM)
    lines += hanging(below, f"{screen.glyphs.arrow} {one.repair}", screen, Style.GOOD)
    if one.rules:
        commands = ", ".join(f"netdiag explain {rule}" for rule in one.rules)
        lines += hanging(below, f"more: {commands}", screen, Style.DIM)
    return lines


def _run_value(run: RunView) -> dict[str, Any]:
    return {
        "playbook": run.playbook,
        "title": run.title,
        "variables": dict(run.variables),
        "end": run.end,
        "summary": run.summary,
        "steps": [asdict(step) for step in run.steps],
        "conclusions": [asdict(one) for one in run.reached],
    }


def _symptom_markdown(one: SymptomView) -> str:
    times = f", {one.times} times" if one.times > 1 else ""
    head = f"**{_markdown(one.title)}** (line {one.number}, {_markdown(one.who)}{times})"
    return f"{head}\n\n> {_markdown(one.line)}\n\n{_markdown(one.means)}"


def _run_markdown(run: RunView) -> str:
    parts = [f"### {_markdown(run.title)}", f"**{_markdown(run.summary)}**"]
    parts += [_conclusion_markdown(one) for one in run.reached]
    rows = [f"| {_markdown(step.state)} | {_markdown(step.title)} | {_markdown(step.result)} |" for step in run.steps]
    parts.append("\n".join(["| | Step | What it saw |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _conclusion_markdown(one: ConclusionView) -> str:
    lines = [f"- **{_markdown(one.confidence)}**: {_markdown(one.cause)}"]
    lines += [f"  - seen: {_markdown(each)}" for each in one.evidence]
    lines.append(f"  - repair: {_markdown(one.repair)}")
    return "\n".join(lines)


def _markdown(text: str) -> str:
    return escaped(plain(text))


def _symptom_html(one: SymptomView) -> str:
    times = f", {one.times} times" if one.times > 1 else ""
    return (
        f"<section><h2>{_html(one.title)}</h2><p class=dim>line {one.number}, {_html(one.who)}{times}</p>"
        f"<blockquote><code>{_html(one.line)}</code></blockquote><p>{_html(one.means)}</p></section>\n"
    )


def _run_html(run: RunView) -> str:
    rows = "".join(map(_step_html, run.steps))
    return (
        f"<section><h2>{_html(run.title)}</h2><p><strong>{_html(run.summary)}</strong></p>"
        + "".join(map(_conclusion_html, run.reached))
        + "<table><caption>Steps</caption><thead><tr><th scope=col>State<th scope=col>Step<th scope=col>What it saw"
        f"</tr></thead><tbody>{rows}</tbody></table></section>\n"
    )


def _step_html(step: StepView) -> str:
    return f"<tr><td>{_html(step.state)}<td>{_html(step.title)}<td>{_html(step.result)}</tr>"


def _conclusion_html(one: ConclusionView) -> str:
    seen = "".join(f"<li>{_html(each)}</li>" for each in one.evidence)
    sure = _html(one.confidence)
    return (
        f'<div class="cause {sure}"><p><strong>{sure}</strong>: {_html(one.cause)}</p>'
        f"<ul>{seen}</ul><p>Repair: {_html(one.repair)}</p></div>"
    )


def _html(text: str) -> str:
    return escape(plain(text), quote=True)
