"""Who shares a cable: devices between which Ethernet frames go without being routed.

Bridges with their ports, the far ends of those, bonds, and what a macvlan stands on are one segment, across namespaces.
A VLAN device is not part of its parent's segment: its frames carry a tag. Neither is a macvlan in mode private or vepa:
it speaks to nobody without a switch outside.
"""

from collections.abc import Iterable, Iterator

from netdiag.linux.rtnetlink import Link
from netdiag.topology.inventory import Inventory, LinkId
from netdiag.values import dataclass

BRIDGE = "bridge"
_PAIRS = frozenset({"veth", "netkit"})
_STACKED = frozenset({"macvlan", "macvtap", "ipvlan", "ipvtap"})
_BUNDLES = frozenset({"bond", "team"})
_SWITCHES = _BUNDLES | {BRIDGE}
# Behind any other device (hardware, tap, vxlan, vlan) there may be somebody who is not seen from here.
_KNOWN = _PAIRS | _STACKED | _SWITCHES | {"dummy"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """A device that takes frames for itself, and not for a bridge or bond above it.

    `port` is the port of a bridge that it hangs from: None for bridges themselves, and where several may do. `vlan` is
    where that port puts untagged frames; None where VLANs are not told apart.
    """

    at: LinkId
    link: Link
    port: LinkId | None = None
    vlan: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Everything on one cable. `closed` where all that hangs from it is seen: no hardware, no tunnel, no lost end."""

    bridges: tuple[LinkId, ...]
    ports: tuple[LinkId, ...]
    ends: tuple[Station, ...]
    closed: bool


def segments(inventory: Inventory) -> tuple[Segment, ...]:
    """All segments in the order of their lowest device; a device that hangs from nothing is one by itself."""
    links = {
        LinkId(netns=inode, ifindex=link.ifindex): link
        for inode, facts in sorted(inventory.namespaces.items())
        for link in facts.links
        if not link.loopback
    }
    together: dict[LinkId, LinkId] = {}
    for one, other in _cables(inventory, links):
        together[_head(together, one)] = _head(together, other)
    groups: dict[LinkId, list[LinkId]] = {}
    for at in links:
        groups.setdefault(_head(together, at), []).append(at)
    return tuple(_segment(inventory, links, group) for group in groups.values())


def end_of(inventory: Inventory, at: LinkId) -> LinkId | None:
    """The other end of a device, where it is seen."""
    facts = inventory.namespaces.get(at.netns)
    other = None if facts is None else facts.ends.get(at.ifindex)
    return other if other is not None and inventory.link(other) is not None else None


def is_pair(link: Link) -> bool:
    """Whether it is one end of a cable within the kernel."""
    return link.kind in _PAIRS


def _head(together: dict[LinkId, LinkId], at: LinkId) -> LinkId:
    """The one that stands for all it is together with; what was passed on the way is put next to it."""
    passed = []
    while (above := together.get(at, at)) != at:
        passed.append(at)
        at = above
    for each in passed:
        together[each] = at
    return at


def _cables(inventory: Inventory, links: dict[LinkId, Link]) -> Iterator[tuple[LinkId, LinkId]]:
    for at, link in links.items():
        master = None if link.master is None else LinkId(netns=at.netns, ifindex=link.master)
        if master in links and links[master].kind in _SWITCHES:
            yield at, master
        other = inventory.namespaces[at.netns].ends.get(at.ifindex)
        if other in links and (link.kind in _PAIRS or (link.kind in _STACKED and not _is_apart(link))):
            yield at, other


def _is_apart(link: Link) -> bool:
    return link.details.get("mode") in ("private", "vepa")


def _segment(inventory: Inventory, links: dict[LinkId, Link], group: list[LinkId]) -> Segment:
    ports = dict.fromkeys(at for at in group if _switch(links, at) is not None)
    ends = [at for at in group if at not in ports]
    return Segment(
        bridges=tuple(at for at in group if links[at].kind == BRIDGE),
        ports=tuple(ports),
        ends=tuple(_end(inventory, links, at) for at in ends),
        closed=all(_is_seen_whole(inventory, links, at) for at in group),
    )


def _switch(links: dict[LinkId, Link], at: LinkId) -> LinkId | None:
    """The bridge or bond that it is a port of."""
    number = links[at].master
    master = None if number is None else LinkId(netns=at.netns, ifindex=number)
    return master if master in links and links[master].kind in _SWITCHES else None


def _is_seen_whole(inventory: Inventory, links: dict[LinkId, Link], at: LinkId) -> bool:
    link = links[at]
    if link.kind not in _KNOWN or _is_apart(link) or (link.master is not None and _switch(links, at) is None):
        return False
    needs_end = link.kind in _PAIRS | _STACKED
    return not needs_end or inventory.namespaces[at.netns].ends.get(at.ifindex) in links


def _end(inventory: Inventory, links: dict[LinkId, Link], at: LinkId) -> Station:
    port = _port(inventory, links, at)
    return Station(at=at, link=links[at], port=port, vlan=None if port is None else _vlan(inventory, links, port))


def _port(inventory: Inventory, links: dict[LinkId, Link], at: LinkId) -> LinkId | None:
    """The port of a bridge behind which an end is: the other end of its cable, or of what it stands on."""
    for _ in range(8):
        link = links[at]
        other = inventory.namespaces[at.netns].ends.get(at.ifindex)
        if other not in links:
            return None
        if link.kind in _PAIRS:
            switch = _switch(links, other)
            return other if switch is not None and links[switch].kind == BRIDGE else None
        if link.kind not in _STACKED or _is_apart(link):
            return None
        at = other
    return None


def _vlan(inventory: Inventory, links: dict[LinkId, Link], port: LinkId) -> int | None:
    bridge = _switch(links, port)
    if bridge is None or not links[bridge].details.get("vlan_filtering"):
        return None
    vlans = inventory.namespaces[port.netns].vlans
    return next((v.vlan for v in vlans if v.ifindex == port.ifindex and "PVID" in v.flags), 0)


def segment_by_link(found: Iterable[Segment]) -> dict[LinkId, Segment]:
    """The segment of every device."""
    return {at: segment for segment in found for at in (*segment.ports, *(end.at for end in segment.ends))}
