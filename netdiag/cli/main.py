"""The `netdiag` command: its common options, and the list of its commands."""

import gc
import os
import signal
import sys
from typing import Annotated, NoReturn

import typer

from netdiag import __version__
from netdiag.cli.commands import Commands
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.surface import ColourOption, Debug, Surface, Verbose
from netdiag.cli.terminal import Colour, silence, write_text


def _show_version(wanted: bool) -> None:
    if wanted:
        write_text(f"netdiag {__version__}\n")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)]

_COLLECTED_AFTER = 50_000

# Rich would cost every run its import; colours of ours do not need it.
app = typer.Typer(cls=Commands, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True)


@app.callback()
def main(
    context: typer.Context,
    version: Version = False,
    verbose: Verbose = False,
    debug: Debug = False,
    colour: ColourOption = None,
) -> None:
    """Find out why Kafka in Docker connects but does not work."""
    del version
    context.obj = Surface(verbose=verbose, debug=debug, colour=colour or Colour.AUTO)


def run() -> None:
    """Run the command line and end the process with its exit status."""
    # Imports make objects by the hundred thousand, and none of them is garbage.
    gc.set_threshold(_COLLECTED_AFTER, 10, 20)
    # The threads that numpy starts for matrices have nothing to do here but to wait, which costs time and memory.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What Arrow gives back others can use.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    signal.signal(signal.SIGTERM, _end)
    try:
        app(prog_name="netdiag")
    except KeyboardInterrupt:
        sys.exit(ExitStatus.INTERRUPTED)
    except BrokenPipeError:
        silence(sys.stdout)
        sys.exit(ExitStatus.COULD_NOT_LOOK)


def _end(number: int, frame: object) -> NoReturn:
    # An exception, so that temporary folders are removed and sessions closed on the way out.
    sys.exit(ExitStatus.TERMINATED)
