"""`netdiag explain RULE`: what a rule looks for, why, a bad and a good example, what one sees, and the sources."""

from typing import Annotated

import typer

from netdiag.cli.command import console_of, finish
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.deployment.sources.compose import from_compose
from netdiag.findings import Applicability
from netdiag.render.findings.edits import repair, unified_diff
from netdiag.render.rule_pages import rule_text
from netdiag.rules.all_rules import ALL
from netdiag.rules.declared import check_deployment
from netdiag.rules.rule import Rule, rule_page
from netdiag.rules.selection import WITHOUT_RULE, known_ids
from netdiag.rules.topology import TOPOLOGY
from netdiag.rules.wire import WIRE

_EXAMPLE = "compose.yml"


def _names() -> list[str]:
    return list(known_ids())


def _complete(incomplete: str) -> list[str]:
    return [name for name in _names() if name.startswith(incomplete)]


def explain(
    context: typer.Context,
    rule: Annotated[str, typer.Argument(metavar="RULE", help="The id of a rule.", autocompletion=_complete)],
) -> ExitStatus:
    """Explain a rule."""
    console = console_of(context)
    if rule in WITHOUT_RULE:
        finish(console, lambda: _explain_without_rule(rule))
    found = next((known for known in ALL if rule == known.ID), None)
    if found is None:
        # Whoever spells rightly does not pay for it.
        import difflib

        close = difflib.get_close_matches(rule, _names(), 1)
        hint = f"; did you mean {close[0]}?" if close else "; `netdiag rules` lists them"
        raise typer.BadParameter(f"no rule is called {rule!r}{hint}")
    page = rule_page(found.__doc__ or "")

    sections = (
        ("Why", page.why),
        ("Bad", page.bad),
        ("Good", page.good),
        ("Repair", _repair(found)),
        ("Seen", page.seen),
        ("Sources", page.sources),
    )
    write_text(rule_text(found.ID, found.SEVERITY, page.title, sections, console.screen))
    return ExitStatus.CLEAN


def _explain_without_rule(name: str) -> ExitStatus:
    write_text(f"{name}\n\n{WITHOUT_RULE[name]} docs/configuration.md tells more.\n")
    return ExitStatus.CLEAN


def _repair(rule: Rule) -> str:
    """The patch that netdiag would make of the bad example, with its options; none for captures and machines."""
    if rule in WIRE or rule in TOPOLOGY:
        return ""
    bad = rule_page(rule.__doc__ or "").bad.encode()
    told = check_deployment(from_compose(load(Source(_EXAMPLE, bad), default_name="example")))
    made = repair((finding for finding in told if finding.rule == rule.ID), {_EXAMPLE: bad})
    if not made.files:
        return ""
    unsafe = any(finding.applicability is Applicability.UNSAFE for finding in made.applied)
    options = "--fix --unsafe-fixes" if unsafe else "--fix"
    return f"netdiag check-listeners {options}\n" + unified_diff(_EXAMPLE, bad, made.files[_EXAMPLE]).decode()
