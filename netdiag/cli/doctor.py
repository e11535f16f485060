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
        Option("--host", metavar="URL", help="The Docker Engine.", show_default="the one that docker uses"),
    ] = None,
    warm: Annotated[
        bool,
        Option(
            "--warm", help="Archive Spark's Java classes so that analyze starts faster; needed once for each release."
        ),
    ] = False,
) -> ExitStatus:
    """Show what netdiag can do on this machine: engine, rights, libraries, programs, disk space."""
    if warm:
        if as_json or host is not None:
            raise UsageError("--warm excludes --json and --host", hint="run doctor again without --warm")
        write_text(f"{keep_java_classes()}\n")
        return ExitStatus.CLEAN
    report = examine(host)
    screen = console_of(context).screen
    write_text(doctor_json(report.machine, report.abilities) if as_json else doctor_text(report.abilities, screen))
    return ExitStatus.CLEAN if report.complete else ExitStatus.FINDINGS
