"""`netdiag topology`: what this machine's network is made of, how it hangs together, who reaches which broker."""

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netdiag.cli.command import console_of
from netdiag.cli.console import Console, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.cli.topology_looking import Order, TopologyFormat, in_one_go, judged, judged_and_drawn, look_at, status_of
from netdiag.errors import UsageError
from netdiag.findings import Finding, Severity
from netdiag.render.screen import Screen

if TYPE_CHECKING:
    from netdiag.topology.diff import Difference
    from netdiag.topology.graph import Topology


class FailOn(StrEnum):
    """The severity from which on a finding counts."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_Form = Annotated[
    TopologyFormat,
    typer.Option("--format", "-f", help="A tree, JSON, a graph for other programs, a picture, or a page to explore."),
]
_Out = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Write there, whole or not at all.")]
_Network = Annotated[list[str] | None, typer.Option("--network", metavar="NAME", help="Only this one; repeatable.")]
_Container = Annotated[list[str] | None, typer.Option("--container", metavar="NAME", help="Only this one; repeatable.")]
_Service = Annotated[list[str] | None, typer.Option("--service", metavar="NAME", help="Only this one; repeatable.")]
_Host = Annotated[str | None, typer.Option("--host", metavar="URL", help="The engine; default as docker finds it.")]
_NoEngine = Annotated[bool, typer.Option("--no-engine", help="Ask no engine: only what the kernel says.")]
_NoReach = Annotated[bool, typer.Option("--no-reach", help="Do not work out who reaches which broker.")]
_Diff = Annotated[
    str | None,
    typer.Option("--diff", metavar="BEFORE.json", help="What changed since this JSON was written; status 1 if any."),
]
_Watch = Annotated[bool, typer.Option("--watch", help="Draw again whenever something changes, until Ctrl-C.")]
_Capture = Annotated[
    list[str] | None,
    typer.Option("--capture", metavar="FILE", help="Lay the Kafka traffic of this capture over it; repeatable."),
]
_Fail = Annotated[FailOn, typer.Option("--fail-on", help="Severity from which on the exit status is 1.")]


def topology(
    context: typer.Context,
    form: _Form = TopologyFormat.TEXT,
    out: _Out = None,
    network: _Network = None,
    container: _Container = None,
    service: _Service = None,
    host: _Host = None,
    no_engine: _NoEngine = False,
    no_reach: _NoReach = False,
    capture: _Capture = None,
    diff: _Diff = None,
    watch: _Watch = False,
    fail_on: _Fail = FailOn.ERROR,
) -> ExitStatus:
    """Show how this machine's network hangs together, from sockets to brokers, and who reaches which of them.

    Read are the kernel and the engine; nothing is sent, changed or run. As root everything is seen, otherwise a part.
    """
    console = console_of(context)
    order = Order(
        form=form,
        out=None if out == "-" else out,
        networks=tuple(network or ()),
        containers=tuple(container or ()),
        services=tuple(service or ()),
        host=host,
        engine=not no_engine,
        reach=not no_reach,
        captures=tuple(capture or ()),
        fail_on=Severity(fail_on.value),
    )

    _refuse(order, diff=diff, watch=watch)
    if watch:
        from netdiag.cli.topology_watching import watch_topology

        return watch_topology(order, console)
    with in_one_go():
        if diff is not None:
            return _compared(order, diff, console)
        seen = look_at(order, console)
        findings, text = judged_and_drawn(order, seen, _screen(order, console), full=console.verbose)
        _write(text, order)
    _tell_way_to_all(seen, order, console)
    return status_of(seen, findings, order.fail_on)


def _tell_way_to_all(seen: "Topology", order: Order, console: Console) -> None:
    """The command that sees the rest, for whoever is not root, or elsewhere; files stay what they are."""
    from netdiag.app.rerun import DEFAULT_SOCKET, sudo_line, via_line

    if seen.containers and not seen.host:
        command = via_line(sys.argv)
    elif seen.inventory.complete or getattr(os, "geteuid", lambda: 0)() == 0:
        return
    else:
        command = sudo_line(sys.argv, order.host or DEFAULT_SOCKET)
    if command:
        console.notice(f"to see the rest, run: {command}")


def _refuse(order: Order, *, diff: str | None, watch: bool) -> None:
    if order.host is not None and not order.engine:
        raise UsageError("--host names an engine, and --no-engine asks none", hint="leave out one of them")
    if (order.networks or order.containers or order.services) and not order.engine:
        raise UsageError("--network, --container and --service are words of an engine", hint="leave out --no-engine")
    if diff is not None and order.form not in (TopologyFormat.TEXT, TopologyFormat.JSON):
        raise UsageError(f"--diff has no format {order.form.value}", hint="use --format text or json")
    if watch and (diff is not None or order.out is not None or order.form is not TopologyFormat.TEXT):
        raise UsageError("--watch draws on the terminal: leave out --diff, --out and --format")


def _compared(order: Order, path: str, console: Console) -> ExitStatus:
    from netdiag.io.files import read_file
    from netdiag.render.topology.diff import changes_json, changes_text
    from netdiag.topology.diff import differences, load_document

    before = load_document(read_file(path, limit=_LARGEST), path)
    seen = look_at(order, console)
    changes: tuple[Difference, ...] = differences(before, _document(seen, judged(seen)))
    if order.form is TopologyFormat.JSON:
        _write(changes_json(changes), order)
    else:
        _write(changes_text(changes, _screen(order, console), full=console.verbose), order)
    return ExitStatus.FINDINGS if changes else ExitStatus.CLEAN


# A document of 200 namespaces has 2 MB.
_LARGEST = 200 * 1024 * 1024


def _document(seen: "Topology", findings: Sequence[Finding]) -> dict[str, Any]:
    from netdiag.render.topology.json import topology_document

    return topology_document(seen, findings)


def _screen(order: Order, console: Console) -> Screen:
    return console.screen if order.out is None else Screen()


def _write(text: str, order: Order) -> None:
    if order.out is None:
        write_text(text)
        return
    from netdiag.io.files import write_file

    write_file(order.out, text.encode())
