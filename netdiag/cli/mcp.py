"""`netdiag mcp`: the server for agents."""

import os
from typing import Annotated

import typer
from typer import Option

from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import UsageError, cannot_import


def mcp(
    context: typer.Context,
    root: Annotated[
        list[str] | None,
        Option(
            "--root",
            metavar="DIR",
            help="Read files below this folder only; repeatable.",
            show_default="the current folder",
        ),
    ] = None,
    allow_live: Annotated[
        bool,
        Option("--allow-live", help="Also offer tools that look at what runs on this machine, and connect to brokers."),
    ] = False,
    host: Annotated[
        str | None,
        Option("--host", metavar="URL", help="The Docker Engine.", show_default="the one that docker uses"),
    ] = None,
) -> ExitStatus:
    """Serve an agent: checks, predictions and diagnoses as tools, read-only.

    The Model Context Protocol is spoken on standard input and output.
    """
    del context
    for folder in root or ():
        if not os.path.isdir(folder):
            raise UsageError("is no folder", where=folder, hint="name a folder with --root")
    if host is not None and not allow_live:
        raise UsageError("--host needs --allow-live")
    try:
        from netdiag.mcp.server import serve
    except ImportError as error:
        raise cannot_import("netdiag mcp", error, extra="mcp") from error
    serve(tuple(map(os.path.abspath, root or (".",))), allow_live=allow_live, host=host)
    return ExitStatus.CLEAN
