"""`netdiag lab up`, `down` and `status`: a network to learn from, made and explained step by step, and removed."""

import os
import re
import sys
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import Console, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import MissingRight, NetdiagError, cannot_import
from netdiag.render.lab import invitation_text, left_text, passed_over_text, step_text, trials_text
from netdiag.topology.tutorial_lab import STEPS, TRIALS, namespace_name

if TYPE_CHECKING:
    from netdiag.io.teaching import Left
    from netdiag.io.teaching_state import State, StateFile

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,19}")


class What(StrEnum):
    """What is to be done with the lab."""

    UP = "up"
    DOWN = "down"
    STATUS = "status"


_What = Annotated[What, typer.Argument(metavar="up|down|status", help="Make it, remove it, or say what is there.")]
_Name = Annotated[str, typer.Option("--name", metavar="NAME", help="Several labs may stand side by side.")]


def lab(
    context: typer.Context,
    what: _What,
    name: _Name = "lab",
) -> ExitStatus:
    """Build a small network to learn from, explained step by step, and remove it: needs root, touches nothing else."""
    console = console_of(context)
    if not _NAME.fullmatch(name):
        raise typer.BadParameter(f"{name!r} is no name for a lab: a-z, 0-9 and dashes, at most 20")
    return _with_state(what, name, console)


def _with_state(what: What, name: str, console: Console) -> ExitStatus:
    if not sys.platform.startswith("linux"):
        raise NetdiagError("a lab is made of network namespaces, which only Linux has")
    if os.geteuid() != 0:
        raise MissingRight("a lab is made of network namespaces, which only root may make", hint="run it with sudo")
    try:
        from netdiag.io.teaching_state import state_file

        with state_file(name, os.environ) as file:
            state = file.read()
            if what is What.UP:
                return _up(name, state, file, console)
            if what is What.DOWN:
                return _down(name, state, file, console)
            return _status(name, state, console)
    except ModuleNotFoundError as error:
        raise cannot_import("netdiag lab", error, extra="live") from error


def _up(name: str, state: "State | None", file: "StateFile", console: Console) -> ExitStatus:
    from netdiag.io.teaching import Builder, CannotShow, tear_down
    from netdiag.io.teaching_state import new_state

    if state is not None:
        if not state.finished:
            raise NetdiagError("a lab was begun here and not finished", hint=f"remove it: {_again(name, What.DOWN)}")
        write_text(f"the lab is there already; {_again(name, What.DOWN)} removes it\n")
        return ExitStatus.CLEAN
    # An interrupt may end pyroute2 between two of its coroutines, which is nothing to tell the user about.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    state = new_state(name)
    builder = Builder(state, file)
    try:
        for number, step in enumerate(STEPS, 1):
            try:
                builder.do(step)
            except CannotShow as error:
                if not step.optional:
                    raise
                write_text(passed_over_text(number, step, error.message, console.screen))
            else:
                write_text(step_text(name, number, step, console.screen))
        builder.finish()
        _show(name, state, console)
    except BaseException:
        # Interrupted, refused or broken: nothing half made stays behind.
        _say_left(tear_down(state, file), console)
        raise
    return ExitStatus.CLEAN


def _show(name: str, state: "State", console: Console) -> None:
    from netdiag.io.teaching import attempt

    tried = [(trial, attempt(name, trial)) for trial in TRIALS if not trial.step or trial.step in state.steps]
    write_text(trials_text(tried, console.screen))
    here, there = f"netns:{namespace_name(name, 'one')}", "10.123.0.12:9092"
    commands = (
        ("netdiag topology", "what hangs on what"),
        (f"netdiag trace {here} {there}", "the way of a packet, hop by hop"),
        (f"ip netns exec {namespace_name(name, 'one')} ip address", "look around by hand"),
        (_again(name, What.DOWN), "remove all of it"),
    )
    write_text(invitation_text(commands, console.screen))


def _down(name: str, state: "State | None", file: "StateFile", console: Console) -> ExitStatus:
    from netdiag.io.teaching import missing, tear_down

    if state is None:
        write_text("there is no lab\n")
        return ExitStatus.CLEAN
    gone = missing(state) if state.finished else ()
    left = tear_down(state, file)
    if gone:
        write_text(console.screen.visible(f"removed or replaced by others meanwhile: {', '.join(gone)}") + "\n")
    if left:
        _say_left(left, console)
        return ExitStatus.FINDINGS
    write_text("the lab is removed\n")
    return ExitStatus.CLEAN


def _status(name: str, state: "State | None", console: Console) -> ExitStatus:
    from netdiag.io.teaching import missing

    if state is None:
        write_text(f"there is no lab; {_again(name, What.UP)} makes one\n")
        return ExitStatus.CLEAN
    gone = missing(state)
    word = "there" if state.finished and not gone else "there in part"
    lines = [f"the lab is {word}: {', '.join(namespace_name(name, space) for space in state.spaces)}"]
    lines += [f"not shown: {step.title}" for step in STEPS if state.finished and step.title not in state.steps]
    lines += [f"removed or replaced by others: {each}" for each in gone]
    write_text("".join(console.screen.visible(line) + "\n" for line in lines))
    return ExitStatus.FINDINGS if gone or not state.finished else ExitStatus.CLEAN


def _say_left(left: "tuple[Left, ...]", console: Console) -> None:
    if left:
        write_text(left_text([(each.what, each.because) for each in left], console.screen))


def _again(name: str, what: What) -> str:
    """The same command with another word."""
    return f"netdiag lab {what.value}" + ("" if name == "lab" else f" --name {name}")
