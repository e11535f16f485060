"""The actions of playbooks, as the application takes them; what two steps of a run ask for is looked at once.

What an action gives becomes the items that conditions compare: findings, cells, edges, hops, lines.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Self, assert_never

from netdiag.app.check import Check
from netdiag.app.configuration import CheckOptions, LiveOptions
from netdiag.app.progress import Listener
from netdiag.deployment.model.causes import Cause
from netdiag.deployment.model.verdict import Address, Cell, Contact, Failed, Unknown, Verdict
from netdiag.deployment.observation.probe import Step as ProbeStep
from netdiag.deployment.prediction.mesh import Edge, edge_outcome, is_cut
from netdiag.digits import number_of
from netdiag.errors import InputError, NetdiagError, internal_error
from netdiag.findings import ContainerLocation, FileLocation, Finding, Location, TopologyLocation, WireLocation
from netdiag.io.files.projects import ReadOptions
from netdiag.playbook.document import ActionName, Item, Outcome, Step
from netdiag.render.report import Report
from netdiag.render.wording import plural
from netdiag.topology.graph import Path
from netdiag.traffic.native import NO_NAMES, AddressNames
from netdiag.traffic.native import ReadOptions as CaptureRows
from netdiag.values import dataclass

_LONGEST = 600


def finding_item(finding: Finding) -> Item:
    """A finding."""
    fields = {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": finding.message,
        "where": location_text(finding.location),
        "why": finding.why,
        "hint": finding.hint or "",
    }
    return Item(of="findings", fields=_cut(fields))


def cell_item(cell: Cell) -> Item:
    """A cell of the matrix: what was observed there, what was predicted where nobody looked."""
    verdict = cell.observed or cell.predicted
    fields = {
        "vantage": cell.vantage,
        "bootstrap": str(cell.bootstrap),
        "host": cell.bootstrap.host,
        "port": str(cell.bootstrap.port),
        "verdict": "" if verdict is None else str(verdict),
        "word": "" if verdict is None else str(verdict.word),
        "reason": "" if verdict is None else verdict.reason or "",
        "mechanism": "" if verdict is None else _mechanism(verdict),
        "because": "" if verdict is None else _because(verdict),
        "endpoints": "" if verdict is None else _endpoints(verdict),
    }
    return Item(of="cells", fields=_cut(fields))


def edge_item(edge: Edge) -> Item:
    """A connection between members of a cluster."""
    contact = edge.observed
    cut = is_cut(edge)
    fields = {
        "kind": edge.kind.value,
        "source": edge.source,
        "target": edge.target,
        "address": str(edge.address),
        "worth": "unknown" if cut is None else "cut" if cut else "ok",
        "reason": "" if contact is None else _with_reason(edge_outcome(edge, contact), contact),
    }
    return Item(of="edges", fields=_cut(fields))


def step_item(address: Address, step: ProbeStep) -> Item:
    """A step of a conversation with a broker."""
    outcome = "well" if step.well else "failed"
    fields = {"address": str(address), "step": step.act.value, "outcome": outcome, "said": step.said}
    return Item(of="steps", fields=_cut(fields))


def path_items(path: Path) -> tuple[Item, ...]:
    """How a way ends, and its hops."""
    end = {"end": path.end.value, "because": path.because, "errno": path.errno}
    hops = (Item(of="hops", fields=_cut({"hop": hop.kind.value, "what": hop.what})) for hop in path.hops)
    return (Item(of="ends", fields=_cut(end)), *hops)


def cause_item(cause: Cause) -> Item:
    """Why a way does not lead to a connection, and the first thing that would help."""
    fields = {
        "mechanism": cause.mechanism.value,
        "certainty": cause.certainty.value,
        "because": cause.because,
        "repair": cause.repairs[0].text if cause.repairs else "",
    }
    return Item(of="causes", fields=_cut(fields))


def line_item(container: str, line: str) -> Item:
    """A line of a container's log."""
    return Item(of="lines", fields=_cut({"container": container, "line": line}))


