"""A probe as JSON, version 1."""

from typing import Any

from netdiag import __version__
from netdiag.deployment.observations import Address, Answered, Contact, Failed, NodeEndpoint, Unknown
from netdiag.deployment.probe_advice import next_step
from netdiag.deployment.probe_story import BootstrapStory, Dialogue, GroupStory, ProbeStory, Step
from netdiag.deployment.verdict import Cell
from netdiag.render.report import Matrix

FORMAT = "netdiag-probe"
VERSION = 1

Value = dict[str, Any]


def probe_document(story: ProbeStory, matrix: Matrix | None = None) -> Value:
    """The document; times are in milliseconds. `matrix` is how the same addresses fare from elsewhere."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "netdiag": __version__,
        "from": story.place,
        "speaks": story.speaks,
        "usable": story.usable,
        "bootstraps": [_bootstrap(story, one) for one in story.bootstraps],
        "matrix": None if matrix is None else [_cell(cell) for cell in matrix.cells],
        "notes": list(story.notes),
    }


def _bootstrap(whole: ProbeStory, story: BootstrapStory) -> Value:
    verdict = story.verdict
    return {
        **_dialogue(story.dialogue),
        "verdict": str(verdict),
        "usable": story.usable,
        "next": next_step(whole.place, story, speaks=whole.speaks),
        "endpoints": [
            {"node_id": outcome.endpoint.node_id, "outcome": outcome.outcome, **_dialogue(dialogue)}
            for outcome, dialogue in zip(verdict.endpoints, story.endpoints, strict=False)
        ],
        "group": None if story.group is None else _group(story.group),
    }


def _cell(cell: Cell) -> Value:
    return {
        "vantage": cell.vantage,
        "address": _address(cell.bootstrap),
        "predicted": None if cell.predicted is None else str(cell.predicted),
        "observed": None if cell.observed is None else str(cell.observed),
        "agrees": cell.agrees,
    }


def _dialogue(dialogue: Dialogue) -> Value:
    return {
        "address": _address(dialogue.address),
        "resolve": _step(dialogue.resolve),
        "attempts": [
            {"ip": one.ip, "steps": [_step(step) for step in one.steps], "contact": _contact(one.contact)}
            for one in dialogue.attempts
        ],
        "contact": _contact(dialogue.contact),
    }


def _step(step: Step) -> Value:
    return {"act": step.act.value, "well": step.well, "said": step.said, "ms": round(step.seconds * 1000, 3)}


def _contact(contact: Contact) -> Value:
    answered = contact if isinstance(contact, Answered) else None
    failed = contact if isinstance(contact, Failed) else None
    return {
        "outcome": "answered" if answered else failed.reason.value if failed else "unknown",
        "because": contact.because,
        "node_id": answered.node_id if answered else None,
        "cluster_id": answered.cluster_id if answered else None,
        "listener": answered.listener if answered else None,
        "ip": None if isinstance(contact, Unknown) else contact.ip,
    }


def _group(group: GroupStory) -> Value:
    return {
        "name": group.group,
        "said": group.said,
        "ms": round(group.seconds * 1000, 3),
        "coordinator": None if group.endpoint is None else _endpoint(group.endpoint),
        "outcome": group.outcome or None,
        "harmless": group.harmless,
    }


def _endpoint(endpoint: NodeEndpoint) -> Value:
    return {"node_id": endpoint.node_id, **_address(endpoint.address)}


def _address(address: Address) -> Value:
    return {"host": address.host, "port": address.port}
