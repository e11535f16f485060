"""`netdiag lsp`: the language server for editors."""

import logging
from typing import Annotated

import typer
from typer import Option

from netdiag.cli.command import console_of
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import cannot_import


def lsp(
    context: typer.Context,
    stdio: Annotated[
        bool, Option("--stdio", hidden=True, help="Standard input and output, as editors say; always so.")
    ] = True,
) -> ExitStatus:
    """Serve an editor: findings as you type, from where each address works, repairs.

    The Language Server Protocol is spoken on standard input and output.
    """
    del stdio
    try:
        from netdiag.lsp.server import Server
    except ImportError as error:
        raise cannot_import("netdiag lsp", error, extra="lsp") from error
    if not console_of(context).debug:
        # A defect of the conversation is told to the client.
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
    Server().serve()
    return ExitStatus.CLEAN
