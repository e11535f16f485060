"""`netdiag probe`: one client's way to its brokers told step by step, from wherever it stands."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import Console, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.trace import target_of

if TYPE_CHECKING:
    from netdiag.deployment.model.contact import Address
    from netdiag.deployment.observation.probe import ProbeReport
    from netdiag.render.report import Matrix

_MOST_BOOTSTRAPS = 100


class ProbeFormat(StrEnum):
    """How it is told."""

    TEXT = "text"
    JSON = "json"


_Bootstrap = Annotated[
    str, typer.Argument(metavar="BOOTSTRAP", help="HOST:PORT, or several with commas; IPv6 in brackets, [::1]:9092.")
]
_From = Annotated[
    str,
    typer.Option("--from", metavar="PLACE", help="Where to stand: host, container:NAME, netns:NAME, pid:N."),
]
_Form = Annotated[ProbeFormat, typer.Option("--format", help="Text, or JSON (docs/output.md).")]
_Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="For everything together.")
]
_Host = Annotated[str | None, typer.Option("--host", metavar="URL", help="The engine; default as docker finds it.")]
_Matrix = Annotated[
    bool, typer.Option("--matrix", help="Then the same addresses from everywhere: docker host and every container.")
]
_Client = Annotated[
    str | None,
    typer.Option(
        "--client-properties",
        metavar="FILE",
        help="Speak as the client of this file, with TLS and SASL; else PLAINTEXT.",
    ),
]
_Group = Annotated[str, typer.Option("--group", metavar="NAME", help="The consumer group whose coordinator is asked.")]


def probe(
    context: typer.Context,
    bootstrap: _Bootstrap,
    place: _From = "host",
    form: _Form = ProbeFormat.TEXT,
    timeout: _Timeout = 10.0,
    group: _Group = "netdiag",
    client_properties: _Client = None,
    matrix: _Matrix = False,
    host: _Host = None,
) -> ExitStatus:
    """Speak with brokers as a client does, step by step: name, connection, versions, metadata, each advertised address.

    The status is 0 if a client works through every BOOTSTRAP, 1 if not, 3 if PLACE cannot be entered. Nobody else is
    contacted than those addresses and the ones that they advertise; nothing is created.
    """
    console = console_of(context)
    addresses = bootstraps_of(bootstrap)

    from netdiag.io.extras import require_live

    require_live("probe")
    from netdiag.io.client_identity import read_client
    from netdiag.io.probing import Question
    from netdiag.io.probing import probe as told
    from netdiag.io.standing import standing

    client = None if client_properties is None else read_client(client_properties)
    stood = standing(place, host=host)
    console.detail(f"standing at {stood.place}")
    question = Question(bootstraps=addresses, group=group, timeout=timeout, client=client)
    story = told(stood.place, stood.entrance, question)
    everywhere = None
    if matrix:
        from netdiag.cli.probe_matrix import matrix_of

        everywhere, notes = matrix_of(story, console, host=host, timeout=timeout, client=client)
        story = replace(story, notes=(*story.notes, *notes))
    _show(story, everywhere, form, console)
    return ExitStatus.CLEAN if story.usable else ExitStatus.FINDINGS


def bootstraps_of(text: str) -> "tuple[Address, ...]":
    """`a:1,b:2`, `[::1]:9092`, also with `PLAINTEXT://` before them; typer.BadParameter for others."""
    from netdiag.deployment.model.contact import Address

    words = [word.strip().rpartition("://")[2] for word in text.split(",") if word.strip()]
    if not words:
        raise typer.BadParameter("there is no address: write broker-1:9092 or [::1]:9092")
    if len(words) > _MOST_BOOTSTRAPS:
        raise typer.BadParameter(f"{len(words)} addresses: at most {_MOST_BOOTSTRAPS} at a time")
    targets = (target_of(word) for word in words)
    return tuple(dict.fromkeys(Address(host=host, port=port) for host, port in targets))


def _show(story: "ProbeReport", matrix: "Matrix | None", form: ProbeFormat, console: Console) -> None:
    if form is ProbeFormat.JSON:
        from netdiag.render.probe import probe_document
        from netdiag.render.topology.json import json_text

        write_text(json_text(probe_document(story, matrix)))
        return
    from netdiag.render.probe import probe_text

    write_text(probe_text(story, console.screen, matrix))
