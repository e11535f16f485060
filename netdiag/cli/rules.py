"""`netdiag rules`: the rules, one line each."""

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.render.rule_pages import rule_list
from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import rule_page


def rules(context: typer.Context) -> ExitStatus:
    """List the rules."""
    console = console_of(context)

    pages = [(rule.ID, rule.SEVERITY, rule_page(rule.__doc__ or "")) for rule in ALL]
    write_text(rule_list([(name, severity, page.title) for name, severity, page in pages], console.screen))
    return ExitStatus.CLEAN
