"""`netdiag doctor`: what this machine lets netdiag do, and the command that would give what is missing."""

from typing import Annotated

import typer
from typer import Option

from netdiag.app.doctor import examine, keep_java_classes
from netdiag.cli.command import console_of
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import UsageError
from netdiag.render.doctor import doctor_json, doctor_text


def doctor(
    context: typer.Context,
    as_json: Annotated[bool, Option("--json", help="JSON for programs (docs/output.md).")] = False,
    host: Annotated[
        str | None,
        Option("--host", metavar="URL", help="The engine that is meant.", show_default="as docker decides"),
    ] = None,
    warm: Annotated[
        bool,
        Option("--warm", help="Keep Java's classes of Spark, so that analyze starts sooner; once for this release."),
    ] = False,
) -> ExitStatus:
    """Look at what this machine lets netdiag do: engine, rights, libraries, programs, room."""
    if warm:
        if as_json or host is not None:
            raise UsageError("--warm makes things ready and looks at nothing", hint="run doctor once more without it")
        write_text(f"{keep_java_classes()}\n")
        return ExitStatus.CLEAN
    report = examine(host)
    screen = console_of(context).screen
    write_text(doctor_json(report.machine, report.abilities) if as_json else doctor_text(report.abilities, screen))
    return ExitStatus.CLEAN if report.complete else ExitStatus.FINDINGS