def capture_item(places: Sequence[str], packets: int, lost: int, seconds: float) -> Item:
    """That packets were captured, and how many; never what is in them."""
    fields = {"place": ", ".join(places), "packets": str(packets), "lost": str(lost), "seconds": f"{seconds:g}"}
    return Item(of="captures", fields=_cut(fields))


def traffic_item(packets: int, connections: int, exchanges: int) -> Item:
    """How much of what a capture holds."""
    fields = {"packets": str(packets), "connections": str(connections), "exchanges": str(exchanges)}
    return Item(of="traffic", fields=fields)


def connections_item(fields: Mapping[str, str], times: int) -> Item:
    """Connections of a capture that went alike: between whom, what was spoken, whether the broker said a word."""
    return Item(of="connections", fields=_cut({**fields, "times": str(times)}))


def location_text(location: Location) -> str:
    """A place in few words."""
    match location:
        case FileLocation():
            return f"{location.path}:{location.line}"
        case ContainerLocation():
            return f"{location.container} {location.part}".rstrip()
        case WireLocation():
            return location.connection
        case TopologyLocation():
            return " ".join(part for part in (location.place, location.device, location.part) if part)
        case _:
            assert_never(location)


def _mechanism(verdict: Verdict) -> str:
    contacts = [verdict.bootstrap, *(outcome.contact for outcome in verdict.endpoints)]
    found = (contact.mechanism for contact in contacts if isinstance(contact, Failed))
    return next((each.value for each in found if each is not None), "")


def _because(verdict: Verdict) -> str:
    contacts = [verdict.bootstrap, *(outcome.contact for outcome in verdict.endpoints)]
    return next((contact.because for contact in contacts if isinstance(contact, Failed | Unknown)), "")


def _endpoints(verdict: Verdict) -> str:
    return ", ".join(f"{each.endpoint.address} {each.outcome}" for each in verdict.endpoints)


def _with_reason(word: str, contact: Contact) -> str:
    because = contact.because
    return f"{word}: {because}" if because else word


def _cut(fields: dict[str, str]) -> dict[str, str]:
    return {name: value[:_LONGEST] for name, value in fields.items()}


