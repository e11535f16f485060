"""`netdiag storage`: what a broker left in its data directory."""

from typing import Annotated

import typer
from typer import Argument, Option

from netdiag.cli.command import console_of
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus


def storage(
    context: typer.Context,
    directories: Annotated[list[str], Argument(metavar="DIR...", help="Data directories of brokers: log.dirs.")],
    as_json: Annotated[bool, Option("--json", help="JSON for programs (docs/output.md).")] = False,
) -> ExitStatus:
    """Show which cluster and node wrote a broker's data directory, and what it holds. Changes nothing.

    The exit status is 1 if a file in it cannot be read as what its name says.
    """
    from netdiag.app.storage import read_storage
    from netdiag.render.storage import storage_json, storage_text

    found = read_storage(tuple(directories))
    write_text(storage_json(found) if as_json else storage_text(found, console_of(context).screen))
    return ExitStatus.FINDINGS if any(one.problems for one in found) else ExitStatus.CLEAN
