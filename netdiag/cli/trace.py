"""`netdiag trace`: the way of a connection from a place to an address, hop by hop, and where it ends."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import Console, say, write_text
from netdiag.cli.exit_status import ExitStatus

if TYPE_CHECKING:
    from netdiag.topology.causes.failed_connection import Cause
    from netdiag.topology.graph import Path, Topology
    from netdiag.topology.path.attempts import Proof

_HIGHEST_PORT = 65535


class TraceFormat(StrEnum):
    """How the way is drawn."""

    TEXT = "text"
    JSON = "json"


_Source = Annotated[
    str, typer.Argument(metavar="SRC", help="From where: host, a container's name, container:NAME, netns:NAME, pid:N.")
]
_Target = Annotated[
    str, typer.Argument(metavar="DST:PORT", help="To where: a name or an address; IPv6 in brackets, [::1]:9092.")
]
_Form = Annotated[TraceFormat, typer.Option("--format", "-f", help="Text, or JSON (docs/output.md).")]
_Host = Annotated[str | None, typer.Option("--host", metavar="URL", help="The engine; default as docker finds it.")]
_NoEngine = Annotated[bool, typer.Option("--no-engine", help="Ask no engine: only what the kernel says.")]
_Prove = Annotated[
    bool,
    typer.Option("--prove", help="Make a real connection from there, and watch it on every device of the way."),
]
_Full = Annotated[bool, typer.Option("--full", help="Every rule that a packet meets, and the way of the answer.")]


def trace(
    context: typer.Context,
    source: _Source,
    target: _Target,
    form: _Form = TraceFormat.TEXT,
    prove: _Prove = False,
    full: _Full = False,
    host: _Host = None,
    no_engine: _NoEngine = False,
) -> ExitStatus:
    """Trace a connection through namespaces, bridges, NAT and packet filters: where does it end, and why?

    Nothing is sent without --prove. The status is 0 if it connects, 1 if not, 3 if that cannot be told.
    """
    console = console_of(context)
    destination, port = target_of(target)

    from netdiag.io.explaining import explain_proof
    from netdiag.io.topology import look

    topology = look(host=host, engine=not no_engine)
    path = walk(topology, source, destination, port)
    proof = _proved(topology, path) if prove and path.address else None
    if prove and not path.address:
        say(f"netdiag: nothing was sent: {console.error_screen.visible(destination)} is no address there")
    because = explain_proof(topology, path, proof)
    _show(topology, path, proof, because, form, console, full=full)
    return status_of(path, proof)


def target_of(word: str) -> tuple[str, int]:
    """`name:port`, `1.2.3.4:port`, `[::1]:port`; typer.BadParameter for others."""
    host, colon, number = word.rpartition(":")
    if not colon or not number.isascii() or not number.isdecimal() or not 0 < int(number) <= _HIGHEST_PORT:
        raise typer.BadParameter(f"{word!r} is no address with a port: write broker-1:9092 or [::1]:9092")
    bracketed = host.startswith("[") and host.endswith("]")
    if not host or (":" in host and not bracketed):
        raise typer.BadParameter(f"{word!r} is no address with a port: IPv6 addresses stand in brackets")
    return host[1:-1] if bracketed else host, int(number)


def status_of(path: "Path", proof: "Proof | None") -> ExitStatus:
    """Whether it connects; a proof that tells otherwise than was foretold is a finding, too."""
    from netdiag.topology.graph import PathEnd
    from netdiag.topology.path.attempts import Agreement

    if proof is not None:
        agreed = proof.agreement is not Agreement.DISAGREES
        return ExitStatus.CLEAN if agreed and proof.end is PathEnd.CONNECTED else ExitStatus.FINDINGS
    if path.end is PathEnd.UNKNOWN:
        return ExitStatus.COULD_NOT_LOOK
    return ExitStatus.CLEAN if path.end is PathEnd.CONNECTED else ExitStatus.FINDINGS


def walk(topology: "Topology", source: str, destination: str, port: int) -> "Path":
    """The way that a connection would take from a place that is named as for `--from`."""
    from netdiag.io.hosts_files import read_hosts_file
    from netdiag.topology.path.name_lookup import topology_resolver
    from netdiag.topology.path.prediction import PathPredictor
    from netdiag.topology.selection import find_namespace

    netns = find_namespace(topology, source)
    facts = topology.inventory.namespaces.get(netns)
    text = read_hosts_file(facts.netns, own=netns == topology.inventory.own) if facts is not None else None
    resolver = topology_resolver(topology, {} if text is None else {netns: text})
    return PathPredictor(topology, resolver).predict(netns, destination, port)


def _proved(topology: "Topology", path: "Path") -> "Proof":
    from netdiag.io.proving import prove

    return prove(topology, path)


def _show(
    topology: "Topology",
    path: "Path",
    proof: "Proof | None",
    causes: "tuple[Cause, ...]",
    form: TraceFormat,
    console: Console,
    *,
    full: bool,
) -> None:
    if form is TraceFormat.JSON:
        from netdiag.render.topology.json import json_text
        from netdiag.render.topology.trace import trace_document

        write_text(json_text(trace_document(topology, path, proof, causes)))
        return

    from netdiag.render.topology.trace import trace_text

    write_text(trace_text(topology, path, console.screen, proof, causes=causes, full=full))
