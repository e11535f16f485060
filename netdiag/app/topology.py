"""The network of this machine: looked at, judged by the rules, compared with before, and watched."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from netdiag.app.progress import SILENT, Listener
from netdiag.app.rerun import DEFAULT_SOCKET, sudo_line, via_line
from netdiag.errors import NetdiagError
from netdiag.findings import Finding
from netdiag.rules.topology import check_topology
from netdiag.topology.graph import Topology
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.topology.diff import Difference

# From so many namespaces on a second process renders some of them, while this one judges and renders the others.
_MANY = 40
_OURS = 0.3
# A document of 200 namespaces has 2 MB.
_LARGEST = 200 * 1024 * 1024
EVERY = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyOptions:
    """What to look at: everything, or what hangs together with these networks, containers and services.

    `host` is the engine, which is not asked without `engine`; `reach` works out who reaches which broker; `captures`
    are laid over the devices.
    """

    networks: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    host: str | None = None
    engine: bool = True
    reach: bool = True
    captures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyReport:
    """A topology and its findings."""

    topology: Topology
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyRound:
    """One look of a watch that differs from the one before; the first has no changes."""

    report: TopologyReport
    changes: "tuple[Difference, ...]"
    first: bool


def topology_report(options: TopologyOptions, listener: Listener = SILENT) -> TopologyReport:
    """Look, and judge."""
    seen = look_at(options, listener)
    return TopologyReport(topology=seen, findings=topology_findings(seen))


def look_at(options: TopologyOptions, listener: Listener = SILENT) -> Topology:
    """The topology as it is now; nothing is sent, changed or run."""
    from netdiag.io.topology import read_topology
    from netdiag.topology.selection import narrow

    listener.detail("reading the kernel" + (" and asking the engine" if options.engine else ""))
    seen = read_topology(host=options.host, engine=options.engine)
    if options.captures:
        from netdiag.app.captures import with_captured_traffic  # loads the reader of captures

        seen = with_captured_traffic(seen, options.captures, listener)
    if options.reach and seen.listeners:
        from netdiag.topology.path.reach import with_reach

        seen = with_reach(seen)
    return narrow(seen, networks=options.networks, containers=options.containers, services=options.services)


def topology_findings(topology: Topology) -> tuple[Finding, ...]:
    """The findings that the configuration of the current folder leaves."""
    found = check_topology(topology)
    if not found or not _is_configured():
        return found
    from netdiag.app.configuration import CheckOptions, Configurations  # loads all rules

    return Configurations(CheckOptions()).settings("").selection.of(found)


def json_report(topology: Topology) -> tuple[tuple[Finding, ...], str]:
    """The findings, and the report as JSON; of a large topology two processes render a part each."""
    from netdiag.io.kernel.child_process import possible
    from netdiag.render.topology.json import append_tail, json_text, tail_text, topology_document

    many = len(topology.inventory.namespaces)
    if many < _MANY or not possible():
        findings = topology_findings(topology)
        return findings, json_text(topology_document(topology, findings))
    from netdiag.io.kernel.child_process import ChildProcess

    first = int(many * _OURS)
    with ChildProcess(lambda: tail_text(topology, first)) as beside:
        findings = topology_findings(topology)
        text = json_text(topology_document(topology, findings, first=first))
        tail = beside.result()
    return findings, append_tail(text, tail if tail is not None else tail_text(topology, first))


def changes_since(path: str, options: TopologyOptions, listener: Listener = SILENT) -> "tuple[Difference, ...]":
    """What changed since a report was written as JSON; InputError where the file is none."""
    from netdiag.io.files import read_file
    from netdiag.topology.diff import differences, load_document

    before = load_document(read_file(path, limit=_LARGEST), path)
    return differences(before, _document(topology_report(options, listener)))


def watch_topology(
    options: TopologyOptions, listener: Listener = SILENT, *, every: float = EVERY
) -> Iterator[TopologyRound]:
    """Look every so many seconds; of what cannot be looked at the listener hears once, and the watch goes on."""
    from netdiag.topology.diff import differences

    before: dict[str, Any] | None = None
    trouble = ""
    while True:
        try:
            report = topology_report(options, listener)
        except NetdiagError as error:
            if str(error) != trouble:
                listener.warning(error)
            trouble = str(error)
        else:
            trouble = ""
            now = _document(report)
            changes = () if before is None else differences(before, now)
            if before is None or changes:
                yield TopologyRound(report=report, changes=changes, first=before is None)
            before = now
        time.sleep(every)


def command_for_the_rest(topology: Topology, argv: Sequence[str], host: str | None) -> str | None:
    """The command line that sees what this look could not; None where there is nothing more to see."""
    if topology.containers and not topology.host:
        return via_line(argv)
    if topology.inventory.complete or getattr(os, "geteuid", lambda: 0)() == 0:
        return None
    return sudo_line(argv, host or DEFAULT_SOCKET)


def _document(report: TopologyReport) -> dict[str, Any]:
    from netdiag.render.topology.json import topology_document

    return topology_document(report.topology, report.findings)


def _is_configured() -> bool:
    """Whether a configuration goes with the current folder; what cannot be read is one, whose reader says why."""
    import tomllib  # slow to import, and most folders have no such file

    from netdiag.io.files import SHARED, config_candidates

    for path, data in config_candidates(""):
        if not path.endswith(SHARED):
            return True
        try:
            tools = tomllib.loads(data.decode()).get("tool", {})
        except ValueError:
            return True
        if isinstance(tools, dict) and "netdiag" in tools:
            return True
    return False
