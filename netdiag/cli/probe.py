"""`netdiag probe`: one client's way to its brokers step by step, from wherever it stands."""

from enum import StrEnum
from typing import Annotated

import typer
from typer import Argument, Option

from netdiag.cli.command import ClientProperties, EngineHost, console_of, parsed
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus


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
        str, Option("--from", metavar="PLACE", help="Connect from: host, container:NAME, netns:NAME, pid:N.")
    ] = "host",
    form: Annotated[ProbeFormat, Option("--format", help="Text, or JSON (docs/output.md).")] = ProbeFormat.TEXT,
    timeout: Annotated[
        float, Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="Timeout of the whole probe.")
    ] = 10.0,
    group: Annotated[
        str, Option("--group", metavar="NAME", help="Ask for the coordinator of this consumer group.")
    ] = "netdiag",
    client_properties: ClientProperties = None,
    matrix: Annotated[
        bool, Option("--matrix", help="Then try the same addresses from the docker host and every container.")
    ] = False,
    host: EngineHost = None,
) -> ExitStatus:
    """Connect to brokers as a client does, step by step: name, connection, versions, metadata, advertised addresses.

    The exit status is 0 if a client works through every BOOTSTRAP, 1 if not, 3 if netdiag cannot enter PLACE. netdiag
    contacts only these addresses and those that they advertise, and creates nothing.
    """
    from netdiag.app.probe import ProbeOptions
    from netdiag.app.probe import probe as probe_brokers
    from netdiag.deployment.model.verdict import parse_bootstraps
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
