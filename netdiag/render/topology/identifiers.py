"""Identifiers for other programs: made of names that stay, so that two pictures of one machine can be compared."""

import hashlib

from netdiag.render.topology.lookup import Lookup
from netdiag.topology.inventory import LinkId


def stable_id(*names: str) -> str:
    """An identifier that is the same for the same names, whatever stands in them."""
    return "n" + hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def device_id(lookup: Lookup, where: LinkId) -> str:
    """One of a device, by its name and its place."""
    return stable_id("device", lookup.name(where.netns), lookup.ifname(where))
