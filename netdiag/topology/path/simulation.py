"""Simulate one packet from namespace to namespace: routing, hooks, neighbours, links, until it is delivered or lost.

First packets and answers are simulated alike. The simulation appends to a list of hops and changes nothing else.
Sources: net/ipv4/ip_input.c, ip_forward.c, ip_output.c, route.c, arp.c, net/bridge/br_netfilter_hooks.c.
"""

from dataclasses import replace

from netdiag.linux.filtering.traversal import Verdict
from netdiag.linux.rtnetlink import Link
from netdiag.linux.ruleset import RuleAddress
from netdiag.topology.graph import Hop, HopKind, PathEnd
from netdiag.topology.inventory import IndexedInventory, IndexedNamespace, LinkId, family_of
from netdiag.topology.path.link_layer import (
    Crossing,
    Frame,
    FrameOutcome,
    Receiver,
    ResolvedNeighbour,
    bridge_frame,
    resolve_neighbour,
    send_frame,
)
from netdiag.topology.path.netfilter import (
    Delivered,
    Interfaces,
    Netfilter,
    PacketOutcome,
    TrackedPacket,
    Undelivered,
    address_with_port,
    matched_rules,
    undelivered_at_hook,
    unmodelled_frame_rule,
)
from netdiag.topology.path.routing import (
    LOOPBACK_INDEX,
    ChosenRoute,
    Flow,
    NoRoute,
    UnknownRoute,
    look_up_route,
    route_input,
    source_address,
)
from netdiag.values import dataclass

