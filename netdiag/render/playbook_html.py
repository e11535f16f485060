"""Runs of playbooks as one HTML page without scripts, that opens offline. Foreign text is escaped."""

from collections.abc import Sequence
from html import escape

from netdiag.render.places import plain
from netdiag.render.told_run import ToldConclusion, ToldRun, ToldStep, ToldSymptom

_STYLE = """
:root { color-scheme: light dark; --edge: #8884; --good: #1a7f37; --half: #9a6700; --dim: #656d76; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --half: #d29922; --dim: #9198a1; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
blockquote, .cause { border-left: 4px solid var(--edge); margin: 1rem 0; padding: .2rem 1rem; overflow-wrap: anywhere; }
.proven { border-color: var(--good); } .likely, .possible { border-color: var(--half); }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--edge); padding: .3rem .5rem;
text-align: left; vertical-align: top; overflow-wrap: anywhere; } .dim { color: var(--dim); }
"""


def diagnosis_html(symptoms: Sequence[ToldSymptom], runs: Sequence[ToldRun]) -> str:
    """The page."""
    body = "".join(map(_symptom, symptoms)) + "".join(map(_run, runs))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n<title>netdiag: diagnosis</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>Diagnosis</h1>\n{body}</main>\n</body>\n</html>\n"
    )


def _symptom(one: ToldSymptom) -> str:
    times = f", {one.times} times" if one.times > 1 else ""
    return (
        f"<section><h2>{_safe(one.title)}</h2><p class=dim>line {one.number}, {_safe(one.who)}{times}</p>"
        f"<blockquote><code>{_safe(one.line)}</code></blockquote><p>{_safe(one.means)}</p></section>\n"
    )


def _run(run: ToldRun) -> str:
    rows = "".join(map(_step, run.steps))
    return (
        f"<section><h2>{_safe(run.title)}</h2><p><strong>{_safe(run.summary)}</strong></p>"
        + "".join(map(_conclusion, run.reached))
        + "<table><caption>Steps</caption><thead><tr><th scope=col>State<th scope=col>Step<th scope=col>What it saw"
        f"</tr></thead><tbody>{rows}</tbody></table></section>\n"
    )


def _step(step: ToldStep) -> str:
    return f"<tr><td>{_safe(step.state)}<td>{_safe(step.title)}<td>{_safe(step.told)}</tr>"


def _conclusion(one: ToldConclusion) -> str:
    seen = "".join(f"<li>{_safe(each)}</li>" for each in one.evidence)
    sure = _safe(one.confidence)
    return (
        f'<div class="cause {sure}"><p><strong>{sure}</strong>: {_safe(one.cause)}</p>'
        f"<ul>{seen}</ul><p>Repair: {_safe(one.repair)}</p></div>"
    )


def _safe(text: str) -> str:
    return escape(plain(text), quote=True)
