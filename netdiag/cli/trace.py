"""`netdiag trace`: the path of a connection from a place to an address, hop by hop, and where it ends."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from netdiag.cli.command import EngineHost, NoEngine, console_of, parsed
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus

if TYPE_CHECKING:
    from netdiag.topology.graph import Path
    from netdiag.topology.path.attempts import Proof


class TraceFormat(StrEnum):
    """How the path is shown."""

    TEXT = "text"
    JSON = "json"


def trace(
    context: typer.Context,
    source: Annotated[
        str,
        Argument(metavar="SRC", help="The source: host, a container's name, container:NAME, netns:NAME, pid:N."),
    ],
    target: Annotated[
        str, Argument(metavar="DST:PORT", help="The destination: a name or an address; IPv6 in brackets, [::1]:9092.")
    ],
    form: Annotated[TraceFormat, Option("--format", "-f", help="Text, or JSON (docs/output.md).")] = TraceFormat.TEXT,
    prove: Annotated[
        bool, Option("--prove", help="Make a real connection, and watch it on every device of the path.")
    ] = False,
    full: Annotated[
        bool, Option("--full", help="Show every rule that a packet meets, and the path of the response.")
    ] = False,
    host: EngineHost = None,
    no_engine: NoEngine = False,
) -> ExitStatus:
    """Trace a connection through namespaces, bridges, NAT and packet filters: where it ends, and why.

    Sends nothing without --prove. The exit status is 0 if it connects, 1 if not, 3 if this is unknown.
    """
    from netdiag.app.trace import TraceOptions
    from netdiag.app.trace import trace as trace_connection
    from netdiag.deployment.model.verdict import parse_address
    from netdiag.render.topology.trace import trace_document, trace_text

    console = console_of(context)
    destination = parsed(parse_address, target)
    options = TraceOptions(source=source, destination=destination, prove=prove, host=host, engine=not no_engine)
    report = trace_connection(options, console)
    if form is TraceFormat.JSON:
        from netdiag.render.topology.json import json_text

        write_text(json_text(trace_document(report.topology, report.path, report.proof, report.causes)))
    else:
        screen = console.screen
        write_text(trace_text(report.topology, report.path, screen, report.proof, causes=report.causes, full=full))
    return status_of(report.path, report.proof)


def status_of(path: "Path", proof: "Proof | None") -> ExitStatus:
    """Whether it connects; a proof that disagrees with the prediction is a finding, too."""
    from netdiag.topology.graph import PathEnd
    from netdiag.topology.path.attempts import Agreement

    if proof is not None:
        agreed = proof.agreement is not Agreement.DISAGREES
        return ExitStatus.CLEAN if agreed and proof.end is PathEnd.CONNECTED else ExitStatus.FINDINGS
    if path.end is PathEnd.UNKNOWN:
        return ExitStatus.COULD_NOT_LOOK
    return ExitStatus.CLEAN if path.end is PathEnd.CONNECTED else ExitStatus.FINDINGS
