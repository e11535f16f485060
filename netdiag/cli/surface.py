"""The options that every command has, and how a command ends: one line for an error, one number for the shell."""

import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.terminal import Colour, report_error, say, screen_of
from netdiag.errors import NetdiagError, UsageError
from netdiag.render.screen import Screen

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say on standard error what is read and done.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
ColourOption = Annotated[
    Colour | None,
    typer.Option("--color", help="When to colour; NO_COLOR and FORCE_COLOR are heard.", show_default="auto"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What the common options say."""

    verbose: bool = False
    debug: bool = False
    colour: Colour = Colour.AUTO

    def joined(self, *, verbose: bool, debug: bool, colour: Colour | None) -> "Surface":
        """With the same options given after the command's name; those win."""
        return Surface(
            verbose=self.verbose or verbose,
            debug=self.debug or debug,
            colour=self.colour if colour is None else colour,
        )

    @property
    def screen(self) -> Screen:
        """What standard output can show."""
        return screen_of(sys.stdout, self.colour, os.environ)

    @property
    def error_screen(self) -> Screen:
        """What standard error can show."""
        return screen_of(sys.stderr, self.colour, os.environ)

    def tell(self, text: str) -> None:
        """Say something that only a verbose run says."""
        if self.verbose:
            say(f"netdiag: {self.error_screen.visible(text)}")

    def trace(self) -> None:
        """Under --debug, show where the error being handled comes from."""
        if self.debug:
            say(self.error_screen.visible(traceback.format_exc().rstrip()).replace("\\n", "\n"))


def surface_of(context: typer.Context) -> Surface:
    """What was given before the command's name."""
    return context.obj if isinstance(context.obj, Surface) else Surface()


def finish(surface: Surface, command: Callable[[], ExitStatus]) -> None:
    """Run a command to its exit status and raise typer.Exit with it; --debug adds the traceback of an error."""
    try:
        status = command()
    except KeyboardInterrupt:
        surface.trace()
        say("netdiag: interrupted")
        status = ExitStatus.INTERRUPTED
    except UsageError as error:
        surface.trace()
        report_error(error, surface.error_screen)
        status = ExitStatus.USAGE
    except NetdiagError as error:
        surface.trace()
        report_error(error, surface.error_screen)
        status = ExitStatus.COULD_NOT_LOOK
    except Exception as error:  # noqa: BLE001 (the last door: a defect of ours becomes one line, too)
        surface.trace()
        report_error(defect(error), surface.error_screen)
        status = ExitStatus.COULD_NOT_LOOK
    raise typer.Exit(int(status))


def defect(error: BaseException) -> NetdiagError:
    """An error that netdiag should not have run into, in one line."""
    text = " ".join(str(error).split())[:200]
    return NetdiagError(
        f"internal error: {type(error).__name__}" + (f": {text}" if text else ""),
        hint="run again with --debug and report what it prints",
    )
