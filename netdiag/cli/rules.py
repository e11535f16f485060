"""`netdiag rules` and `netdiag explain RULE`: the rules, one line each, and all that one has to say."""

from typing import Annotated

import typer
from typer import Argument

from netdiag.app.rules import all_rules, explain_rule
from netdiag.cli.command import console_of, parsed
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.render.rule_pages import rule_list, rule_text
from netdiag.rules.selection import WITHOUT_RULE, known_ids


def _rule_ids(incomplete: str) -> list[str]:
    return [name for name in known_ids() if name.startswith(incomplete)]


def rules(context: typer.Context) -> ExitStatus:
    """List the rules."""
    listed = [(each.rule.ID, each.rule.SEVERITY, each.page.title) for each in all_rules()]
    write_text(rule_list(listed, console_of(context).screen))
    return ExitStatus.CLEAN


def explain(
    context: typer.Context,
    rule: Annotated[str, Argument(metavar="RULE", help="The id of a rule.", autocompletion=_rule_ids)],
) -> ExitStatus:
    """Explain a rule."""
    if rule in WITHOUT_RULE:
        write_text(f"{rule}\n\n{WITHOUT_RULE[rule]} See docs/configuration.md.\n")
        return ExitStatus.CLEAN
    found = parsed(explain_rule, rule)
    screen = console_of(context).screen
    write_text(rule_text(found.rule.ID, found.rule.SEVERITY, found.page.title, found.sections, screen))
    return ExitStatus.CLEAN
