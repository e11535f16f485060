"""`netdiag jmx`: the two hops of a JMX client, from wherever it stands."""

from enum import StrEnum
from typing import Annotated

import typer
from typer import Argument, Option

from netdiag.cli.command import EngineHost, console_of, parsed
from netdiag.cli.console import write_text
from netdiag.cli.exit_status import ExitStatus


class JmxFormat(StrEnum):
    """How it is shown."""

    TEXT = "text"
    JSON = "json"


def jmx(
    context: typer.Context,
    registry: Annotated[
        str | None,
        Argument(
            metavar="REGISTRY",
            help="HOST:PORT of a JMX port, or several with commas. Default: those of the running brokers.",
        ),
    ] = None,
    place: Annotated[
        str | None,
        Option(
            "--from",
            metavar="PLACE",
            help="Connect from: host, container:NAME, netns:NAME, pid:N. Default: the docker host and every container.",
        ),
    ] = None,
    form: Annotated[JmxFormat, Option("--format", help="Text, or JSON (docs/output.md).")] = JmxFormat.TEXT,
    timeout: Annotated[
        float, Option("--timeout", metavar="SECONDS", min=0.1, max=600, help="Timeout of each of the two hops.")
    ] = 4.0,
    host: EngineHost = None,
) -> ExitStatus:
    """Connect as a JMX client does: to a broker's JMX port, then to the host and port that it names.

    netdiag asks the registry for its stub and the RMI server for its version. It logs in nowhere and creates nothing.
    The exit status is 1 if a registry names a host and port where the RMI server does not answer; with --from also if
    the registry does not answer, and 3 if the answer is unknown.
    """
    from netdiag.app.jmx import JmxOptions, follow_jmx
    from netdiag.deployment.model.verdict import parse_bootstraps
    from netdiag.render.jmx import jmx_document, jmx_text

    console = console_of(context)
    registries = parsed(parse_bootstraps, registry) if registry is not None else ()
    report = follow_jmx(JmxOptions(registries=registries, place=place, timeout=timeout, host=host), console)
    if form is JmxFormat.JSON:
        from netdiag.render.topology.json import json_text

        write_text(json_text(jmx_document(report.cells, report.skipped, report.notes, works=report.works)))
    else:
        write_text(jmx_text(report.cells, report.skipped, report.notes, console.screen))
    if not report.cells or report.is_unknown:
        return ExitStatus.COULD_NOT_LOOK
    return ExitStatus.CLEAN if report.works else ExitStatus.FINDINGS
