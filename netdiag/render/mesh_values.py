"""The edges of a mesh as JSON values of the report of check-listeners."""

from typing import Any

from netdiag.deployment.mesh import Edge
from netdiag.deployment.mesh_edges import is_cut, worth
from netdiag.deployment.observations import Answered, Contact
from netdiag.render.redact import redacted


def edge_value(input_name: str, edge: Edge) -> dict[str, Any]:
    """One edge; `cut` is null where nobody looked, or could not tell."""
    return {
        "input": input_name,
        "kind": edge.kind.value,
        "source": edge.source,
        "target": edge.target or None,
        "host": edge.address.host,
        "port": edge.address.port,
        "predicted": _contact(edge, edge.predicted),
        "observed": _contact(edge, edge.observed),
        "cut": is_cut(edge),
    }


def _contact(edge: Edge, contact: Contact | None) -> dict[str, Any] | None:
    if contact is None:
        return None
    answered = contact if isinstance(contact, Answered) else None
    return {
        "outcome": worth(edge, contact),
        "answered_by": answered.node_id if answered else None,
        "because": redacted(contact.because) or None,
    }
