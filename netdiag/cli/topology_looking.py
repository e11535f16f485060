"""What `netdiag topology` was asked for, looking at it, judging and drawing it: once, or again and again."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from netdiag.cli.console import Console
from netdiag.cli.exit_status import ExitStatus
from netdiag.findings import Finding, Severity
from netdiag.render.screen import Screen

if TYPE_CHECKING:
    from netdiag.topology.graph import Topology


# From so many namespaces on a second process draws some of them, while this one judges and draws the others.
_MANY = 40
_OURS = 0.3


class TopologyFormat(StrEnum):
    """How the topology is drawn."""

    TEXT = "text"
    JSON = "json"
    DOT = "dot"
    MERMAID = "mermaid"
    SVG = "svg"
    HTML = "html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What was asked for."""

    form: TopologyFormat = TopologyFormat.TEXT
    out: str | None = None
    networks: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    host: str | None = None
    engine: bool = True
    reach: bool = True
    captures: tuple[str, ...] = ()
    fail_on: Severity = Severity.ERROR


@contextmanager
def in_one_go() -> Iterator[None]:
    """Without looking for garbage: what is made lives until the end, and there is much of it."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def look_at(order: Order, console: Console) -> "Topology":
    """The topology as it is now, as far as it was asked for."""
    from netdiag.io.topology import look
    from netdiag.topology.selection import narrow

    console.detail("reading the kernel" + (" and asking the engine" if order.engine else ""))
    seen = look(host=order.host, engine=order.engine)
    if order.captures:
        from netdiag.cli.topology_traffic import captured_over  # loads the readers of captures

        seen = captured_over(seen, order.captures)
    if order.reach and seen.listeners:
        from netdiag.topology.path.reach import with_reach

        seen = with_reach(seen)
    return narrow(seen, networks=order.networks, containers=order.containers, services=order.services)


def judged(seen: "Topology") -> tuple[Finding, ...]:
    """The findings of the rules about topologies that the configuration of the current folder leaves."""
    from netdiag.rules.topology import check_topology

    found = check_topology(seen)
    if not found or not _is_configured():
        return found
    from netdiag.app.configuration import CheckOptions, Configurations  # loads all rules

    return Configurations(CheckOptions()).settings("").selection.of(found)


def judged_and_drawn(
    order: Order, seen: "Topology", screen: Screen, *, full: bool = False
) -> tuple[tuple[Finding, ...], str]:
    """The findings, and the topology in the format that was asked for; of a large one both processors have a part."""
    from netdiag.io.kernel.beside import possible

    many = len(seen.inventory.namespaces)
    if order.form is not TopologyFormat.JSON or many < _MANY or not possible():
        findings = judged(seen)
        return findings, drawn(order, seen, findings, screen, full=full)
    from netdiag.io.kernel.beside import Beside
    from netdiag.render.topology.json import append_tail, json_text, tail_text, topology_document

    first = int(many * _OURS)
    with Beside(lambda: tail_text(seen, first)) as beside:
        findings = judged(seen)
        text = json_text(topology_document(seen, findings, first=first))
        tail = beside.result()
    return findings, append_tail(text, tail if tail is not None else tail_text(seen, first))


def _is_configured() -> bool:
    """Whether a configuration goes with the current folder; what cannot be read is one, whose reader tells why."""
    import tomllib  # slow to import, and most folders have no such file

    from netdiag.io.config_files import SHARED, config_candidates

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


def status_of(seen: "Topology", findings: Sequence[Finding], fail_on: Severity) -> ExitStatus:
    """Findings outweigh there being nothing to find."""
    if any(finding.severity.at_least(fail_on) for finding in findings):
        return ExitStatus.FINDINGS
    return ExitStatus.CLEAN if seen.places or seen.containers else ExitStatus.NOTHING_TO_CHECK


def drawn(order: Order, seen: "Topology", findings: Sequence[Finding], screen: Screen, *, full: bool = False) -> str:
    """The topology in the format that was asked for; a renderer is imported when its format is."""
    match order.form:
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
            assert_never(order.form)