_HOST = "host"
_MOST_ITEMS, _MOST_FINDINGS = 2000, 500
# The bounds of a capture that a playbook does not bound itself; the length holds what brokers say of themselves.
_SECONDS, _PACKETS, _MEGABYTES, _SNAPLEN = 10, 100_000, 16, 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a run is about: compose files (those of this folder where none is named), and an engine."""

    files: tuple[str, ...] = ()
    host: str | None = None
    timeout: float = 4.0
    client_properties: str | None = None


class Actions:
    """Takes steps; as a block it removes its captures in the end."""

    def __init__(self, subject: Subject, listener: Listener) -> None:
        self._subject = subject
        self._listener = listener
        self._live: Report | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._captures: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def perform(self, step: Step, arguments: Mapping[str, str]) -> Outcome:
        """What a step saw; whatever goes wrong is an outcome that did not look."""
        actions: Mapping[ActionName, Callable[[Mapping[str, str]], Outcome]] = {
            ActionName.LINT: self._lint,
            ActionName.MATRIX: self._matrix,
            ActionName.MESH: self._mesh,
            ActionName.TOPOLOGY: self._topology,
            ActionName.PROBE: self._probe,
            ActionName.TRACE: self._trace,
            ActionName.LOG: self._log,
            ActionName.CAPTURE: lambda arguments: self._capture(step.id, arguments),
            ActionName.ANALYZE: self._analyze,
        }
        begun = time.monotonic()
        try:
            outcome = actions[step.action](arguments)
        except NetdiagError as error:
            self._listener.handled(error)
            outcome = Outcome(why_not=str(error), fix=error.hint or "")
        except Exception as error:  # noqa: BLE001 (a defect of ours ends a step, not the run)
            self._listener.handled(error)
            outcome = Outcome(why_not=str(internal_error(error)), fix=internal_error(error).hint or "")
        return replace(outcome, seconds=time.monotonic() - begun)

    def _lint(self, arguments: Mapping[str, str]) -> Outcome:
        files = _lines(arguments.get("files")) or self._subject.files
        read = ReadOptions(environ=os.environ)
        options = CheckOptions(files=files, read=read, matrix=False, isolated=True, ignore_comments=False)
        check = Check(options, self._listener)
        if not check.targets:
            return Outcome(notes=("no Compose file in this folder: name one",))
        return _of_report(check.run().report)

    def _matrix(self, arguments: Mapping[str, str]) -> Outcome:
        report = self._live_report()
        outcome = _of_report(report)
        cells = (cell_item(cell) for matrix in report.matrices for cell in matrix.cells)
        return replace(outcome, items=_bounded((*outcome.items, *cells)))

    def _mesh(self, arguments: Mapping[str, str]) -> Outcome:
        report = self._live_report()
        outcome = _of_report(report)
        if outcome.why_not:
            return Outcome(why_not=outcome.why_not, fix=outcome.fix)
        meshes = [matrix.mesh for matrix in report.matrices if matrix.mesh is not None]
        return Outcome(items=_bounded(edge_item(edge) for mesh in meshes for edge in mesh.edges))

    def _topology(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.app.topology import TopologyOptions, topology_report  # loads pyroute2

        report = topology_report(TopologyOptions(host=self._subject.host), self._listener)
        return Outcome(items=_findings(report.findings))

    def _probe(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.app.probe import ProbeOptions, probe
        from netdiag.deployment.model.verdict import parse_bootstraps

        options = ProbeOptions(
            bootstraps=parse_bootstraps(arguments["bootstrap"]),
            place=arguments.get("from") or _HOST,
            timeout=2 * self._subject.timeout,
            host=self._subject.host,
        )
        report = probe(options, self._listener).report
        items: list[Item] = []
        for one in report.bootstraps:
            address = one.dialogue.address
            items.append(cell_item(Cell(vantage=report.place, bootstrap=address, observed=one.verdict)))
            for dialogue in (one.dialogue, *one.endpoints):
                steps = [dialogue.resolve, *(step for attempt in dialogue.attempts for step in attempt.steps)]
                items += [step_item(dialogue.address, step) for step in steps]
        return Outcome(items=_bounded(items), notes=report.notes)

    def _trace(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.app.trace import TraceOptions, trace
        from netdiag.deployment.model.verdict import parse_address

        destination = parse_address(arguments["to"])
        source = arguments.get("from") or _HOST
        report = trace(TraceOptions(source=source, destination=destination, host=self._subject.host), self._listener)
        return Outcome(items=(*path_items(report.path), *map(cause_item, report.causes)))

    def _log(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.io.engine.docker_sdk import read_logs  # loads the library of the engine

        logs = read_logs(self._subject.host, container=arguments.get("container") or None)
        return Outcome(items=_bounded(line_item(name, line) for name, lines in logs.items() for line in lines))

    def _capture(self, step: str, arguments: Mapping[str, str]) -> Outcome:
        """Packets of brokers for a while; kept under the id of the step."""
        from netdiag.app.capture import CaptureOptions, open_capture, parse_place

        seconds = int(arguments.get("seconds") or _SECONDS)
        port = arguments.get("port") or ""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="netdiag-playbook-")
        options = CaptureOptions(
            places=(parse_place(arguments.get("from") or "brokers"),),
            ports=(_port(port),) if port else (),
            out=os.path.join(self._folder.name, f"{step}.pcapng"),
            host=self._subject.host,
            seconds=seconds,
            packets=int(arguments.get("packets") or _PACKETS),
            most_bytes=int(arguments.get("megabytes") or _MEGABYTES) * 1_000_000,
            snaplen=_SNAPLEN,
            megabytes=32,
        )
        with open_capture(options) as opened:
            labels = ", ".join(opened.labels)
            self._listener.notice(
                f"capturing for {plural(seconds, 'second')} at {labels}: let the client try meanwhile"
            )
            progress = opened.session.run(lambda seen: None)
            if not opened.output.files:
                raise NetdiagError("nothing was captured", where=labels)
        self._captures[step] = opened.output.files[0]
        notes = (f"{plural(progress.packets, 'packet')} at {labels}", *progress.notes)
        return Outcome(items=(capture_item(opened.labels, progress.packets, progress.dropped, seconds),), notes=notes)

    def _analyze(self, arguments: Mapping[str, str]) -> Outcome:
        """The findings of a capture that is named, or that an earlier step took."""
        from netdiag.app.analyze import analyze_here
        from netdiag.app.captures import CaptureQuery

        step, named = arguments.get("capture") or "", _lines(arguments.get("file"))
        files = named or ((self._captures[step],) if step in self._captures else ())
        if not files:
            raise InputError(f"step '{step}' captured nothing" if step else "no capture is named")
        for path in files:
            # Nobody waits for what a document's author had in mind: a pipe may never say anything.
            if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
                raise InputError("is neither a file nor a folder", where=path)
        # A capture of somebody else's machine has nothing to do with what runs here.
        names = NO_NAMES if named else self._live_names()
        analysis = analyze_here(CaptureQuery(files=files, rows=CaptureRows(address_names=names)), self._listener)
        return Outcome(
            items=(
                *map(finding_item, analysis.findings[:_MOST_FINDINGS]),
                traffic_item(analysis.seen.packets, analysis.connections, analysis.exchanges),
                *connections(files, self._listener),
            )
        )

    def _live_names(self) -> AddressNames:
        """Names for addresses; without them findings name addresses."""
        from netdiag.app.address_names import live_names

        with suppress(NetdiagError):
            return live_names(self._subject.host, None, self._listener)
        return NO_NAMES

    def _live_report(self) -> Report:
        if self._live is None:
            from netdiag.app.live_check import LiveCheck
            from netdiag.io.extras import require_live

            require_live()
            options = CheckOptions(files=self._subject.files, read=ReadOptions(environ=os.environ), isolated=True)
            live = LiveOptions(
                host=self._subject.host,
                timeout=self._subject.timeout,
                client_properties=self._subject.client_properties,
            )
            self._live = LiveCheck(options, live, self._listener).report()
        return self._live


def connections(files: Sequence[str], listener: Listener) -> tuple[Item, ...]:
    """The connections, those that went alike as one; their kinds are bounded, the connections are not."""
    from netdiag.app.captures import CaptureQuery, read_table
    from netdiag.traffic.facts import host_of

    columns = ("client", "broker", "protocol", "opening", "ending", "client_bytes", "broker_bytes")
    counts: Counter[tuple[str, ...]] = Counter()
    for batch in read_table(CaptureQuery(files=tuple(files)), "connections", columns, listener):
        for client, broker, protocol, opening, ending, sent, answered in batch.rows():
            key = (host_of(client), broker, protocol, opening, ending, "yes" if answered or not sent else "no")
            if key in counts or len(counts) < _MOST_FINDINGS:
                counts[key] += 1
    fields = ("client", "broker", "protocol", "opening", "ending", "answered")
    return tuple(connections_item(dict(zip(fields, key, strict=True)), times) for key, times in counts.most_common())


def _of_report(report: Report) -> Outcome:
    """The findings of a report; why it could not look where an input could not be read."""
    errors = [one.error for one in report.inputs if one.error is not None]
    notes = (*report.notes, *(f"{item.vantage}: not taken, {item.reason}" for item in report.skipped))
    items = _findings(report.findings)
    if errors and not items:
        first = errors[0]
        where = f"{first.where}: " if first.where else ""
        return Outcome(why_not=f"{where}{first.message}", fix=first.hint or "", notes=notes)
    return Outcome(items=items, notes=notes)


def _findings(findings: Iterable[Finding]) -> tuple[Item, ...]:
    return _bounded(map(finding_item, findings))


def _bounded(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(items)[:_MOST_ITEMS]


def _lines(argument: str | None) -> tuple[str, ...]:
    """The paths in an argument, one a line."""
    return tuple(filter(None, (argument or "").split("\n")))


def _port(text: str) -> int:
    port = number_of(text) or 0
    if not 0 < port < 65536:
        raise InputError(f"'{text[:40]}' is not a port")
    return port
