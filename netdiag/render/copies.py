"""Connections that were seen at several places and are told once, in one line."""

from netdiag.render.wording import plural
from netdiag.traffic.native import Copies


def copies_line(copies: Copies) -> str | None:
    """How much was taken as seen before; None where nothing was."""
    if not copies.connections:
        return None
    connections, requests = plural(copies.connections, "connection"), plural(copies.requests, "request")
    line = f"taken as seen before, under other addresses: {connections} with {requests}"
    if copies.like_copies:
        which = "each" if copies.like_copies == copies.connections else f"{copies.like_copies:,}"
        line += f"; {which} of them may be a copy or a replay in the file instead"
    return f"{line} (--all-sightings keeps them)"
