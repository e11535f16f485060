"""`netdiag topology`: what this machine's network is made of, how it hangs together, who reaches which broker."""

import gc
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, assert_never

import typer
from typer import Option

from netdiag.cli.command import EngineHost, FailOn, NoEngine, console_of
from netdiag.cli.console import Console, is_terminal, say, write_text
from netdiag.cli.exit_status import ExitStatus
from netdiag.errors import UsageError
from netdiag.findings import Finding, Severity
from netdiag.render.screen import Screen

if TYPE_CHECKING:
    from netdiag.app.topology import TopologyOptions, TopologyReport, TopologyRound
    from netdiag.topology.graph import Topology

_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
# On a terminal the latest rounds of changes stay below the tree, as many lines of each.
_ROUNDS = 3
_LINES = 6


class TopologyFormat(StrEnum):
    """How the topology is drawn."""

    TEXT = "text"
    JSON = "json"
    DOT = "dot"
    MERMAID = "mermaid"
    SVG = "svg"
    HTML = "html"


def topology(
    context: typer.Context,
    form: Annotated[
        TopologyFormat,
        Option(
            "--format",
            "-f",
            help="A tree, JSON, a graph for other programs, a picture, or an interactive page.",
        ),
    ] = TopologyFormat.TEXT,
    out: Annotated[str | None, Option("--out", "-o", metavar="FILE", help="Write to this file, atomically.")] = None,
    network: Annotated[list[str] | None, Option("--network", metavar="NAME", help="Only this one; repeatable.")] = None,
    container: Annotated[
        list[str] | None, Option("--container", metavar="NAME", help="Only this one; repeatable.")
    ] = None,
    service: Annotated[list[str] | None, Option("--service", metavar="NAME", help="Only this one; repeatable.")] = None,
    host: EngineHost = None,
    no_engine: NoEngine = False,
    no_reach: Annotated[bool, Option("--no-reach", help="Do not trace who can reach which broker.")] = False,
    capture: Annotated[
        list[str] | None,
        Option("--capture", metavar="FILE", help="Add the Kafka traffic of this capture; repeatable."),
    ] = None,
    diff: Annotated[
        str | None,
        Option(
            "--diff",
            metavar="BEFORE.json",
            help="Show what changed since this JSON was written; exit with 1 for changes.",
        ),
    ] = None,
    watch: Annotated[bool, Option("--watch", help="Redraw at every change, until you press Ctrl-C.")] = False,
    fail_on: FailOn = Severity.ERROR,
) -> ExitStatus:
    """Show the network of this machine, from sockets to brokers, and who can reach which broker.

    Reads the kernel and the engine; sends, changes and starts nothing. Root sees everything, other users a part.
    """
    out = None if out == "-" else out
    if host is not None and no_engine:
        raise UsageError("--no-engine excludes --host and --context", hint="use only one of them")
    if (network or container or service) and no_engine:
        raise UsageError("--network, --container and --service need the engine", hint="leave out --no-engine")
    if diff is not None and form not in (TopologyFormat.TEXT, TopologyFormat.JSON):
        raise UsageError(f"--diff has no format {form.value}", hint="use --format text or json")
    if watch and (diff is not None or out is not None or form is not TopologyFormat.TEXT):
        raise UsageError("--watch excludes --diff, --out and --format: it draws on the terminal")
    from netdiag.app.topology import TopologyOptions, command_for_the_rest, watch_topology

    options = TopologyOptions(
        networks=tuple(network or ()),
        containers=tuple(container or ()),
        services=tuple(service or ()),
        host=host,
        engine=not no_engine,
        reach=not no_reach,
        captures=tuple(capture or ()),
    )
    console = console_of(context)
    if watch:
        return show_rounds(watch_topology(options, console), console)
    with without_collector():
        if diff is not None:
            return _compared(diff, options, form, out, console)
        report, text = _drawn(options, form, console.screen if out is None else Screen(), console)
        _write(text, out)
    command = command_for_the_rest(report.topology, sys.argv, host)
    if command is not None:
        console.notice(f"to see the rest, run: {command}")
    return status_of(report, fail_on)


