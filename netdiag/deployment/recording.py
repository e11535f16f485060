"""Observed cells as a JSON document and back: what was seen once can be judged again without looking.

Only contacts are written; verdicts are made of them again by the same rules. Format 1:
`{"version": 1, "cells": [{"vantage", "bootstrap": {"host", "port"}, "contact": CONTACT, "endpoints": [CONTACT...]}]}`
where CONTACT is one of `{"answered": {...}}`, `{"failed": {...}}`, `{"unknown": {...}}` and `endpoints` stand beside
the contact's `brokers`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.observations import Address, Answered, Contact, Failed, NodeEndpoint, Reason, Unknown
from netdiag.deployment.verdict import Cell, judge
from netdiag.errors import InputError

VERSION = 1


def to_json(cells: Iterable[Cell]) -> dict[str, Any]:
    """The document of the observed cells; cells that nobody observed are left out."""
    return {"version": VERSION, "cells": [_cell_document(cell) for cell in cells if cell.observed is not None]}


def from_json(document: object) -> tuple[Cell, ...]:
    """The cells of a document; InputError when it is not one of this format."""
    if not isinstance(document, Mapping) or document.get("version") != VERSION:
        raise InputError(f"not a recording of format {VERSION}")
    try:
        return tuple(_cell(entry) for entry in document["cells"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"a recording with a broken entry: {error!r}") from error


def _cell_document(cell: Cell) -> dict[str, Any]:
    assert cell.observed is not None
    return {
        "vantage": cell.vantage,
        "bootstrap": {"host": cell.bootstrap.host, "port": cell.bootstrap.port},
        "contact": _contact_document(cell.observed.bootstrap),
        "endpoints": [
            {**_endpoint_document(outcome.endpoint), "contact": _contact_document(outcome.contact)}
            for outcome in cell.observed.endpoints
        ],
    }


def _contact_document(contact: Contact) -> dict[str, Any]:
    match contact:
        case Answered():
            return {
                "answered": {
                    "node_id": contact.node_id,
                    "cluster_id": contact.cluster_id,
                    "brokers": [_endpoint_document(broker) for broker in contact.brokers],
                    "listener": contact.listener,
                    "ip": contact.ip,
                    "because": contact.because,
                }
            }
        case Failed():
            mechanism = {"mechanism": contact.mechanism.value} if contact.mechanism else {}
            told = {"reason": contact.reason.value, "because": contact.because, "ip": contact.ip}
            return {"failed": told | mechanism}
        case Unknown():
            return {"unknown": {"because": contact.because}}
        case _:
            assert_never(contact)


def _endpoint_document(endpoint: NodeEndpoint) -> dict[str, Any]:
    return {"node_id": endpoint.node_id, "host": endpoint.host, "port": endpoint.port}


def _cell(entry: Mapping[str, Any]) -> Cell:
    contacts = {_endpoint(one): _contact(one["contact"]) for one in entry["endpoints"]}
    bootstrap = Address(host=str(entry["bootstrap"]["host"]), port=int(entry["bootstrap"]["port"]))
    not_recorded = Unknown(because="it was not recorded")
    verdict = judge(_contact(entry["contact"]), lambda endpoint: contacts.get(endpoint, not_recorded))
    return Cell(vantage=str(entry["vantage"]), bootstrap=bootstrap, observed=verdict)


def _contact(document: Mapping[str, Any]) -> Contact:
    ((kind, fields),) = document.items()
    match kind:
        case "answered":
            return Answered(
                node_id=None if fields["node_id"] is None else int(fields["node_id"]),
                cluster_id=fields["cluster_id"],
                brokers=tuple(_endpoint(broker) for broker in fields["brokers"]),
                listener=fields["listener"],
                ip=fields["ip"],
                because=str(fields["because"]),
            )
        case "failed":
            mechanism = Mechanism(fields["mechanism"]) if "mechanism" in fields else None
            because = str(fields["because"])
            return Failed(reason=Reason(fields["reason"]), because=because, ip=fields["ip"], mechanism=mechanism)
        case "unknown":
            return Unknown(because=str(fields["because"]))
    raise ValueError(f"no kind of contact: {kind}")


def _endpoint(document: Mapping[str, Any]) -> NodeEndpoint:
    return NodeEndpoint(node_id=int(document["node_id"]), host=str(document["host"]), port=int(document["port"]))
