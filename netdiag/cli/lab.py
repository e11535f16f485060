"""`netdiag lab up`, `down` and `status`: a network to learn from, explained as it is made, and removed."""

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from netdiag.app.lab import Lab, open_lab
from netdiag.cli.command import console_of, refuse
from netdiag.cli.console import Console, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import NetdiagError
from netdiag.render.lab import invitation_text, left_text, passed_over_text, step_text, trials_text
from netdiag.topology.tutorial_lab import Step, namespace_name

if TYPE_CHECKING:
    from netdiag.io.tutorial_lab import Left


class What(StrEnum):
    """What is to be done with the lab."""

    UP = "up"
    DOWN = "down"
    STATUS = "status"


def lab(
    context: typer.Context,
    what: Annotated[What, Argument(metavar="up|down|status", help="Build the lab, remove it, or show its state.")],
    name: Annotated[str, Option("--name", metavar="NAME", help="The name of the lab; there may be several.")] = "lab",
) -> ExitStatus:
    """Build a small network to learn from, explained step by step, or remove it; needs root."""
    refuse(
        (
            not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,19}", name),
            f"{name!r} is not a name for a lab: use at most 20 of a-z, 0-9 and dashes",
        )
    )
    console = console_of(context)
    with open_lab(name) as opened:
        if what is What.UP:
            return _up(opened, console)
        return _down(opened, console) if what is What.DOWN else _status(opened, console)


def _up(lab: Lab, console: Console) -> ExitStatus:
    again = _command(lab.name, What.DOWN)
    status = lab.status()
    if status is not None:
        if not status.finished:
            raise NetdiagError("a lab was started here but not finished", hint=f"remove it: {again}")
        write_text(f"the lab already exists; {again} removes it\n")
        return ExitStatus.CLEAN

    def show_step(number: int, step: Step, reason: str | None) -> None:
        if reason is None:
            write_text(step_text(lab.name, number, step, console.screen))
        else:
            write_text(passed_over_text(number, step, reason, console.screen))

    tried = lab.build(show_step, lambda left: _show_left(left, console))
    write_text(trials_text(tried, console.screen))
    here = namespace_name(lab.name, "one")
    commands = (
        ("netdiag topology", "how everything is connected"),
        (f"netdiag trace netns:{here} 10.123.0.12:9092", "the path of a packet, hop by hop"),
        (f"ip netns exec {here} ip address", "look around"),
        (again, "remove all of it"),
    )
    write_text(invitation_text(commands, console.screen))
    return ExitStatus.CLEAN


def _down(lab: Lab, console: Console) -> ExitStatus:
    if not lab.exists:
        write_text("there is no lab\n")
        return ExitStatus.CLEAN
    gone, left = lab.remove()
    if gone:
        write_text(console.screen.visible(f"removed or replaced by others meanwhile: {', '.join(gone)}") + "\n")
    if left:
        _show_left(left, console)
        return ExitStatus.FINDINGS
    write_text("the lab is removed\n")
    return ExitStatus.CLEAN


def _status(lab: Lab, console: Console) -> ExitStatus:
    status = lab.status()
    if status is None:
        write_text(f"there is no lab; {_command(lab.name, What.UP)} makes one\n")
        return ExitStatus.CLEAN
    whole = status.finished and not status.gone
    spaces = ", ".join(namespace_name(lab.name, space) for space in status.spaces)
    lines = [f"the lab is {'there' if whole else 'there in part'}: {spaces}"]
    lines += [f"not shown: {title}" for title in status.not_shown]
    lines += [f"removed or replaced by others: {each}" for each in status.gone]
    write_text("".join(console.screen.visible(line) + "\n" for line in lines))
    return ExitStatus.CLEAN if whole else ExitStatus.FINDINGS


def _show_left(left: "tuple[Left, ...]", console: Console) -> None:
    if left:
        write_text(left_text([(each.what, each.because) for each in left], console.screen))


def _command(name: str, what: What) -> str:
    """The same command with another word."""
    return f"netdiag lab {what.value}" + ("" if name == "lab" else f" --name {name}")
