"""`netdiag doctor`: what this machine lets netdiag do, and the command that would give what is missing."""

import os
from typing import Annotated

import typer

from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.surface import ColourOption, Debug, Verbose, finish, surface_of
from netdiag.cli.terminal import write_text
from netdiag.machine.abilities import State, abilities
from netdiag.render.doctor_json import doctor_json
from netdiag.render.doctor_text import doctor_text

Json = Annotated[bool, typer.Option("--json", help="JSON for programs (docs/output.md).")]
Host = Annotated[
    str | None,
    typer.Option("--host", metavar="URL", help="The engine that is meant.", show_default="as docker decides"),
]


def doctor(
    context: typer.Context,
    as_json: Json = False,
    host: Host = None,
    verbose: Verbose = False,
    debug: Debug = False,
    colour: ColourOption = None,
) -> None:
    """Look at what this machine lets netdiag do: engine, rights, libraries, programs, room."""
    surface = surface_of(context).joined(verbose=verbose, debug=debug, colour=colour)

    def command() -> ExitStatus:
        from netdiag.io.machine import read_machine

        machine = read_machine(host, os.environ)
        found = abilities(machine)
        write_text(doctor_json(machine, found) if as_json else doctor_text(found, surface.screen))
        return ExitStatus.FINDINGS if any(each.state is State.MISSING for each in found) else ExitStatus.CLEAN

    finish(surface, command)
