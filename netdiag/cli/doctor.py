"""`netdiag doctor`: what this machine lets netdiag do, and the command that would give what is missing."""

import os
from typing import Annotated

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import NetdiagError, UsageError
from netdiag.machine.abilities import State, abilities
from netdiag.render.doctor import doctor_json, doctor_text

Json = Annotated[bool, typer.Option("--json", help="JSON for programs (docs/output.md).")]
Host = Annotated[
    str | None,
    typer.Option("--host", metavar="URL", help="The engine that is meant.", show_default="as docker decides"),
]
Warm = Annotated[
    bool,
    typer.Option("--warm", help="Keep Java's classes of Spark, so that analyze starts sooner; once for this release."),
]


def doctor(
    context: typer.Context,
    as_json: Json = False,
    host: Host = None,
    warm: Warm = False,
) -> ExitStatus:
    """Look at what this machine lets netdiag do: engine, rights, libraries, programs, room."""
    console = console_of(context)

    if warm:
        return _warm(as_json=as_json, host=host)
    from netdiag.io.machine import read_machine

    machine = read_machine(host, os.environ)
    found = abilities(machine)
    write_text(doctor_json(machine, found) if as_json else doctor_text(found, console.screen))
    return ExitStatus.FINDINGS if any(each.state is State.MISSING for each in found) else ExitStatus.CLEAN


def _warm(*, as_json: bool, host: str | None) -> ExitStatus:
    """Have Java's classes kept; the machine is not looked at."""
    if as_json or host is not None:
        raise UsageError("--warm makes things ready and looks at nothing", hint="run doctor once more without it")
    write_text(f"{_warm_java()}\n")
    return ExitStatus.CLEAN


def _warm_java() -> str:
    """Have the classes of Spark kept; analyze works without, so what is in the way is told and no more."""
    try:
        from netdiag.io.spark.class_making import make
    except ImportError as error:
        return f"Java's classes of Spark are not kept: {error.name} is not installed"
    try:
        made = make()
    except NetdiagError as error:
        return f"Java's classes of Spark are not kept: {error}"
    done = "were kept already" if made.was_ready else f"are kept: it took {made.seconds:.0f} s"
    return f"Java's classes of Spark {done}, in {made.path}"
