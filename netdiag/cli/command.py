"""What every command has: its common options, and its end, one line for an error and one number for the shell."""

from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer
import typer.main
from typer.core import TyperCommand

from netdiag.cli.console import Colour, Console, report_error, say
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import NetdiagError, UsageError, internal_error

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print each step to standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")]
ColourOption = Annotated[
    Colour | None,
    typer.Option("--color", help="When to use colors; respects NO_COLOR and FORCE_COLOR.", show_default="auto"),
]


class Command(TyperCommand):
    """A command whose function returns an exit status; it finds the console in its context."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += command_of(_common_options, TyperCommand).params

    def invoke(self, ctx: typer.Context) -> NoReturn:  # type: ignore[override]
        """Run the function and raise typer.Exit with its status."""
        verbose, debug, colour = (ctx.params.pop(name) for name in ("verbose", "debug", "colour"))
        before = console_of(ctx)
        console = ctx.obj = Console(
            verbose=before.verbose or verbose,
            debug=before.debug or debug,
            colour=before.colour if colour is None else Colour(colour),
        )
        finish(console, lambda: self.run(ctx))

    def run(self, ctx: typer.Context) -> ExitStatus:
        """The status that the function returns."""
        return ExitStatus(super().invoke(ctx))


def command_of(function: Callable[..., Any], kind: type[TyperCommand], name: str | None = None) -> TyperCommand:
    """The command that Typer makes of a function."""
    single = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    single.command(name, cls=kind)(function)
    command = typer.main.get_command(single)
    assert isinstance(command, TyperCommand)
    return command


def console_of(context: typer.Context) -> Console:
    """The console under the options given so far."""
    return context.obj if isinstance(context.obj, Console) else Console()


def finish(console: Console, command: Callable[[], ExitStatus]) -> NoReturn:
    """Run a command to its exit status and raise typer.Exit with it; --debug adds the traceback of an error."""
    try:
        status = command()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except KeyboardInterrupt as error:
        console.handled(error)
        say("netdiag: interrupted")
        status = ExitStatus.INTERRUPTED
    except UsageError as error:
        console.handled(error)
        report_error(error, console.error_screen)
        status = ExitStatus.USAGE
    except NetdiagError as error:
        console.handled(error)
        report_error(error, console.error_screen)
        status = ExitStatus.COULD_NOT_LOOK
    except Exception as error:  # noqa: BLE001 (the last door: a defect of ours becomes one line, too)
        console.handled(error)
        report_error(internal_error(error), console.error_screen)
        status = ExitStatus.COULD_NOT_LOOK
    raise typer.Exit(int(status))


def _common_options(verbose: Verbose = False, debug: Debug = False, colour: ColourOption = None) -> None:
    """Declares the options that every command has."""
