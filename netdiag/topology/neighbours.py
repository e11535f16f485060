"""Who answers for an address on a link: the neighbour table first, then whoever the question would reach.

Sources: net/ipv4/arp.c (arp_process), net/ipv6/ndisc.c, net/core/neighbour.c.
"""

from dataclasses import dataclass

from netdiag.linux.link import Link
from netdiag.topology.bridge_ports import Frame
from netdiag.topology.bridging import Landing, Spread, send
from netdiag.topology.hops import End
from netdiag.topology.inventory import LinkId
from netdiag.topology.routing import Flow, arrive, device_address, is_local
from netdiag.topology.terrain import Place, Terrain, family_of

_NOARP = 0x80
_USABLE = frozenset({"PERMANENT", "NOARP", "REACHABLE", "STALE", "DELAY", "PROBE"})
_FIXED = frozenset({"PERMANENT", "NOARP"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A hardware address to send to; `spread` where the frame's way needs no second look."""

    lladdr: str
    what: str
    spread: Spread | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """There is none, or it is not known."""

    end: End
    because: str


def find_neighbour(terrain: Terrain, at: LinkId, address: str, *, asker: str) -> Found | Missing:
    """The hardware address for an address behind a device of a namespace; `asker` is who the packet is from."""
    key = ("neighbour", at, address, asker)
    known = terrain.memory.get(key)
    if isinstance(known, Found | Missing):
        return known
    found = terrain.memory[key] = _find(terrain, at, address, asker)
    return found


def _find(terrain: Terrain, at: LinkId, address: str, asker: str) -> Found | Missing:
    place, link = terrain.place(at.netns), terrain.link(at)
    if place is None or link is None:
        return Missing(end=End.UNKNOWN, because="its device cannot be seen")
    if link.flags & _NOARP and link.kind not in ("ipvlan",):
        return Found(lladdr="", what=f"{link.ifname} knows no neighbours: whoever is at its other end")
    entry = place.neighbours.get((link.ifindex, address))
    if entry is not None and entry.lladdr and _USABLE & set(entry.states):
        known = f"{address} is at {entry.lladdr} by {link.ifname}, {entry.states[0]}"
        spread = send(terrain, at, Frame(lladdr=entry.lladdr, source=link.address, address=address))
        if spread.landings or spread.unseen or _FIXED & set(entry.states):
            return Found(lladdr=entry.lladdr, what=known, spread=spread)
        stale = f"{known}: what the neighbour table says of it is old, nobody has that hardware address"
        return Missing(end=End.DROPPED, because=stale)
    return _ask(terrain, place, link, at, address, asker)


def _ask(terrain: Terrain, place: Place, link: Link, at: LinkId, address: str, asker: str) -> Found | Missing:
    family = family_of(address)
    source = asker
    if family_of(asker) != family or not is_local(place, asker):
        source = device_address(place, link.ifindex, family, address)
    spread = send(terrain, at, Frame(lladdr="", source=link.address, address=address))
    answering = [one for one in spread.landings if one.at != at and _answers(terrain, one, address, source)]
    namespaces = {one.at.netns for one in answering}
    if len(namespaces) > 1:
        named = ", ".join(sorted(_name(terrain, one) for one in answering))
        return Missing(end=End.UNKNOWN, because=f"several answer for {address}: {named}")
    if answering:
        chosen = next((one for one in answering if _has(terrain, one.at, address)), answering[0])
        return _answered(terrain, link, at, address, chosen)
    entry = place.neighbours.get((link.ifindex, address))
    failed = entry is not None and bool({"FAILED", "INCOMPLETE"} & set(entry.states))
    if spread.unseen and not failed:
        return Missing(end=End.UNKNOWN, because=f"whether anybody answers for {address}: {spread.unseen[0].because}")
    return Missing(end=End.NO_NEIGHBOUR, because=_nobody(terrain, spread, link, address, failed=failed))


def _answered(terrain: Terrain, link: Link, at: LinkId, address: str, chosen: Landing) -> Found | Missing:
    """The answer must come back, too; then every bridge between has learnt where both are."""
    found = terrain.link(chosen.at)
    lladdr = found.address if found else ""
    back = send(terrain, chosen.at, Frame(lladdr=link.address, source=lladdr, address=""))
    if not any(one.at == at for one in back.landings):
        why = back.stops[-1].because if back.stops else "no way back"
        because = f"{address} is asked for by {link.ifname}, but its answer does not come back: {why}"
        return Missing(end=End.UNKNOWN if back.unseen else End.NO_NEIGHBOUR, because=because)
    what = f"{address} is at {lladdr} by {link.ifname}"
    if _pinned_elsewhere(terrain, chosen, lladdr):
        return Found(lladdr=lladdr, what=what)
    return Found(lladdr=lladdr, what=what, spread=Spread([chosen], []))


def _pinned_elsewhere(terrain: Terrain, landing: Landing, lladdr: str) -> bool:
    """Whether somebody has told a bridge on the way another port for the hardware address."""
    for crossing in landing.crossings:
        place = terrain.place(crossing.at.netns)
        if place is None or crossing.bridge is None or crossing.left is None:
            continue
        entries = place.fdb.get((crossing.bridge.ifindex, lladdr), ())
        if any(e.state in ("static", "permanent") and e.ifindex != crossing.left.ifindex for e in entries):
            return True
    return False


def _nobody(terrain: Terrain, spread: Spread, link: Link, address: str, *, failed: bool) -> str:
    said = f"nobody answers for {address} on {link.ifname}"
    if failed:
        said += " (the neighbour table says so)"
    owner = next((stop for stop in spread.stops if _leads_to(terrain, stop.at, address)), None)
    if owner is not None:
        return f"{said}: {owner.because}"
    return said


def _leads_to(terrain: Terrain, at: LinkId, address: str) -> bool:
    """Whether the owner of an address is at this device or right behind it."""
    end = terrain.end(at)
    return _has(terrain, at, address) or (end is not None and _has(terrain, end, address))


def _answers(terrain: Terrain, landing: Landing, address: str, source: str) -> bool:
    place, link = terrain.place(landing.at.netns), terrain.link(landing.at)
    if place is None or link is None:
        return False
    entry = place.neighbours.get((link.ifindex, address))
    if entry is not None and entry.proxy:
        return True
    if family_of(address) == 6:
        return not place.facts.settings.ipv6_disabled and _has(terrain, landing.at, address)
    if not source:
        return is_local(place, address)
    return arrive(place, Flow(destination=address, source=source, iif=link)).local


def _has(terrain: Terrain, at: LinkId, address: str) -> bool:
    place = terrain.place(at.netns)
    own = place.own.get(address) if place is not None else None
    return own is not None and (own.ifindex == at.ifindex or family_of(address) == 4)


def _name(terrain: Terrain, landing: Landing) -> str:
    link = terrain.link(landing.at)
    return f"{link.ifname if link else '?'} in net:[{landing.at.netns}]"
