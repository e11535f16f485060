"""`netdiag rules`: the rules, one line each."""

import typer

from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.surface import finish, surface_of
from netdiag.cli.terminal import write_text
from netdiag.render.rule_text import rule_list
from netdiag.rules.all_rules import ALL
from netdiag.rules.document import rule_page


def rules(context: typer.Context) -> None:
    """List the rules."""
    surface = surface_of(context)

    def command() -> ExitStatus:
        pages = [(rule.ID, rule.SEVERITY, rule_page(rule.__doc__ or "")) for rule in ALL]
        write_text(rule_list([(name, severity, page.title) for name, severity, page in pages], surface.screen))
        return ExitStatus.CLEAN

    finish(surface, command)
