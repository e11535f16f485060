"""Where a frame gets to: veth pairs, bridges and their ports, VLANs, forwarding entries, macvlans and their parents.

Addresses of the internet layer do not matter here, and no packet filter is asked: who walks a way does that at each
crossing. Sources: net/bridge/br_input.c, br_forward.c, br_vlan.c, br_fdb.c, drivers/net/macvlan.c, veth.c, ipvlan/.
"""

from dataclasses import dataclass, replace

from netdiag.linux.link import Link
from netdiag.topology.bridge_ports import (
    Frame,
    entry_refused,
    exit_refused,
    filtering,
    floods,
    learnt,
    membership,
    pvid,
)
from netdiag.topology.inventory import LinkId
from netdiag.topology.terrain import Place, Terrain

MOST_CROSSINGS = 24
MOST_LANDINGS = 4096
_TUNNELS = frozenset(
    {"vxlan", "geneve", "gre", "gretap", "ip6gre", "ipip", "sit", "ip6tnl", "wireguard", "tun", "xfrm"}
)
_SWALLOWING = frozenset({"dummy", "ifb"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A step from one device to the next: through a pair, or through a bridge from port to port.

    `bridge` is None for a pair; `entered` the port by which a frame came into the bridge, None for one that the bridge
    itself sends; `left` the port by which it goes, None for one that the bridge takes up.
    """

    what: str
    at: LinkId
    bridge: LinkId | None = None
    entered: LinkId | None = None
    left: LinkId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """A device whose namespace takes the frame up."""

    at: LinkId
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Where a frame ends without being taken up; `unknown` where that is only as far as can be seen."""

    at: LinkId
    because: str
    crossings: tuple[Crossing, ...]
    unknown: bool = False


@dataclass(slots=True)
class Spread:
    """Everything that became of a frame."""

    landings: list[Landing]
    stops: list[Stop]

    @property
    def unseen(self) -> list[Stop]:
        """Where it went on out of sight."""
        return [stop for stop in self.stops if stop.unknown]


def send(terrain: Terrain, start: LinkId, frame: Frame) -> Spread:
    """What becomes of a frame that a namespace sends by one of its devices."""
    walk = _Walk(terrain)
    walk.send(start, frame, ())
    return Spread(walk.landings, walk.stops)


def pass_on(terrain: Terrain, bridge: LinkId, entered: LinkId, frame: Frame) -> Spread:
    """What becomes of a frame that a bridge got by a port and is to bridge now, to another hardware address."""
    walk = _Walk(terrain)
    walk.bridge_in(entered, frame, ())
    return Spread([found for found in walk.landings if found.at != bridge], walk.stops)


class _Walk:
    def __init__(self, terrain: Terrain) -> None:
        self._terrain = terrain
        self._seen: set[tuple[LinkId, int | None, bool]] = set()
        self.landings: list[Landing] = []
        self.stops: list[Stop] = []

    def send(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        link = self._fit(at, frame, crossings, sending=True)
        if link is None:
            return
        match link.kind:
            case "veth" | "netkit":
                self._by_pair(at, link, frame, crossings)
            case "bridge":
                self._bridge_out(at, link, frame, crossings)
            case "vlan":
                self._by_vlan(at, link, frame, crossings)
            case "macvlan" | "macvtap":
                self._by_macvlan(at, link, frame, crossings)
            case "ipvlan":
                self._by_ipvlan(at, link, frame, crossings)
            case "bond" | "team":
                self._by_bond(at, link, frame, crossings)
            case kind if kind in _SWALLOWING:
                self._stop(at, f"{kind} device {link.ifname} swallows what is sent by it", crossings)
            case kind if kind in _TUNNELS:
                self._stop(at, f"{link.ifname} ({kind}) leads into a tunnel or a program", crossings, unknown=True)
            case "":
                self._stop(at, f"{link.ifname} leads out of this machine", crossings, unknown=True)
            case kind:
                self._stop(at, f"what a device of kind {kind!r} does is not modelled", crossings, unknown=True)

    def _fit(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...], *, sending: bool) -> Link | None:
        """The device, if it can take part and has not yet."""
        key = (at, frame.vlan, sending)
        if key in self._seen:
            return None
        self._seen.add(key)
        if len(crossings) > MOST_CROSSINGS or len(self._seen) > MOST_LANDINGS:
            self._stop(at, f"more than {MOST_CROSSINGS} devices one after another", crossings, unknown=True)
            return None
        link = self._terrain.link(at)
        if link is None:
            self._stop(at, "it goes on in a namespace that cannot be seen", crossings, unknown=True)
            return None
        if not link.up:
            self._stop(at, f"{link.ifname} is down", crossings)
            return None
        return link

    def _stop(self, at: LinkId, because: str, crossings: tuple[Crossing, ...], *, unknown: bool = False) -> None:
        self.stops.append(Stop(at=at, because=because, crossings=crossings, unknown=unknown))

    def _by_pair(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        end = self._terrain.end(at)
        if end is None:
            self._stop(
                at, f"the other end of {link.ifname} is in no namespace that can be seen", crossings, unknown=True
            )
            return
        if link.kind == "netkit" and any("blackhole" in str(value) for value in link.details.values()):
            self._stop(
                at, f"a policy of netkit device {link.ifname} drops, or a program decides", crossings, unknown=True
            )
            return
        peer = self._terrain.link(end)
        what = f"{link.ifname} to its other end {peer.ifname if peer else 'out of sight'}"
        self.receive(end, frame, (*crossings, Crossing(what=what, at=end)))

    def _by_vlan(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        parent, tag = self._terrain.end(at), link.details.get("id")
        if parent is None or not isinstance(tag, int) or frame.vlan is not None:
            self._stop(at, f"what {link.ifname} stands on cannot be seen", crossings, unknown=True)
            return
        crossing = Crossing(what=f"{link.ifname} as VLAN {tag}", at=parent)
        self.send(parent, replace(frame, vlan=tag), (*crossings, crossing))

    def _by_macvlan(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        """Siblings in mode bridge hear each other; what they stand on hears none of them."""
        parent = self._terrain.end(at)
        if parent is None:
            self._stop(at, f"what {link.ifname} stands on cannot be seen", crossings, unknown=True)
            return
        name = getattr(self._terrain.link(parent), "ifname", "its parent")
        if link.details.get("mode") == "bridge":
            for sibling in self._terrain.children(parent):
                other = self._terrain.link(sibling)
                if other is None or sibling == at or other.details.get("mode") != "bridge":
                    continue
                if frame.lladdr in ("", other.address):
                    crossing = Crossing(what=f"{link.ifname} to {other.ifname}, both on {name}", at=sibling)
                    self.receive(sibling, frame, (*crossings, crossing))
                    if frame.lladdr:
                        return
        self.send(parent, frame, (*crossings, Crossing(what=f"{link.ifname} out by {name}", at=parent)))

    def _by_ipvlan(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        """Mode l2 only: all have the hardware address of what they stand on, so addresses decide."""
        parent = self._terrain.end(at)
        if parent is None or link.details.get("mode") != "l2":
            self._stop(
                at,
                f"how {link.ifname} (ipvlan {link.details.get('mode')}) sends is not modelled",
                crossings,
                unknown=True,
            )
            return
        upper = self._terrain.link(parent)
        name = upper.ifname if upper else "its parent"
        for sibling in self._terrain.children(parent):
            if sibling != at and self._owns(sibling, frame.address):
                other = self._terrain.link(sibling)
                what = f"{link.ifname} to {other.ifname if other else 'its sibling'}, both on {name}"
                self.receive(sibling, frame, (*crossings, Crossing(what=what, at=sibling)))
                return
        self.send(parent, frame, (*crossings, Crossing(what=f"{link.ifname} out by {name}", at=parent)))

    def _owns(self, at: LinkId, address: str) -> bool:
        place = self._terrain.place(at.netns)
        return place is not None and any(a.address == address for a in place.addresses.get(at.ifindex, ()))

    def _by_bond(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        place = self._terrain.place(at.netns)
        ports = [p for p in (place.ports[at.ifindex] if place else ()) if p.up and p.carrier]
        active = [p for p in ports if p.ifname == link.details.get("active_slave")] or ports
        if len(active) != 1:
            self._stop(at, f"which port {link.ifname} sends by is not modelled", crossings, unknown=True)
            return
        port = LinkId(netns=at.netns, ifindex=active[0].ifindex)
        self.send(port, frame, (*crossings, Crossing(what=f"{link.ifname} by {active[0].ifname}", at=port)))

    def receive(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        link = self._fit(at, frame, crossings, sending=False)
        place = self._terrain.place(at.netns)
        if link is None or place is None:
            return
        if frame.vlan is not None and self._to_vlan(at, frame, crossings):
            return
        master = place.links.get(link.master) if link.master is not None else None
        if master is not None and master.kind == "bridge":
            self.bridge_in(at, frame, crossings)
        elif master is not None and master.kind in ("bond", "team"):
            self.receive(LinkId(netns=at.netns, ifindex=master.ifindex), frame, crossings)
        elif master is not None:
            self._stop(
                at, f"what {master.ifname} ({master.kind}) does with its ports is not modelled", crossings, unknown=True
            )
        elif not self._to_children(at, frame, crossings):
            self._take_up(at, link, frame, crossings)

    def _to_vlan(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> bool:
        for child in self._terrain.children(at):
            link = self._terrain.link(child)
            if link is not None and link.kind == "vlan" and link.details.get("id") == frame.vlan:
                crossing = Crossing(what=f"VLAN {frame.vlan} is {link.ifname}", at=child)
                self.receive(child, replace(frame, vlan=None), (*crossings, crossing))
                return True
        return False

    def _to_children(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> bool:
        """Whether a macvlan or ipvlan on the device takes the frame away from it."""
        for child in self._terrain.children(at):
            link = self._terrain.link(child)
            if link is None or link.kind == "vlan":
                continue
            crossing = Crossing(what=f"{link.ifname}, which stands on it", at=child)
            if link.kind.startswith("ipv") and self._owns(child, frame.address):
                self.receive(child, frame, (*crossings, crossing))
                return True
            if link.kind.startswith("macv") and frame.lladdr in ("", link.address):
                self.receive(child, frame, (*crossings, crossing))
                if frame.lladdr:
                    return True
        return False

    def _take_up(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        if frame.vlan is not None:
            self._stop(at, f"{link.ifname} has no VLAN {frame.vlan}", crossings)
        elif frame.lladdr and frame.lladdr != link.address and not (link.kind == "bridge" and self._of_port(at, frame)):
            self._stop(at, f"{link.ifname} has another hardware address than {frame.lladdr}", crossings)
        else:
            self.landings.append(Landing(at=at, crossings=crossings))

    def _of_port(self, bridge: LinkId, frame: Frame) -> bool:
        place = self._terrain.place(bridge.netns)
        return place is not None and any(port.address == frame.lladdr for port in place.ports[bridge.ifindex])

    def bridge_in(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        place = self._terrain.place(at.netns)
        link = self._terrain.link(at)
        if place is None or link is None or link.master is None or (bridge := place.links.get(link.master)) is None:
            return
        if refused := entry_refused(place, bridge, link, frame):
            self._stop(at, refused, crossings)
            return
        vlan = frame.vlan if not filtering(bridge) else frame.vlan or pvid(place, link.ifindex)
        self._bridged(place, bridge, link, replace(frame, vlan=vlan), crossings)

    def _bridge_out(self, at: LinkId, bridge: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        place = self._terrain.place(at.netns)
        if place is None:
            return
        vlan = frame.vlan
        if filtering(bridge):
            vlan = vlan or pvid(place, bridge.ifindex)
            if vlan is None or membership(place, bridge.ifindex, vlan) is None:
                self._stop(
                    at, f"bridge {bridge.ifname} is not in VLAN {vlan or 'of untagged frames'} itself", crossings
                )
                return
        self._bridged(place, bridge, None, replace(frame, vlan=vlan), crossings)

    def _bridged(
        self, place: Place, bridge: Link, entered: Link | None, frame: Frame, crossings: tuple[Crossing, ...]
    ) -> None:
        """From a port, or from the bridge itself, to wherever the hardware address says."""
        own = frame.lladdr == bridge.address or any(p.address == frame.lladdr for p in place.ports[bridge.ifindex])
        if entered is not None and (not frame.lladdr or own):
            self._up(place, bridge, entered, frame, crossings)
            if frame.lladdr:
                return
        known = learnt(place, bridge, frame) if frame.lladdr else None
        for port in place.ports[bridge.ifindex]:
            if known is not None and port.ifindex != known:
                continue
            if known is None and not floods(port, frame):
                continue
            self._out(place, bridge, entered, port, frame, crossings)

    def _up(self, place: Place, bridge: Link, entered: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        at = LinkId(netns=place.inode, ifindex=bridge.ifindex)
        vlan = frame.vlan
        if filtering(bridge):
            member = membership(place, bridge.ifindex, vlan or 0)
            if member is None:
                self._stop(at, f"bridge {bridge.ifname} is not in VLAN {vlan} itself", crossings)
                return
            vlan = None if "Egress Untagged" in member else vlan
        if not bridge.up:
            self._stop(at, f"{bridge.ifname} is down", crossings)
            return
        crossing = Crossing(
            what=f"{entered.ifname} to bridge {bridge.ifname} itself",
            at=at,
            bridge=at,
            entered=LinkId(netns=place.inode, ifindex=entered.ifindex),
        )
        frame, crossings = replace(frame, vlan=vlan), (*crossings, crossing)
        if vlan is not None and self._to_vlan(at, frame, crossings):
            return
        if not self._to_children(at, frame, crossings):
            self._take_up(at, bridge, frame, crossings)

    def _out(
        self,
        place: Place,
        bridge: Link,
        entered: Link | None,
        port: Link,
        frame: Frame,
        crossings: tuple[Crossing, ...],
    ) -> None:
        at = LinkId(netns=place.inode, ifindex=port.ifindex)
        if refused := exit_refused(place, bridge, entered, port, frame):
            self._stop(at, refused, crossings)
            return
        vlan = frame.vlan
        if filtering(bridge) and vlan is not None:
            member = membership(place, port.ifindex, vlan) or ()
            vlan = None if "Egress Untagged" in member else vlan
        where = LinkId(netns=place.inode, ifindex=bridge.ifindex)
        crossing = Crossing(
            what=f"bridge {bridge.ifname}{f' from port {entered.ifname}' if entered else ''} to port {port.ifname}",
            at=at,
            bridge=where,
            entered=LinkId(netns=place.inode, ifindex=entered.ifindex) if entered else None,
            left=at,
        )
        self.send(at, replace(frame, vlan=vlan), (*crossings, crossing))