@contextmanager
def without_collector() -> Iterator[None]:
    """Without looking for garbage: what is made lives until the end, and there is much of it."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def status_of(report: "TopologyReport", fail_on: Severity) -> ExitStatus:
    """Findings outweigh there being nothing to find."""
    if any(finding.severity.at_least(fail_on) for finding in report.findings):
        return ExitStatus.FINDINGS
    seen = report.topology
    return ExitStatus.CLEAN if seen.places or seen.containers else ExitStatus.NOTHING_TO_CHECK


def drawn(
    form: TopologyFormat, seen: "Topology", findings: Sequence[Finding], screen: Screen, *, full: bool = False
) -> str:
    """The topology in a format; a renderer is imported when its format is asked for."""
    match form:
        case TopologyFormat.TEXT:
            from netdiag.render.topology.tree import tree_text

            return tree_text(seen, screen, findings, full=full)
        case TopologyFormat.JSON:
            from netdiag.render.topology.json import json_text, topology_document

            return json_text(topology_document(seen, findings))
        case TopologyFormat.DOT:
            from netdiag.render.topology.dot import dot_text

            return dot_text(seen)
        case TopologyFormat.MERMAID:
            from netdiag.render.topology.mermaid import mermaid_text

            return mermaid_text(seen)
        case TopologyFormat.SVG:
            from netdiag.render.topology.svg import svg_text

            return svg_text(seen, findings=findings)
        case TopologyFormat.HTML:
            from netdiag.render.topology.html import html_page

            return html_page(seen, findings=findings)
        case _:
            assert_never(form)


def show_rounds(rounds: Iterator["TopologyRound"], console: Console) -> ExitStatus:
    """On a terminal the tree and the latest changes; elsewhere the tree once, then the changes as they come."""
    latest: deque[list[str]] = deque(maxlen=_ROUNDS)
    for each in rounds:
        changes = _changes(each, console)
        latest.append(_shortened(changes))
        report = each.report
        tree = drawn(TopologyFormat.TEXT, report.topology, report.findings, console.screen, full=console.verbose)
        if is_terminal():
            below = "".join(f"{line}\n" for lines in latest if lines for line in ("", *lines))
            write_text(_CLEAR + tree + below)
        else:
            write_text(tree if each.first else "".join(f"{line}\n" for line in changes))
        if each.first:
            say("netdiag: watching the network of this machine; press Ctrl-C to stop")
    return ExitStatus.CLEAN


def _drawn(
    options: "TopologyOptions", form: TopologyFormat, screen: Screen, console: Console
) -> "tuple[TopologyReport, str]":
    from netdiag.app.topology import TopologyReport, json_report, look_at, topology_findings

    seen = look_at(options, console)
    if form is TopologyFormat.JSON:
        findings, text = json_report(seen)
    else:
        findings = topology_findings(seen)
        text = drawn(form, seen, findings, screen, full=console.verbose)
    return TopologyReport(topology=seen, findings=findings), text


def _compared(
    path: str, options: "TopologyOptions", form: TopologyFormat, out: str | None, console: Console
) -> ExitStatus:
    from netdiag.app.topology import changes_since
    from netdiag.render.topology.tree import changes_json, changes_text

    changes = changes_since(path, options, console)
    screen = console.screen if out is None else Screen()
    as_json = form is TopologyFormat.JSON
    _write(changes_json(changes) if as_json else changes_text(changes, screen, full=console.verbose), out)
    return ExitStatus.FINDINGS if changes else ExitStatus.CLEAN


def _changes(each: "TopologyRound", console: Console) -> list[str]:
    """The changes as lines of text, the first of them with the time."""
    if not each.changes:
        return []
    from netdiag.render.topology.tree import change_summary, changes_text

    text = changes_text(each.changes, console.screen, full=console.verbose)
    return [f"{time.strftime('%H:%M:%S')} {change_summary(each.changes)}", *text.splitlines()[:-1]]


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - 1 - _LINES
    return [*lines[: 1 + _LINES], f"  and {more} more"] if more > 1 else lines


def _write(text: str, out: str | None) -> None:
    if out is None:
        write_text(text)
        return
    from netdiag.io.files import write_file

    write_file(out, text.encode())
