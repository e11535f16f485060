"""Where a frame goes, and who answers for an address on a link.

Covered are veth pairs, bridges with their ports and VLANs, macvlan and ipvlan with the device below them, bonds, and
the neighbour table. No packet filter is asked: the simulation does that at each crossing.

Sources: net/bridge/br_input.c, br_forward.c (should_deliver), br_vlan.c, br_fdb.c, drivers/net/macvlan.c, veth.c,
ipvlan/; net/ipv4/arp.c (arp_process), net/ipv6/ndisc.c, net/core/neighbour.c.
"""

import dataclasses
from dataclasses import replace

from netdiag.linux.rtnetlink import Link
from netdiag.topology.graph import PathEnd
from netdiag.topology.inventory import IndexedInventory, IndexedNamespace, LinkId, family_of
from netdiag.topology.path.routing import Flow, device_address, is_local, route_input
from netdiag.values import dataclass

_FORWARDING = ("forwarding", 3)
MOST_CROSSINGS = 24
MOST_VISITS = 4096
_TUNNEL_KINDS = frozenset(
    {"vxlan", "geneve", "gre", "gretap", "ip6gre", "ipip", "sit", "ip6tnl", "wireguard", "tun", "xfrm"}
)
_DISCARDING_KINDS = frozenset({"dummy", "ifb"})
_NOARP = 0x80
_USABLE = frozenset({"PERMANENT", "NOARP", "REACHABLE", "STALE", "DELAY", "PROBE"})
_FIXED = frozenset({"PERMANENT", "NOARP"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A frame to a hardware address, or a broadcast (`lladdr` ""); `address` is the target's at the internet layer."""

    lladdr: str
    source: str
    address: str
    vlan: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A step from one device to the next: through a pair, or through a bridge from port to port.

    `bridge` is None for a pair. `entered` is the port by which the frame came into the bridge, None for a frame of the
    bridge's own; `left` is the port by which it leaves, None for a frame that the bridge itself receives.
    """

    what: str
    at: LinkId
    bridge: LinkId | None = None
    entered: LinkId | None = None
    left: LinkId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """A link whose namespace receives the frame."""

    at: LinkId
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameDrop:
    """Where a frame ends without being received; `unknown` where it goes on out of sight."""

    at: LinkId
    because: str
    crossings: tuple[Crossing, ...]
    unknown: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class FrameOutcome:
    """Everything that becomes of a frame."""

    receivers: list[Receiver]
    drops: list[FrameDrop]

    @property
    def unseen(self) -> list[FrameDrop]:
        """Where it goes on out of sight."""
        return [drop for drop in self.drops if drop.unknown]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedNeighbour:
    """A hardware address to send to; `delivery` where it is known already what becomes of the frame."""

    lladdr: str
    what: str
    delivery: FrameOutcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnresolvedNeighbour:
    """There is no hardware address for an address, or it is not known."""

    end: PathEnd
    because: str


def send_frame(index: IndexedInventory, start: LinkId, frame: Frame) -> FrameOutcome:
    """What becomes of a frame that a namespace sends by one of its links."""
    walk = _FrameWalk(index)
    walk.send(start, frame, ())
    return FrameOutcome(walk.receivers, walk.drops)


def bridge_frame(index: IndexedInventory, bridge: LinkId, entered: LinkId, frame: Frame) -> FrameOutcome:
    """What becomes of a frame that came to a bridge by a port and goes on to another hardware address now."""
    walk = _FrameWalk(index)
    walk.bridge_in(entered, frame, ())
    return FrameOutcome([found for found in walk.receivers if found.at != bridge], walk.drops)


def resolve_neighbour(
    index: IndexedInventory, at: LinkId, address: str, *, asker: str
) -> ResolvedNeighbour | UnresolvedNeighbour:
    """The hardware address for an address behind a link; `asker` is the packet's source address."""
    key = ("neighbour", at, address, asker)
    known = index.cache.get(key)
    if isinstance(known, ResolvedNeighbour | UnresolvedNeighbour):
        return known
    found = index.cache[key] = _resolve(index, at, address, asker)
    return found


class _FrameWalk:
    def __init__(self, index: IndexedInventory) -> None:
        self._index = index
        self._seen: set[tuple[LinkId, int | None, bool]] = set()
        self.receivers: list[Receiver] = []
        self.drops: list[FrameDrop] = []

    def send(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        link = self._visit(at, frame, crossings, sending=True)
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
            case kind if kind in _DISCARDING_KINDS:
                self._drop(at, f"{kind} device {link.ifname} discards packets sent through it", crossings)
            case kind if kind in _TUNNEL_KINDS:
                self._lose_sight(at, f"{link.ifname} ({kind}) leads into a tunnel or a program", crossings)
            case "":
                self._lose_sight(at, f"{link.ifname} leads out of this machine", crossings)
            case kind:
                self._lose_sight(at, f"netdiag does not model devices of kind {kind!r}", crossings)

    def _visit(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...], *, sending: bool) -> Link | None:
        """The link, if it is up and the frame has not been here yet."""
        key = (at, frame.vlan, sending)
        if key in self._seen:
            return None
        self._seen.add(key)
        if len(crossings) > MOST_CROSSINGS or len(self._seen) > MOST_VISITS:
            self._lose_sight(at, f"more than {MOST_CROSSINGS} devices in a row", crossings)
            return None
        link = self._index.link(at)
        if link is None:
            self._lose_sight(at, "the path continues in a namespace that is not visible", crossings)
            return None
        if not link.up:
            self._drop(at, f"{link.ifname} is down", crossings)
            return None
        return link

    def _drop(self, at: LinkId, because: str, crossings: tuple[Crossing, ...]) -> None:
        self.drops.append(FrameDrop(at=at, because=because, crossings=crossings))

    def _lose_sight(self, at: LinkId, because: str, crossings: tuple[Crossing, ...]) -> None:
        self.drops.append(FrameDrop(at=at, because=because, crossings=crossings, unknown=True))

    def _by_pair(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        end = self._index.end(at)
        if end is None:
            self._lose_sight(at, f"the peer of {link.ifname} is not in a visible namespace", crossings)
            return
        if link.kind == "netkit" and any("blackhole" in str(value) for value in link.details.values()):
            self._lose_sight(at, f"a policy or program of netkit device {link.ifname} drops it", crossings)
            return
        peer = self._index.link(end)
        what = f"{link.ifname} to its peer {peer.ifname if peer else 'out of sight'}"
        self.receive(end, frame, (*crossings, Crossing(what=what, at=end)))

    def _by_vlan(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        parent, tag = self._index.end(at), link.details.get("id")
        if parent is None or not isinstance(tag, int) or frame.vlan is not None:
            self._lose_sight(at, f"the device below {link.ifname} is not visible", crossings)
            return
        crossing = Crossing(what=f"{link.ifname} as VLAN {tag}", at=parent)
        self.send(parent, replace(frame, vlan=tag), (*crossings, crossing))

    def _by_macvlan(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        """Siblings in mode bridge reach each other; the device below them reaches none of them."""
        parent = self._index.end(at)
        if parent is None:
            self._lose_sight(at, f"the device below {link.ifname} is not visible", crossings)
            return
        name = getattr(self._index.link(parent), "ifname", "its parent")
        if link.details.get("mode") == "bridge":
            for sibling in self._index.children(parent):
                other = self._index.link(sibling)
                if other is None or sibling == at or other.details.get("mode") != "bridge":
                    continue
                if frame.lladdr in ("", other.address):
                    crossing = Crossing(what=f"{link.ifname} to {other.ifname}, both on {name}", at=sibling)
                    self.receive(sibling, frame, (*crossings, crossing))
                    if frame.lladdr:
                        return
        self.send(parent, frame, (*crossings, Crossing(what=f"{link.ifname} out by {name}", at=parent)))

    def _by_ipvlan(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        """Mode l2 only: all have the hardware address of the device below, so addresses decide."""
        parent = self._index.end(at)
        if parent is None or link.details.get("mode") != "l2":
            self._lose_sight(
                at, f"netdiag does not model how {link.ifname} (ipvlan {link.details.get('mode')}) sends", crossings
            )
            return
        upper = self._index.link(parent)
        name = upper.ifname if upper else "its parent"
        for sibling in self._index.children(parent):
            if sibling != at and self._owns(sibling, frame.address):
                other = self._index.link(sibling)
                what = f"{link.ifname} to {other.ifname if other else 'its sibling'}, both on {name}"
                self.receive(sibling, frame, (*crossings, Crossing(what=what, at=sibling)))
                return
        self.send(parent, frame, (*crossings, Crossing(what=f"{link.ifname} out by {name}", at=parent)))

    def _owns(self, at: LinkId, address: str) -> bool:
        namespace = self._index.namespace(at.netns)
        return namespace is not None and any(a.address == address for a in namespace.addresses.get(at.ifindex, ()))

    def _by_bond(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        namespace = self._index.namespace(at.netns)
        ports = [p for p in (namespace.ports[at.ifindex] if namespace else ()) if p.up and p.carrier]
        active = [p for p in ports if p.ifname == link.details.get("active_slave")] or ports
        if len(active) != 1:
            self._lose_sight(at, f"netdiag does not model which port {link.ifname} uses", crossings)
            return
        port = LinkId(netns=at.netns, ifindex=active[0].ifindex)
        self.send(port, frame, (*crossings, Crossing(what=f"{link.ifname} by {active[0].ifname}", at=port)))

    def receive(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        link = self._visit(at, frame, crossings, sending=False)
        namespace = self._index.namespace(at.netns)
        if link is None or namespace is None:
            return
        if frame.vlan is not None and self._to_vlan(at, frame, crossings):
            return
        master = namespace.links.get(link.master) if link.master is not None else None
        if master is not None and master.kind == "bridge":
            self.bridge_in(at, frame, crossings)
        elif master is not None and master.kind in ("bond", "team"):
            self.receive(LinkId(netns=at.netns, ifindex=master.ifindex), frame, crossings)
        elif master is not None:
            self._lose_sight(at, f"netdiag does not model the ports of {master.ifname} ({master.kind})", crossings)
        elif not self._to_children(at, frame, crossings):
            self._receive(at, link, frame, crossings)

    def _to_vlan(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> bool:
        for child in self._index.children(at):
            link = self._index.link(child)
            if link is not None and link.kind == "vlan" and link.details.get("id") == frame.vlan:
                crossing = Crossing(what=f"VLAN {frame.vlan} is {link.ifname}", at=child)
                self.receive(child, replace(frame, vlan=None), (*crossings, crossing))
                return True
        return False

    def _to_children(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> bool:
        """Whether a macvlan or ipvlan on the link takes the frame away from it."""
        for child in self._index.children(at):
            link = self._index.link(child)
            if link is None or link.kind == "vlan":
                continue
            crossing = Crossing(what=f"{link.ifname}, which is on top of it", at=child)
            if link.kind.startswith("ipv") and self._owns(child, frame.address):
                self.receive(child, frame, (*crossings, crossing))
                return True
            if link.kind.startswith("macv") and frame.lladdr in ("", link.address):
                self.receive(child, frame, (*crossings, crossing))
                if frame.lladdr:
                    return True
        return False

    def _receive(self, at: LinkId, link: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        if frame.vlan is not None:
            self._drop(at, f"{link.ifname} has no VLAN {frame.vlan}", crossings)
        elif (
            frame.lladdr
            and frame.lladdr != link.address
            and not (link.kind == "bridge" and self._is_port_address(at, frame))
        ):
            self._drop(at, f"{link.ifname} has another MAC address than {frame.lladdr}", crossings)
        else:
            self.receivers.append(Receiver(at=at, crossings=crossings))

    def _is_port_address(self, bridge: LinkId, frame: Frame) -> bool:
        namespace = self._index.namespace(bridge.netns)
        return namespace is not None and any(port.address == frame.lladdr for port in namespace.ports[bridge.ifindex])

    def bridge_in(self, at: LinkId, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        namespace = self._index.namespace(at.netns)
        link = self._index.link(at)
        if (
            namespace is None
            or link is None
            or link.master is None
            or (bridge := namespace.links.get(link.master)) is None
        ):
            return
        if refused := ingress_refusal(namespace, bridge, link, frame):
            self._drop(at, refused, crossings)
            return
        vlan = frame.vlan if not filters_vlans(bridge) else frame.vlan or pvid(namespace, link.ifindex)
        self._bridged(namespace, bridge, link, replace(frame, vlan=vlan), crossings)

    def _bridge_out(self, at: LinkId, bridge: Link, frame: Frame, crossings: tuple[Crossing, ...]) -> None:
        namespace = self._index.namespace(at.netns)
        if namespace is None:
            return
        vlan = frame.vlan
        if filters_vlans(bridge):
            vlan = vlan or pvid(namespace, bridge.ifindex)
            if vlan is None or vlan_flags(namespace, bridge.ifindex, vlan) is None:
                self._drop(
                    at, f"bridge {bridge.ifname} is not in VLAN {vlan or 'of untagged frames'} itself", crossings
                )
                return
        self._bridged(namespace, bridge, None, replace(frame, vlan=vlan), crossings)

    def _bridged(
        self,
        namespace: IndexedNamespace,
        bridge: Link,
        entered: Link | None,
        frame: Frame,
        crossings: tuple[Crossing, ...],
    ) -> None:
        """From a port, or from the bridge itself, to the ports that lead to the hardware address."""
        own = frame.lladdr == bridge.address or any(p.address == frame.lladdr for p in namespace.ports[bridge.ifindex])
        if entered is not None and (not frame.lladdr or own):
            self._to_bridge(namespace, bridge, entered, frame, crossings)
            if frame.lladdr:
                return
        known = learned_port(namespace, bridge, frame) if frame.lladdr else None
        for port in namespace.ports[bridge.ifindex]:
            if known is not None and port.ifindex != known:
                continue
            if known is None and not floods(port, frame):
                continue
            self._to_port(namespace, bridge, entered, port, frame, crossings)

    def _to_bridge(
        self, namespace: IndexedNamespace, bridge: Link, entered: Link, frame: Frame, crossings: tuple[Crossing, ...]
    ) -> None:
        at = LinkId(netns=namespace.inode, ifindex=bridge.ifindex)
        vlan = frame.vlan
        if filters_vlans(bridge):
            member = vlan_flags(namespace, bridge.ifindex, vlan or 0)
            if member is None:
                self._drop(at, f"bridge {bridge.ifname} is not in VLAN {vlan} itself", crossings)
                return
            vlan = None if "Egress Untagged" in member else vlan
        if not bridge.up:
            self._drop(at, f"{bridge.ifname} is down", crossings)
            return
        crossing = Crossing(
            what=f"{entered.ifname} to bridge {bridge.ifname} itself",
            at=at,
            bridge=at,
            entered=LinkId(netns=namespace.inode, ifindex=entered.ifindex),
        )
        frame, crossings = replace(frame, vlan=vlan), (*crossings, crossing)
        if vlan is not None and self._to_vlan(at, frame, crossings):
            return
        if not self._to_children(at, frame, crossings):
            self._receive(at, bridge, frame, crossings)

    def _to_port(
        self,
        namespace: IndexedNamespace,
        bridge: Link,
        entered: Link | None,
        port: Link,
        frame: Frame,
        crossings: tuple[Crossing, ...],
    ) -> None:
        at = LinkId(netns=namespace.inode, ifindex=port.ifindex)
        if refused := egress_refusal(namespace, bridge, entered, port, frame):
            self._drop(at, refused, crossings)
            return
        vlan = frame.vlan
        if filters_vlans(bridge) and vlan is not None:
            member = vlan_flags(namespace, port.ifindex, vlan) or ()
            vlan = None if "Egress Untagged" in member else vlan
        where = LinkId(netns=namespace.inode, ifindex=bridge.ifindex)
        crossing = Crossing(
            what=f"bridge {bridge.ifname}{f' from port {entered.ifname}' if entered else ''} to port {port.ifname}",
            at=at,
            bridge=where,
            entered=LinkId(netns=namespace.inode, ifindex=entered.ifindex) if entered else None,
            left=at,
        )
        self.send(at, replace(frame, vlan=vlan), (*crossings, crossing))


def filters_vlans(bridge: Link) -> bool:
    """Whether the bridge has VLAN filtering on."""
    return bool(bridge.details.get("vlan_filtering"))


def vlan_flags(namespace: IndexedNamespace, ifindex: int, vlan: int) -> tuple[str, ...] | None:
    """The flags of a port in a VLAN, None where it is not in it."""
    return next((v.flags for v in namespace.vlans[ifindex] if v.vlan <= vlan <= max(v.vlan, v.vlan_end)), None)


def pvid(namespace: IndexedNamespace, ifindex: int) -> int | None:
    """The VLAN of untagged frames, None where they are not accepted."""
    return next((v.vlan for v in namespace.vlans[ifindex] if "PVID" in v.flags), None)


def ingress_refusal(namespace: IndexedNamespace, bridge: Link, port: Link, frame: Frame) -> str:
    """Why a frame may not come in by a port; "" where it may."""
    if port.port.get("state", "forwarding") not in _FORWARDING:
        return f"port {port.ifname} of bridge {bridge.ifname} is {port.port.get('state')}, not forwarding"
    if not bridge.up:
        return f"bridge {bridge.ifname} is down"
    if filters_vlans(bridge):
        vlan = frame.vlan or pvid(namespace, port.ifindex)
        if vlan is None:
            return f"port {port.ifname} does not accept frames without a VLAN tag"
        if vlan_flags(namespace, port.ifindex, vlan) is None:
            return f"port {port.ifname} is not in VLAN {vlan}"
    if port.port.get("locked") and not namespace.fdb.get((bridge.ifindex, frame.source)):
        return f"port {port.ifname} is locked and has no entry for {frame.source}"
    return ""


def egress_refusal(namespace: IndexedNamespace, bridge: Link, entered: Link | None, port: Link, frame: Frame) -> str:
    """Why a frame may not leave by a port; "" where it may. `entered` is the port it came by."""
    if port.port.get("state", "forwarding") not in _FORWARDING:
        return f"port {port.ifname} of bridge {bridge.ifname} is {port.port.get('state')}, not forwarding"
    if entered is not None and entered.ifindex == port.ifindex and not port.port.get("hairpin"):
        return f"port {port.ifname} does not send frames back to where they came from (hairpin is off)"
    if entered is not None and entered.port.get("isolated") and port.port.get("isolated"):
        return f"ports {entered.ifname} and {port.ifname} of bridge {bridge.ifname} are isolated from one another"
    if filters_vlans(bridge) and (frame.vlan is None or vlan_flags(namespace, port.ifindex, frame.vlan) is None):
        return f"port {port.ifname} is not in VLAN {frame.vlan}"
    return ""


def learned_port(namespace: IndexedNamespace, bridge: Link, frame: Frame) -> int | None:
    """The ifindex of the port behind which the bridge knows the hardware address."""
    entries = namespace.fdb.get((bridge.ifindex, frame.lladdr), ())
    fitting = [e for e in entries if not filters_vlans(bridge) or e.vlan is None or e.vlan == frame.vlan]
    return fitting[0].ifindex if fitting else None


def floods(port: Link, frame: Frame) -> bool:
    """Whether frames to an unknown hardware address, or to all, leave by a port; unset means yes."""
    return port.port.get("flood" if frame.lladdr else "bcast_flood") is not False


def _resolve(index: IndexedInventory, at: LinkId, address: str, asker: str) -> ResolvedNeighbour | UnresolvedNeighbour:
    namespace, link = index.namespace(at.netns), index.link(at)
    if namespace is None or link is None:
        return UnresolvedNeighbour(end=PathEnd.UNKNOWN, because="its device is not visible")
    if link.flags & _NOARP and link.kind not in ("ipvlan",):
        return ResolvedNeighbour(lladdr="", what=f"{link.ifname} has no neighbor table: any device at its peer")
    entry = namespace.neighbours.get((link.ifindex, address))
    if entry is not None and entry.lladdr and _USABLE & set(entry.states):
        known = f"{address} is at {entry.lladdr} by {link.ifname}, {entry.states[0]}"
        sent = send_frame(index, at, Frame(lladdr=entry.lladdr, source=link.address, address=address))
        if sent.receivers or sent.unseen or _FIXED & set(entry.states):
            return ResolvedNeighbour(lladdr=entry.lladdr, what=known, delivery=sent)
        stale = f"{known}: the entry in the neighbor table is old, no device has that MAC address"
        return UnresolvedNeighbour(end=PathEnd.DROPPED, because=stale)
    return _ask(index, namespace, link, at, address, asker)


def _ask(
    index: IndexedInventory, namespace: IndexedNamespace, link: Link, at: LinkId, address: str, asker: str
) -> ResolvedNeighbour | UnresolvedNeighbour:
    family = family_of(address)
    source = asker
    if family_of(asker) != family or not is_local(namespace, asker):
        source = device_address(namespace, link.ifindex, family, address)
    sent = send_frame(index, at, Frame(lladdr="", source=link.address, address=address))
    answering = [one for one in sent.receivers if one.at != at and _answers(index, one, address, source)]
    namespaces = {one.at.netns for one in answering}
    if len(namespaces) > 1:
        named = ", ".join(sorted(_receiver_name(index, one) for one in answering))
        return UnresolvedNeighbour(end=PathEnd.UNKNOWN, because=f"several answer for {address}: {named}")
    if answering:
        chosen = next((one for one in answering if _has(index, one.at, address)), answering[0])
        return _answered(index, link, at, address, chosen)
    entry = namespace.neighbours.get((link.ifindex, address))
    failed = entry is not None and bool({"FAILED", "INCOMPLETE"} & set(entry.states))
    if sent.unseen and not failed:
        return UnresolvedNeighbour(
            end=PathEnd.UNKNOWN, because=f"unknown whether a device answers for {address}: {sent.unseen[0].because}"
        )
    return UnresolvedNeighbour(end=PathEnd.NO_NEIGHBOUR, because=_nobody(index, sent, link, address, failed=failed))


def _answered(
    index: IndexedInventory, link: Link, at: LinkId, address: str, chosen: Receiver
) -> ResolvedNeighbour | UnresolvedNeighbour:
    """The answer must come back, too; then every bridge between has learned where both are."""
    found = index.link(chosen.at)
    lladdr = found.address if found else ""
    back = send_frame(index, chosen.at, Frame(lladdr=link.address, source=lladdr, address=""))
    if not any(one.at == at for one in back.receivers):
        why = back.drops[-1].because if back.drops else "no path back"
        because = f"{link.ifname} asks for {address}, but the answer does not return: {why}"
        return UnresolvedNeighbour(end=PathEnd.UNKNOWN if back.unseen else PathEnd.NO_NEIGHBOUR, because=because)
    what = f"{address} is at {lladdr} by {link.ifname}"
    if _has_static_entry_elsewhere(index, chosen, lladdr):
        return ResolvedNeighbour(lladdr=lladdr, what=what)
    return ResolvedNeighbour(lladdr=lladdr, what=what, delivery=FrameOutcome([chosen], []))


def _has_static_entry_elsewhere(index: IndexedInventory, receiver: Receiver, lladdr: str) -> bool:
    """Whether a bridge on the way has a static entry for the hardware address at another port."""
    for crossing in receiver.crossings:
        namespace = index.namespace(crossing.at.netns)
        if namespace is None or crossing.bridge is None or crossing.left is None:
            continue
        entries = namespace.fdb.get((crossing.bridge.ifindex, lladdr), ())
        if any(e.state in ("static", "permanent") and e.ifindex != crossing.left.ifindex for e in entries):
            return True
    return False


def _nobody(index: IndexedInventory, sent: FrameOutcome, link: Link, address: str, *, failed: bool) -> str:
    said = f"no device answers for {address} on {link.ifname}"
    if failed:
        said += " (from the neighbor table)"
    owner = next((drop for drop in sent.drops if _leads_to(index, drop.at, address)), None)
    if owner is not None:
        return f"{said}: {owner.because}"
    return said


def _leads_to(index: IndexedInventory, at: LinkId, address: str) -> bool:
    """Whether the owner of an address is at this link or at its other end."""
    end = index.end(at)
    return _has(index, at, address) or (end is not None and _has(index, end, address))


def _answers(index: IndexedInventory, receiver: Receiver, address: str, source: str) -> bool:
    namespace, link = index.namespace(receiver.at.netns), index.link(receiver.at)
    if namespace is None or link is None:
        return False
    entry = namespace.neighbours.get((link.ifindex, address))
    if entry is not None and entry.proxy:
        return True
    if family_of(address) == 6:
        return not namespace.facts.settings.ipv6_disabled and _has(index, receiver.at, address)
    if not source:
        return is_local(namespace, address)
    return route_input(namespace, Flow(destination=address, source=source, iif=link)).local


def _has(index: IndexedInventory, at: LinkId, address: str) -> bool:
    namespace = index.namespace(at.netns)
    own = namespace.own.get(address) if namespace is not None else None
    return own is not None and (own.ifindex == at.ifindex or family_of(address) == 4)


def _receiver_name(index: IndexedInventory, receiver: Receiver) -> str:
    link = index.link(receiver.at)
    return f"{link.ifname if link else '?'} in net:[{receiver.at.netns}]"
