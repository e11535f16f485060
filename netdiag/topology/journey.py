"""One packet from namespace to namespace: routing, hooks, neighbours, devices; until it is delivered or ends.

The same journey is made by a first packet and by what is answered. It changes the list of hops as it goes, and nothing
else. Sources: net/ipv4/ip_input.c, ip_forward.c, ip_output.c, route.c, arp.c, net/bridge/br_netfilter_hooks.c.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from netdiag.linux.filtering import Verdict
from netdiag.linux.link import Detail, Link
from netdiag.topology.bridge_ports import Frame
from netdiag.topology.bridging import Crossing, Landing, Spread, pass_on, send
from netdiag.topology.fates import Delivered, Ended, Fate, at_port, frames_filtered, stopped_by
from netdiag.topology.hops import End, Hop, HopKind
from netdiag.topology.inventory import LinkId
from netdiag.topology.neighbours import Found, find_neighbour
from netdiag.topology.passage import Moving, Passage, told
from netdiag.topology.routing import LOOPBACK_INDEX, Flow, NoWay, Undecided, Way, arrive, look_up, source_address
from netdiag.topology.terrain import Place, Terrain, family_of

MOST_STEPS = 64
_LOOPBACK = "lo"
# What clients are told of a router's own errors: ip_error(), and ip6_pkt_discard() with ip6_pkt_prohibit().
_TOLD = {4: {"EACCES": "EHOSTUNREACH"}, 6: {"EHOSTUNREACH": "ENETUNREACH"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Received:
    """The packet stands at the internet layer; `port` is that of a bridge which calls the packet filter."""

    at: LinkId
    prerouted: bool = False
    port: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaving:
    """It is routed and has passed all hooks but the last."""

    place: Place
    way: Way
    port: str = ""


_Next = Fate | _Received | _Leaving


class Journey:
    """Carries packets through a terrain; the memory of connection tracking lasts as long as the journey."""

    def __init__(self, terrain: Terrain, passage: Passage, hops: list[Hop]) -> None:
        self._terrain = terrain
        self._passage = passage
        self.hops = hops

    def carry(self, netns: int, moving: Moving) -> Fate:
        """From a program in a namespace to wherever it gets."""
        place = self._terrain.place(netns)
        if place is None:
            return Ended(end=End.UNKNOWN, because="its namespace could not be looked into", netns=netns)
        self._passage.enter(moving)
        now: _Next = self._output(place, moving)
        for _ in range(MOST_STEPS):
            match now:
                case Delivered() | Ended():
                    return now
                case _Received():
                    now = self._input(now, moving)
                case _Leaving():
                    now = self._leave(now, moving)
        return Ended(end=End.UNKNOWN, because=f"more than {MOST_STEPS} steps: it goes in circles", netns=netns)

    def tell(self, kind: HopKind, place: Place, what: str, moving: Moving, **more: object) -> None:
        """Note a hop."""
        link, rules = more.get("link"), more.get("rules", ())
        details: dict[str, Detail] = {"answer": True} if moving.answer else {}
        extra = more.get("details")
        if isinstance(extra, Mapping):
            details |= extra
        self.hops.append(
            Hop(
                kind=kind,
                netns=place.inode,
                what=what,
                link=link if isinstance(link, LinkId) else None,
                rules=rules if isinstance(rules, tuple) else (),
                details=details,
            )
        )

    def _output(self, place: Place, moving: Moving) -> _Next:
        way = self._own_way(place, moving)
        if isinstance(way, Ended):
            return way
        before = (moving.packet.destination, moving.packet.mark)
        if stopped := self._hook(place, "output", moving, out_link=self._name(place, way)):
            return stopped
        if (moving.packet.destination, moving.packet.mark) != before:
            again = self._own_way(place, moving)
            if isinstance(again, Ended):
                # ip_route_me_harder(): the packet is thrown away, the program learns nothing.
                return replace(again, end=End.UNKNOWN if again.end is End.UNKNOWN else End.DROPPED, errno="")
            way = again
        if way.route.type == "local":
            return self._loop(place, way, moving)
        return _Leaving(place=place, way=way)

    def _own_way(self, place: Place, moving: Moving) -> Way | Ended:
        """The route of a packet of this namespace's own; gives it a source address if it has none."""
        found = self._looked_up(place, moving)
        if isinstance(found, Ended):
            return found
        if not moving.packet.source:
            source = source_address(place, found, moving.packet.destination)
            if not source:
                because = f"no address here fits as the source of packets to {moving.packet.destination}"
                return Ended(end=End.NO_ROUTE, because=because, netns=place.inode, errno="EADDRNOTAVAIL")
            moving.packet = replace(moving.packet, source=source)
            # Now that it has one, rules about sources may lead elsewhere.
            found = self._looked_up(place, moving)
            if isinstance(found, Ended):
                return found
        packet = moving.packet
        if found.route.type not in ("local", "unicast"):
            because = f"{packet.destination} is a {found.route.type} address: no connection can be made to it"
            return Ended(end=End.NO_ROUTE, because=because, netns=place.inode, errno="ENETUNREACH")
        self._tell_way(place, found, moving)
        link = self._device(place, found)
        if (
            packet.source.startswith("127.")
            and found.route.type != "local"
            and not place.setting("route_localnet", link)
        ):
            because = (
                f"a packet from {packet.source} may not leave by {self._name(place, found)}: route_localnet is off"
            )
            return Ended(end=End.NO_ROUTE, because=because, netns=place.inode, errno="EINVAL")
        return found

    def _looked_up(self, place: Place, moving: Moving) -> Way | Ended:
        packet = moving.packet
        flow = Flow(
            destination=packet.destination,
            source=moving.error or packet.source,
            mark=packet.mark or 0,
            protocol=packet.protocol,
            source_port=packet.source_port or 0,
            port=packet.destination_port or 0,
        )
        found = look_up(place, flow)
        if isinstance(found, NoWay):
            # Without an address of the family a program is told so before any route is looked at.
            bare = packet.family == 6 and not any(":" in address for address in place.own)
            errno = "EADDRNOTAVAIL" if bare else found.errno
            self.tell(HopKind.ROUTE, place, found.because, moving)
            return Ended(end=End.NO_ROUTE, because=found.because, netns=place.inode, errno=errno)
        if isinstance(found, Undecided):
            return Ended(end=End.UNKNOWN, because=found.because, netns=place.inode)
        return found

    def _tell_way(self, place: Place, way: Way, moving: Moving) -> None:
        gateway = f" via {way.hop.gateway}" if way.hop and way.hop.gateway else ""
        table = "" if way.route.table in (254, 255) else f" (table {way.route.table}, rule {way.rule.priority})"
        device = _LOOPBACK if way.route.type == "local" else self._name(place, way)
        what = f"{way.text}{gateway} by {device}{table}, from {moving.packet.source}"
        self.tell(HopKind.ROUTE, place, what, moving, link=self._link_id(place, way))

    def _device(self, place: Place, way: Way) -> Link | None:
        return place.links.get(way.hop.ifindex) if way.hop and way.hop.ifindex is not None else None

    def _name(self, place: Place, way: Way) -> str:
        if way.route.type == "local":
            return _LOOPBACK
        link = self._device(place, way)
        return link.ifname if link else "?"

    def _link_id(self, place: Place, way: Way) -> LinkId | None:
        index = way.hop.ifindex if way.hop else None
        return LinkId(netns=place.inode, ifindex=index) if index is not None else None

    def _loop(self, place: Place, way: Way, moving: Moving) -> _Next:
        """By lo to itself: routed once, its route is kept, connection tracking knows it."""
        lo = place.by_name.get(_LOOPBACK)
        if lo is not None and not lo.up:
            return Ended(end=End.DROPPED, because="lo is down", netns=place.inode)
        if stopped := self._hook(place, "postrouting", moving, out_link=_LOOPBACK):
            return stopped
        if lo is not None:
            self.tell(
                HopKind.LINK, place, "lo, back to itself", moving, link=LinkId(netns=place.inode, ifindex=lo.ifindex)
            )
        if stopped := self._hook(place, "prerouting", moving, in_link=_LOOPBACK):
            return stopped
        if stopped := self._hook(place, "input", moving, in_link=_LOOPBACK):
            return stopped
        # The device that has the address counts for sockets, although the packet comes by lo.
        at = way.hop.ifindex if way.hop else None
        return Delivered(place=place, iif=at or LOOPBACK_INDEX)

    def _hook(
        self,
        place: Place,
        hook: str,
        moving: Moving,
        *,
        in_link: str = "",
        out_link: str = "",
        ports: tuple[str, str] = ("", ""),
        towards: str = "",
    ) -> Ended | None:
        """The rules at a hook; None where they let it pass."""
        before = moving.ends
        found = self._passage.hook(
            place, hook, moving, in_link=in_link, out_link=out_link, ports=ports, towards=towards
        )
        rules = told(found)
        if not moving.packet.source:
            because = f"masqueraded as {out_link}, which has no address to be masqueraded by"
            return Ended(end=End.DROPPED, because=because, netns=place.inode, rules=rules)
        if found.verdict is Verdict.ACCEPT:
            after = moving.ends
            if (after.source, after.source_port) != (before.source, before.source_port):
                old, new = at_port(before.source, before.source_port), at_port(after.source, after.source_port)
                self.tell(HopKind.NAT, place, f"{hook}: source {old} becomes {new}", moving, rules=rules)
            if (after.destination, after.destination_port) != (before.destination, before.destination_port):
                old, new = (
                    at_port(before.destination, before.destination_port),
                    at_port(after.destination, after.destination_port),
                )
                self.tell(HopKind.NAT, place, f"{hook}: destination {old} becomes {new}", moving, rules=rules)
            elif rules and (after.source, after.source_port) == (before.source, before.source_port):
                self.tell(HopKind.FILTER, place, f"{hook}: accepted", moving, rules=rules)
            return None
        ended = stopped_by(place, hook, found, rules, moving, bridged=bool(ports[0]))
        word = {Verdict.DROP: "dropped", Verdict.REJECT: f"rejected with {found.kind}"}.get(found.verdict, "not known")
        self.tell(HopKind.FILTER, place, f"{hook}: {word}", moving, rules=rules)
        return ended

    def _input(self, now: _Received, moving: Moving) -> _Next:
        place = self._terrain.place(now.at.netns)
        link = self._terrain.link(now.at)
        if place is None or link is None:
            return Ended(end=End.UNKNOWN, because="it goes on in a namespace that cannot be seen", netns=now.at.netns)
        if family_of(moving.packet.destination) == 6 and place.facts.settings.ipv6_disabled:
            return Ended(end=End.DROPPED, because="IPv6 is disabled here", netns=place.inode)
        if not now.prerouted and (stopped := self._hook(place, "prerouting", moving, in_link=link.ifname)):
            return stopped
        return self._routed(place, link, moving, (now.port, ""))

    def _routed(self, place: Place, link: Link, moving: Moving, ports: tuple[str, str]) -> _Next:
        packet = moving.packet
        flow = Flow(
            destination=packet.destination,
            source=moving.error or packet.source,
            iif=link,
            mark=packet.mark or 0,
            protocol=packet.protocol,
            source_port=packet.source_port or 0,
            port=packet.destination_port or 0,
        )
        found = arrive(place, flow)
        if found.unknown:
            return Ended(end=End.UNKNOWN, because=found.because, netns=place.inode)
        if found.local:
            self.tell(HopKind.ROUTE, place, f"{packet.destination} is an address of its own", moving)
            if stopped := self._hook(place, "input", moving, in_link=link.ifname, ports=ports):
                return stopped
            return Delivered(place=place, iif=link.ifindex)
        if found.way is None:
            self.tell(HopKind.ROUTE, place, found.because, moving)
            end = End.NO_ROUTE if found.errno else End.DROPPED
            errno = _TOLD[packet.family].get(found.errno, found.errno)
            by = place.inode if found.errno else None
            return Ended(end=end, because=found.because, netns=place.inode, errno=errno, by=by)
        self._tell_way(place, found.way, moving)
        out = self._name(place, found.way)
        if stopped := self._hook(place, "forward", moving, in_link=link.ifname, out_link=out, ports=ports):
            return stopped
        return _Leaving(place=place, way=found.way, port=ports[0])

    def _leave(self, now: _Leaving, moving: Moving) -> _Next:
        """The last hook, the neighbour, the device, and what comes after it."""
        place, way = now.place, now.way
        link = self._device(place, way)
        if link is None or way.hop is None:
            return Ended(end=End.UNKNOWN, because=f"route {way.text} names no device", netns=place.inode)
        at = LinkId(netns=place.inode, ifindex=link.ifindex)
        nexthop = way.hop.gateway or moving.packet.destination
        if stopped := self._hook(
            place, "postrouting", moving, out_link=link.ifname, ports=(now.port, ""), towards=nexthop
        ):
            return stopped
        if not link.up:
            return Ended(end=End.DROPPED, because=f"{link.ifname} is down", netns=place.inode)
        neighbour = find_neighbour(self._terrain, at, nexthop, asker=moving.error or moving.packet.source)
        if not isinstance(neighbour, Found):
            self.tell(HopKind.NEIGHBOUR, place, neighbour.because, moving, link=at)
            errno = "EHOSTUNREACH" if neighbour.end is End.NO_NEIGHBOUR else ""
            own = errno and not moving.answer
            return Ended(
                end=neighbour.end,
                because=neighbour.because,
                netns=place.inode,
                errno=errno if own else "",
                by=place.inode if own else None,
            )
        self.tell(HopKind.NEIGHBOUR, place, neighbour.what, moving, link=at)
        frame = Frame(lladdr=neighbour.lladdr, source=link.address, address=nexthop)
        return self._sent(place, neighbour.spread or send(self._terrain, at, frame), moving)

    def _sent(self, place: Place, spread: Spread, moving: Moving) -> _Next:
        if len(spread.landings) == 1:
            return self._crossed(spread.landings[0], moving)
        if len(spread.landings) > 1:
            because = f"{len(spread.landings)} devices have the same hardware address: which one answers is not known"
            return Ended(end=End.UNKNOWN, because=because, netns=place.inode)
        if spread.unseen:
            stop = spread.unseen[0]
            return Ended(end=End.UNKNOWN, because=stop.because, netns=stop.at.netns)
        if not spread.stops:
            return Ended(end=End.DROPPED, because="no port of the bridge leads on", netns=place.inode)
        stop = max(spread.stops, key=lambda one: len(one.crossings))
        for crossing in stop.crossings:
            self._tell_crossing(crossing, moving)
        return Ended(end=End.DROPPED, because=stop.because, netns=stop.at.netns)

    def _tell_crossing(self, crossing: Crossing, moving: Moving) -> None:
        place = self._terrain.place(crossing.at.netns)
        if place is not None:
            kind = HopKind.BRIDGE if crossing.bridge is not None else HopKind.LINK
            self.tell(kind, place, crossing.what, moving, link=crossing.at)

    def _crossed(self, landing: Landing, moving: Moving) -> _Next:
        """Through all devices; where a bridge hands frames to the packet filter, through its hooks."""
        prerouted, port = False, ""
        for crossing in landing.crossings:
            self._tell_crossing(crossing, moving)
            place = self._terrain.place(crossing.at.netns)
            at = self._terrain.link(crossing.at)
            if place is None or at is None:
                continue
            if unknown := frames_filtered(place, at.ifname, bridged=crossing.bridge is not None):
                return Ended(end=End.UNKNOWN, because=unknown, netns=place.inode)
            if crossing.bridge is None:
                self._passage.enter(moving)
                prerouted, port = False, ""
                continue
            bridge = self._terrain.link(crossing.bridge)
            if bridge is None:
                continue
            if crossing.entered is None or not place.filters_bridged(moving.packet.family, bridge):
                continue
            prerouted = True
            entered = self._terrain.link(crossing.entered)
            port = entered.ifname if entered else ""
            ports = (port, "")
            before = moving.packet.destination
            if stopped := self._hook(place, "prerouting", moving, in_link=bridge.ifname, ports=ports):
                return stopped
            if moving.packet.destination != before:
                return self._turned(place, crossing, bridge, port, moving)
            if stopped := self._bridged(place, crossing, bridge, port, moving):
                return stopped
        return _Received(at=landing.at, prerouted=prerouted, port=port)

    def _bridged(self, place: Place, crossing: Crossing, bridge: Link, entered: str, moving: Moving) -> Ended | None:
        """FORWARD and POSTROUTING for a frame that goes from port to port."""
        left = self._terrain.link(crossing.left) if crossing.left is not None else None
        if left is None:
            return None
        ports = (entered, left.ifname)
        names = {"in_link": bridge.ifname, "out_link": bridge.ifname}
        if stopped := self._hook(place, "forward", moving, **names, ports=ports):
            return stopped
        return self._hook(place, "postrouting", moving, out_link=bridge.ifname, ports=("", left.ifname))

    def _turned(self, place: Place, crossing: Crossing, bridge: Link, port: str, moving: Moving) -> _Next:
        """A frame whose destination was translated while a bridge had it (br_nf_pre_routing_finish())."""
        at = LinkId(netns=place.inode, ifindex=bridge.ifindex)
        found = look_up(place, Flow(destination=moving.packet.destination, source=moving.packet.source, iif=bridge))
        on_bridge = isinstance(found, Way) and found.route.type == "unicast" and self._device(place, found) is bridge
        if not on_bridge or crossing.entered is None or not place.forwards(moving.packet.family):
            return _Received(at=at, prerouted=True, port=port)
        nexthop = (found.hop.gateway if isinstance(found, Way) and found.hop else "") or moving.packet.destination
        neighbour = find_neighbour(self._terrain, at, nexthop, asker=moving.packet.source)
        if not isinstance(neighbour, Found):
            self.tell(HopKind.NEIGHBOUR, place, neighbour.because, moving, link=at)
            return Ended(end=neighbour.end, because=neighbour.because, netns=place.inode)
        self.tell(HopKind.NEIGHBOUR, place, neighbour.what, moving, link=at)
        frame = Frame(lladdr=neighbour.lladdr, source=bridge.address, address=nexthop)
        spread = pass_on(self._terrain, at, crossing.entered, frame)
        if len(spread.landings) != 1:
            return self._sent(place, spread, moving)
        landing = spread.landings[0]
        first, rest = landing.crossings[0], landing.crossings[1:]
        self._tell_crossing(first, moving)
        if stopped := self._bridged(place, first, bridge, port, moving):
            return stopped
        return self._crossed(Landing(at=landing.at, crossings=rest), moving)
