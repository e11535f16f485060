"""The actions of playbooks, as the commands take them: each is one look, and a look is taken once in a run."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from netdiag.app.check import Check
from netdiag.app.configuration import CheckOptions, LiveOptions
from netdiag.cli.console import Console
from netdiag.cli.playbook_wire import Wire, understood
from netdiag.deployment.model.verdict import Cell
from netdiag.errors import NetdiagError, internal_error
from netdiag.findings import Finding
from netdiag.io.projects import ReadOptions
from netdiag.playbook.actions import ActionName
from netdiag.playbook.document import Step
from netdiag.playbook.items import of_cause, of_cell, of_edge, of_finding, of_line, of_path, of_step
from netdiag.playbook.outcome import Item, Outcome
from netdiag.render.report import Report

HOST = "host"
_MOST_ITEMS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What a run is about: compose files (those of this folder where none is named), and an engine."""

    files: tuple[str, ...] = ()
    host: str | None = None
    timeout: float = 4.0
    client_properties: str | None = None


class Looks:
    """Takes steps; two steps that ask for the same look share it. As a block it forgets its captures at the end."""

    def __init__(self, where: Where, console: Console) -> None:
        self._where = where
        self._console = console
        self._live: Report | None = None
        self._wire = Wire(where.host, console)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._wire.close()

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
            ActionName.CAPTURE: lambda said: self._wire.capture(step.id, said),
            ActionName.ANALYZE: self._wire.analyze,
        }
        begun = time.monotonic()
        try:
            outcome = actions[step.action](arguments)
        except NetdiagError as error:
            self._console.handled(error)
            outcome = Outcome(why_not=str(error), fix=error.hint or "")
        except Exception as error:  # noqa: BLE001 (a defect of ours ends a step, not the run)
            self._console.handled(error)
            outcome = Outcome(why_not=str(internal_error(error)), fix=internal_error(error).hint or "")
        return replace(outcome, seconds=time.monotonic() - begun)

    def _lint(self, arguments: Mapping[str, str]) -> Outcome:
        files = tuple(filter(None, arguments.get("files", "").split("\n"))) or self._where.files
        read = ReadOptions(environ=os.environ)
        options = CheckOptions(files=files, read=read, matrix=False, isolated=True, ignore_comments=False)
        check = Check(options, self._console)
        if not check.targets:
            return Outcome(notes=("no compose file is here, and none was named",))
        return _of_report(check.run().report)

    def _matrix(self, arguments: Mapping[str, str]) -> Outcome:
        report = self._looked()
        outcome = _of_report(report)
        cells = tuple(of_cell(cell) for matrix in report.matrices for cell in matrix.cells)
        return replace(outcome, items=(*outcome.items, *cells)[:_MOST_ITEMS])

    def _mesh(self, arguments: Mapping[str, str]) -> Outcome:
        report = self._looked()
        if failed := _of_report(report).why_not:
            return Outcome(why_not=failed, fix=_of_report(report).fix)
        meshes = [matrix.mesh for matrix in report.matrices if matrix.mesh is not None]
        return Outcome(items=tuple(of_edge(edge) for mesh in meshes for edge in mesh.edges)[:_MOST_ITEMS])

    def _topology(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.cli.topology_looking import Order, judged, look_at  # loads pyroute2

        seen = look_at(Order(host=self._where.host), self._console)
        return Outcome(items=_findings(judged(seen)))

    def _probe(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.cli.probe import bootstraps_of
        from netdiag.io.extras import require_live

        require_live("probe")
        from netdiag.io.probing import Question, probe
        from netdiag.io.standing import standing

        stood = standing(arguments.get("from") or HOST, host=self._where.host)
        bootstraps = understood(lambda: bootstraps_of(arguments["bootstrap"]))
        question = Question(bootstraps=bootstraps, group="netdiag", timeout=2 * self._where.timeout)
        story = probe(stood.place, stood.entrance, question)
        items: list[Item] = []
        for one in story.bootstraps:
            address = one.dialogue.address
            items.append(of_cell(Cell(vantage=story.place, bootstrap=address, observed=one.verdict)))
            for dialogue in (one.dialogue, *one.endpoints):
                steps = [dialogue.resolve, *(step for attempt in dialogue.attempts for step in attempt.steps)]
                items += [of_step(dialogue.address, step) for step in steps]
        return Outcome(items=tuple(items)[:_MOST_ITEMS], notes=story.notes)

    def _trace(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.cli.trace import target_of, walk
        from netdiag.io.explaining import explain_proof
        from netdiag.io.topology import look

        destination, port = understood(lambda: target_of(arguments["to"]))
        topology = look(host=self._where.host, engine=True)
        path = walk(topology, arguments.get("from") or HOST, destination, port)
        causes = explain_proof(topology, path, None)
        return Outcome(items=(*of_path(path), *map(of_cause, causes)))

    def _log(self, arguments: Mapping[str, str]) -> Outcome:
        from netdiag.io.container_logs import read_logs  # loads the library of the engine

        logs = read_logs(self._where.host, container=arguments.get("container") or None)
        return Outcome(items=tuple(of_line(name, line) for name, lines in logs.items() for line in lines)[:_MOST_ITEMS])

    def _looked(self) -> Report:
        if self._live is None:
            from netdiag.app.live_check import LiveCheck
            from netdiag.io.extras import require_live

            require_live()
            options = CheckOptions(files=self._where.files, read=ReadOptions(environ=os.environ), isolated=True)
            live = LiveOptions(
                host=self._where.host,
                timeout=self._where.timeout,
                client_properties=self._where.client_properties,
            )
            self._live = LiveCheck(options, live, self._console).report()
        return self._live


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


def _findings(findings: tuple[Finding, ...]) -> tuple[Item, ...]:
    return tuple(of_finding(finding) for finding in findings)[:_MOST_ITEMS]
