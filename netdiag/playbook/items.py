"""What looks give, as the things that conditions compare: findings, cells, edges, hops, lines."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from netdiag.deployment.model.contact import Address, Contact, Failed, Unknown
from netdiag.deployment.model.verdict import Cell, Verdict
from netdiag.deployment.observation.probe import Step
from netdiag.deployment.prediction.mesh import Edge, edge_outcome, is_cut
from netdiag.findings import ContainerLocation, FileLocation, Finding, Location, TopologyLocation, WireLocation
from netdiag.playbook.conditions import Item
from netdiag.topology.causes.failed_connection import Cause
from netdiag.topology.graph import Path

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
    """A cell of the matrix: what was observed there, what was foretold where nobody looked."""
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
        "reason": "" if contact is None else _told(edge_outcome(edge, contact), contact),
    }
    return Item(of="edges", fields=_cut(fields))


def step_item(address: Address, step: Step) -> Item:
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


def _told(word: str, contact: Contact) -> str:
    because = contact.because
    return f"{word}: {because}" if because else word


def _cut(fields: dict[str, str]) -> dict[str, str]:
    return {name: value[:_LONGEST] for name, value in fields.items()}
