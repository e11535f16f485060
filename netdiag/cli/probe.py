"""`netdiag probe`: one client's way to its brokers step by step, from wherever it stands."""

from enum import StrEnum
from typing import Annotated

import typer
from typer import Argument, Option

from netdiag.cli.command import console_of
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.options import EngineHost, parsed


class ProbeFormat(StrEnum):
    """How it is shown."""

    TEXT = "text"
    JSON = "json"


def probe(
    context: typer.Context,
    bootstrap: Annotated[
        str,
        Argument(metavar="BOOTSTRAP", help="HOST:PORT, or several with commas; IPv6 in brackets, [::1]:9092."),
    ],
    place: Annotated[
        str, Option("--from", metavar="PLACE", help="Where to stand: host, container:NAME, netns:NAME, pid:N.")
    ] = "host",
    form: Annotated[ProbeFormat, Option("--format", help="Text, or JSON (docs/output.md).")] = ProbeFormat.TEXT,
    timeout: Annotated[
        float, Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="For everything together.")
    ] = 10.0,
    group: Annotated[
        str, Option("--group", metavar="NAME", help="The consumer group whose coordinator is asked.")
    ] = "netdiag",
    client_properties: Annotated[
        str | None,
        Option(
            "--client-properties",
            metavar="FILE",
            help="Speak as the client of this file, with TLS and SASL; else PLAINTEXT.",
        ),
    ] = None,
    matrix: Annotated[
        bool, Option("--matrix", help="Then the same addresses from everywhere: docker host and every container.")
    ] = False,
    host: EngineHost = None,
) -> ExitStatus:
    """Speak with brokers as a client does, step by step: name, connection, versions, metadata, each advertised address.

    The status is 0 if a client works through every BOOTSTRAP, 1 if not, 3 if PLACE cannot be entered. Nobody else is
    contacted than those addresses and the ones that they advertise; nothing is created.
    """
    from netdiag.app.addresses import parse_bootstraps
    from netdiag.app.probe import ProbeOptions
    from netdiag.app.probe import probe as probe_brokers
    from netdiag.render.probe import probe_document, probe_text

    console = console_of(context)
    options = ProbeOptions(
        bootstraps=parsed(parse_bootstraps, bootstrap),
        place=place,
        timeout=timeout,
        group=group,
        client_properties=client_properties,
        matrix=matrix,
        host=host,
    )
    result = probe_brokers(options, console)
    if form is ProbeFormat.JSON:
        from netdiag.render.topology.json import json_text

        write_text(json_text(probe_document(result.report, result.matrix)))
    else:
        write_text(probe_text(result.report, console.screen, result.matrix))
    return ExitStatus.CLEAN if result.report.usable else ExitStatus.FINDINGS