MOST_STEPS = 64
_LOOPBACK = "lo"
# The errno that clients get for an error of a router's own: ip_error(), ip6_pkt_discard(), ip6_pkt_prohibit().
_ROUTER_ERRNOS = {4: {"EACCES": "EHOSTUNREACH"}, 6: {"EHOSTUNREACH": "ENETUNREACH"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Received:
    """The packet is at the internet layer; `port` is that of a bridge which calls the packet filter."""

    at: LinkId
    prerouted: bool = False
    port: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaving:
    """The packet is routed and has passed all hooks but the last."""

    namespace: IndexedNamespace
    chosen: ChosenRoute
    port: str = ""


_Next = PacketOutcome | _Received | _Leaving


class PacketSimulation:
    """One packet; the packets of one connection share `netfilter` and `hops`."""

    def __init__(self, index: IndexedInventory, netfilter: Netfilter, hops: list[Hop], tracked: TrackedPacket) -> None:
        self._index = index
        self._netfilter = netfilter
        self._hops = hops
        self._tracked = tracked

    def deliver(self, netns: int) -> PacketOutcome:
        """What becomes of the packet when a program in a namespace sends it."""
        namespace = self._index.namespace(netns)
        if namespace is None:
            return Undelivered(end=PathEnd.UNKNOWN, because="its namespace could not be inspected", netns=netns)
        self._netfilter.enter(self._tracked)
        now: _Next = self._output(namespace)
        for _ in range(MOST_STEPS):
            match now:
                case Delivered() | Undelivered():
                    return now
                case _Received():
                    now = self._input(now)
                case _Leaving():
                    now = self._leave(now)
        return Undelivered(end=PathEnd.UNKNOWN, because=f"more than {MOST_STEPS} steps: a loop", netns=netns)

    def _add_hop(
        self,
        kind: HopKind,
        namespace: IndexedNamespace,
        what: str,
        *,
        link: LinkId | None = None,
        rules: tuple[RuleAddress, ...] = (),
    ) -> None:
        details = {"answer": True} if self._tracked.answer else {}
        self._hops.append(Hop(kind=kind, netns=namespace.inode, what=what, link=link, rules=rules, details=details))

    def _output(self, namespace: IndexedNamespace) -> _Next:
        chosen = self._output_route(namespace)
        if isinstance(chosen, Undelivered):
            return chosen
        before = (self._tracked.packet.destination, self._tracked.packet.mark)
        if stopped := self._hook(namespace, "output", Interfaces(out_link=self._link_name(namespace, chosen))):
            return stopped
        if (self._tracked.packet.destination, self._tracked.packet.mark) != before:
            again = self._output_route(namespace)
            if isinstance(again, Undelivered):
                # ip_route_me_harder(): the packet is thrown away, the program learns nothing.
                return replace(
                    again, end=PathEnd.UNKNOWN if again.end is PathEnd.UNKNOWN else PathEnd.DROPPED, errno=""
                )
            chosen = again
        if chosen.route.type == "local":
            return self._loop(namespace, chosen)
        return _Leaving(namespace=namespace, chosen=chosen)

    def _output_route(self, namespace: IndexedNamespace) -> ChosenRoute | Undelivered:
        """The route of a packet that this namespace sends; gives it a source address if it has none."""
        found = self._look_up(namespace)
        if isinstance(found, Undelivered):
            return found
        if not self._tracked.packet.source:
            source = source_address(namespace, found, self._tracked.packet.destination)
            if not source:
                because = f"no address here can be the source of packets to {self._tracked.packet.destination}"
                return Undelivered(end=PathEnd.NO_ROUTE, because=because, netns=namespace.inode, errno="EADDRNOTAVAIL")
            self._tracked.packet = replace(self._tracked.packet, source=source)
            # With a source address, policy rules about sources may choose another route.
            found = self._look_up(namespace)
            if isinstance(found, Undelivered):
                return found
        packet = self._tracked.packet
        if found.route.type not in ("local", "unicast"):
            because = f"{packet.destination} is a {found.route.type} address, which accepts no connections"
            return Undelivered(end=PathEnd.NO_ROUTE, because=because, netns=namespace.inode, errno="ENETUNREACH")
        self._add_route_hop(namespace, found)
        link = self._link(namespace, found)
        leaves = found.route.type != "local"
        if leaves and packet.source.startswith("127.") and not namespace.setting("route_localnet", link):
            name = self._link_name(namespace, found)
            because = f"a packet from {packet.source} may not leave through {name}: route_localnet is off"
            return Undelivered(end=PathEnd.NO_ROUTE, because=because, netns=namespace.inode, errno="EINVAL")
        return found

    def _look_up(self, namespace: IndexedNamespace) -> ChosenRoute | Undelivered:
        found = look_up_route(namespace, self._flow())
        if isinstance(found, NoRoute):
            # Without an IPv6 address, a program gets this error before any route is looked up.
            bare = self._tracked.packet.family == 6 and not any(":" in address for address in namespace.own)
            errno = "EADDRNOTAVAIL" if bare else found.errno
            self._add_hop(HopKind.ROUTE, namespace, found.because)
            return Undelivered(end=PathEnd.NO_ROUTE, because=found.because, netns=namespace.inode, errno=errno)
        if isinstance(found, UnknownRoute):
            return Undelivered(end=PathEnd.UNKNOWN, because=found.because, netns=namespace.inode)
        return found

    def _flow(self, iif: Link | None = None) -> Flow:
        packet = self._tracked.packet
        return Flow(
            destination=packet.destination,
            source=self._tracked.error or packet.source,
            iif=iif,
            mark=packet.mark or 0,
            protocol=packet.protocol,
            source_port=packet.source_port or 0,
            port=packet.destination_port or 0,
        )

    def _add_route_hop(self, namespace: IndexedNamespace, chosen: ChosenRoute) -> None:
        gateway = f" via {chosen.hop.gateway}" if chosen.hop and chosen.hop.gateway else ""
        table = (
            "" if chosen.route.table in (254, 255) else f" (table {chosen.route.table}, rule {chosen.rule.priority})"
        )
        device = _LOOPBACK if chosen.route.type == "local" else self._link_name(namespace, chosen)
        what = f"{chosen.text}{gateway} by {device}{table}, from {self._tracked.packet.source}"
        self._add_hop(HopKind.ROUTE, namespace, what, link=self._link_id(namespace, chosen))

    def _link(self, namespace: IndexedNamespace, chosen: ChosenRoute) -> Link | None:
        return namespace.links.get(chosen.hop.ifindex) if chosen.hop and chosen.hop.ifindex is not None else None

    def _link_name(self, namespace: IndexedNamespace, chosen: ChosenRoute) -> str:
        if chosen.route.type == "local":
            return _LOOPBACK
        link = self._link(namespace, chosen)
        return link.ifname if link else "?"

    def _link_id(self, namespace: IndexedNamespace, chosen: ChosenRoute) -> LinkId | None:
        index = chosen.hop.ifindex if chosen.hop else None
        return LinkId(netns=namespace.inode, ifindex=index) if index is not None else None

    def _loop(self, namespace: IndexedNamespace, chosen: ChosenRoute) -> _Next:
        """By lo to the namespace itself: routed once and tracked once."""
        lo = namespace.by_name.get(_LOOPBACK)
        if lo is not None and not lo.up:
            return Undelivered(end=PathEnd.DROPPED, because="lo is down", netns=namespace.inode)
        if stopped := self._hook(namespace, "postrouting", Interfaces(out_link=_LOOPBACK)):
            return stopped
        if lo is not None:
            self._add_hop(
                HopKind.LINK,
                namespace,
                "lo, back to itself",
                link=LinkId(netns=namespace.inode, ifindex=lo.ifindex),
            )
        if stopped := self._hook(namespace, "prerouting", Interfaces(in_link=_LOOPBACK)):
            return stopped
        if stopped := self._hook(namespace, "input", Interfaces(in_link=_LOOPBACK)):
            return stopped
        # Sockets bound to a device see the one that has the address, although the packet comes by lo.
        at = chosen.hop.ifindex if chosen.hop else None
        return Delivered(namespace=namespace, iif=at or LOOPBACK_INDEX)

    def _hook(
        self,
        namespace: IndexedNamespace,
        hook: str,
        interfaces: Interfaces,
        towards: str = "",
    ) -> Undelivered | None:
        """The rules at a hook; None where they accept."""
        before = self._tracked.tuple
        found = self._netfilter.hook(namespace, hook, self._tracked, interfaces, towards)
        rules = matched_rules(found)
        if not self._tracked.packet.source:
            because = f"masqueraded as {interfaces.out_link}, which has no address"
            return Undelivered(end=PathEnd.DROPPED, because=because, netns=namespace.inode)
        if found.verdict is not Verdict.ACCEPT:
            words = {Verdict.DROP: "dropped", Verdict.REJECT: f"rejected with {found.kind}"}
            what = f"{hook}: {words.get(found.verdict, 'not known')}"
            self._add_hop(HopKind.FILTER, namespace, what, rules=rules)
            family = self._tracked.packet.family
            return undelivered_at_hook(namespace, hook, found, family, bridged=bool(interfaces.in_port))
        after = self._tracked.tuple
        old, new = (address_with_port(one.source, one.source_port) for one in (before, after))
        source_changed = old != new
        if source_changed:
            self._add_hop(HopKind.NAT, namespace, f"{hook}: source {old} becomes {new}", rules=rules)
        old, new = (address_with_port(one.destination, one.destination_port) for one in (before, after))
        if old != new:
            self._add_hop(HopKind.NAT, namespace, f"{hook}: destination {old} becomes {new}", rules=rules)
        elif rules and not source_changed:
            self._add_hop(HopKind.FILTER, namespace, f"{hook}: accepted", rules=rules)
        return None

    def _input(self, now: _Received) -> _Next:
        namespace = self._index.namespace(now.at.netns)
        link = self._index.link(now.at)
        if namespace is None or link is None:
            return Undelivered(
                end=PathEnd.UNKNOWN, because="the path continues in a namespace that is not visible", netns=now.at.netns
            )
        if family_of(self._tracked.packet.destination) == 6 and namespace.facts.settings.ipv6_disabled:
            return Undelivered(end=PathEnd.DROPPED, because="IPv6 is disabled here", netns=namespace.inode)
        if not now.prerouted and (stopped := self._hook(namespace, "prerouting", Interfaces(in_link=link.ifname))):
            return stopped
        return self._routed(namespace, link, now.port)

    def _routed(self, namespace: IndexedNamespace, link: Link, in_port: str) -> _Next:
        packet = self._tracked.packet
        found = route_input(namespace, self._flow(iif=link))
        if found.unknown:
            return Undelivered(end=PathEnd.UNKNOWN, because=found.because, netns=namespace.inode)
        if found.local:
            self._add_hop(HopKind.ROUTE, namespace, f"{packet.destination} is an address of its own")
            if stopped := self._hook(namespace, "input", Interfaces(in_link=link.ifname, in_port=in_port)):
                return stopped
            return Delivered(namespace=namespace, iif=link.ifindex)
        if found.chosen is None:
            self._add_hop(HopKind.ROUTE, namespace, found.because)
            end = PathEnd.NO_ROUTE if found.errno else PathEnd.DROPPED
            errno = _ROUTER_ERRNOS[packet.family].get(found.errno, found.errno)
            answered = bool(found.errno)
            return Undelivered(end=end, because=found.because, netns=namespace.inode, errno=errno, answered=answered)
        self._add_route_hop(namespace, found.chosen)
        out = self._link_name(namespace, found.chosen)
        interfaces = Interfaces(in_link=link.ifname, out_link=out, in_port=in_port)
        if stopped := self._hook(namespace, "forward", interfaces):
            return stopped
        return _Leaving(namespace=namespace, chosen=found.chosen, port=in_port)

    def _leave(self, now: _Leaving) -> _Next:
        """The last hook, the neighbour, the link, and what receives the frame."""
        namespace, chosen = now.namespace, now.chosen
        link = self._link(namespace, chosen)
        if link is None or chosen.hop is None:
            return Undelivered(
                end=PathEnd.UNKNOWN, because=f"route {chosen.text} names no device", netns=namespace.inode
            )
        at = LinkId(netns=namespace.inode, ifindex=link.ifindex)
        nexthop = chosen.hop.gateway or self._tracked.packet.destination
        if stopped := self._hook(namespace, "postrouting", Interfaces(out_link=link.ifname, in_port=now.port), nexthop):
            return stopped
        if not link.up:
            return Undelivered(end=PathEnd.DROPPED, because=f"{link.ifname} is down", netns=namespace.inode)
        neighbour = resolve_neighbour(
            self._index, at, nexthop, asker=self._tracked.error or self._tracked.packet.source
        )
        if not isinstance(neighbour, ResolvedNeighbour):
            self._add_hop(HopKind.NEIGHBOUR, namespace, neighbour.because, link=at)
            answered = neighbour.end is PathEnd.NO_NEIGHBOUR and not self._tracked.answer
            return Undelivered(
                end=neighbour.end,
                because=neighbour.because,
                netns=namespace.inode,
                errno="EHOSTUNREACH" if answered else "",
                answered=answered,
            )
        self._add_hop(HopKind.NEIGHBOUR, namespace, neighbour.what, link=at)
        frame = Frame(lladdr=neighbour.lladdr, source=link.address, address=nexthop)
        return self._sent(namespace, neighbour.delivery or send_frame(self._index, at, frame))

    def _sent(self, namespace: IndexedNamespace, sent: FrameOutcome) -> _Next:
        if len(sent.receivers) == 1:
            return self._crossed(sent.receivers[0])
        if len(sent.receivers) > 1:
            because = f"{len(sent.receivers)} devices have the same MAC address, so the one that answers is unknown"
            return Undelivered(end=PathEnd.UNKNOWN, because=because, netns=namespace.inode)
        if sent.unseen:
            drop = sent.unseen[0]
            return Undelivered(end=PathEnd.UNKNOWN, because=drop.because, netns=drop.at.netns)
        if not sent.drops:
            return Undelivered(
                end=PathEnd.DROPPED, because="no port of the bridge leads further", netns=namespace.inode
            )
        drop = max(sent.drops, key=lambda one: len(one.crossings))
        for crossing in drop.crossings:
            self._add_crossing_hop(crossing)
        return Undelivered(end=PathEnd.DROPPED, because=drop.because, netns=drop.at.netns)

    def _add_crossing_hop(self, crossing: Crossing) -> None:
        namespace = self._index.namespace(crossing.at.netns)
        if namespace is not None:
            kind = HopKind.BRIDGE if crossing.bridge is not None else HopKind.LINK
            self._add_hop(kind, namespace, crossing.what, link=crossing.at)

    def _crossed(self, receiver: Receiver) -> _Next:
        """Through all links; where a bridge hands frames to the packet filter, through its hooks."""
        prerouted, port = False, ""
        for crossing in receiver.crossings:
            self._add_crossing_hop(crossing)
            namespace = self._index.namespace(crossing.at.netns)
            at = self._index.link(crossing.at)
            if namespace is None or at is None:
                continue
            if unknown := unmodelled_frame_rule(namespace, at.ifname, bridged=crossing.bridge is not None):
                return Undelivered(end=PathEnd.UNKNOWN, because=unknown, netns=namespace.inode)
            if crossing.bridge is None:
                self._netfilter.enter(self._tracked)
                prerouted, port = False, ""
                continue
            bridge = self._index.link(crossing.bridge)
            if bridge is None:
                continue
            if crossing.entered is None or not namespace.filters_bridged(self._tracked.packet.family, bridge):
                continue
            prerouted = True
            entered = self._index.link(crossing.entered)
            port = entered.ifname if entered else ""
            before = self._tracked.packet.destination
            if stopped := self._hook(namespace, "prerouting", Interfaces(in_link=bridge.ifname, in_port=port)):
                return stopped
            if self._tracked.packet.destination != before:
                return self._bridged_elsewhere(namespace, crossing, bridge, port)
            if stopped := self._bridged(namespace, crossing, bridge, port):
                return stopped
        return _Received(at=receiver.at, prerouted=prerouted, port=port)

    def _bridged(
        self, namespace: IndexedNamespace, crossing: Crossing, bridge: Link, entered: str
    ) -> Undelivered | None:
        """FORWARD and POSTROUTING for a frame that goes from port to port."""
        left = self._index.link(crossing.left) if crossing.left is not None else None
        if left is None:
            return None
        name = bridge.ifname
        interfaces = Interfaces(in_link=name, out_link=name, in_port=entered, out_port=left.ifname)
        if stopped := self._hook(namespace, "forward", interfaces):
            return stopped
        return self._hook(namespace, "postrouting", Interfaces(out_link=name, out_port=left.ifname))

    def _bridged_elsewhere(self, namespace: IndexedNamespace, crossing: Crossing, bridge: Link, port: str) -> _Next:
        """A frame whose destination was translated while a bridge had it (br_nf_pre_routing_finish())."""
        at, packet = LinkId(netns=namespace.inode, ifindex=bridge.ifindex), self._tracked.packet
        found = look_up_route(namespace, Flow(destination=packet.destination, source=packet.source, iif=bridge))
        if (
            not isinstance(found, ChosenRoute)
            or found.route.type != "unicast"
            or self._link(namespace, found) is not bridge
            or crossing.entered is None
            or not namespace.forwards(packet.family)
        ):
            return _Received(at=at, prerouted=True, port=port)
        nexthop = (found.hop.gateway if found.hop else "") or packet.destination
        neighbour = resolve_neighbour(self._index, at, nexthop, asker=packet.source)
        if not isinstance(neighbour, ResolvedNeighbour):
            self._add_hop(HopKind.NEIGHBOUR, namespace, neighbour.because, link=at)
            return Undelivered(end=neighbour.end, because=neighbour.because, netns=namespace.inode)
        self._add_hop(HopKind.NEIGHBOUR, namespace, neighbour.what, link=at)
        frame = Frame(lladdr=neighbour.lladdr, source=bridge.address, address=nexthop)
        sent = bridge_frame(self._index, at, crossing.entered, frame)
        if len(sent.receivers) != 1:
            return self._sent(namespace, sent)
        receiver = sent.receivers[0]
        first, rest = receiver.crossings[0], receiver.crossings[1:]
        self._add_crossing_hop(first)
        if stopped := self._bridged(namespace, first, bridge, port):
            return stopped
        return self._crossed(Receiver(at=receiver.at, crossings=rest))
