"""What hangs together, as a picture shows it: networks, bridges and cables as bars, and who hangs from each.

A veth is a line, never two devices: of a pair only the address at the inner end and the names at both are kept.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from netdiag.linux.link import Link
from netdiag.topology.graph import CableKind, NetworkView, PlaceKind, Topology
from netdiag.topology.inventory import LinkId


class BarKind(StrEnum):
    """What a bar stands for; the value is the word users see."""

    NETWORK = "network"
    BRIDGE = "bridge"
    PARENT = "parent device"
    WIRE = "cable"
    HOST = "host network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hanging:
    """A place on a bar: its address there, the cable by the names of its two ends, and what is wrong with it."""

    place: str
    address: str = ""
    cable: str = ""
    broken: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar. `title` names it, `facts` are short and in order of weight, `ports` what else is plugged into it."""

    key: str
    kind: BarKind
    title: str
    facts: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    hanging: tuple[Hanging, ...] = ()
    device: LinkId | None = None
    unknown: str = ""


def bars(topology: Topology, owners: Mapping[str, str]) -> tuple[Bar, ...]:
    """All bars of a topology; `owners` leads from a container's id to the key of its place in the picture."""
    wires = _Wires(topology=topology, owners=owners)
    found = [wires.network(view) for view in topology.networks]
    found += wires.bridges()
    found += wires.parents()
    found += wires.cables()
    named: dict[str, int] = {}
    return tuple(_apart(bar, named) for bar in found)


def place_key(name: str) -> str:
    """The key of a place in a picture."""
    return f"place:{name}"


def _apart(bar: Bar, named: dict[str, int]) -> Bar:
    """Two networks may have one name."""
    count = named[bar.key] = named.get(bar.key, 0) + 1
    if count == 1:
        return bar
    return replace(bar, key=f"{bar.key} #{count}")


# Without slots, so that what is looked up often is indexed once.
@dataclass(frozen=True, kw_only=True)
class _Wires:
    topology: Topology
    owners: Mapping[str, str]

    @cached_property
    def links(self) -> Mapping[LinkId, Link]:
        facts = self.topology.inventory.namespaces
        return {LinkId(netns=n, ifindex=link.ifindex): link for n, f in facts.items() for link in f.links}

    @cached_property
    def addresses(self) -> Mapping[LinkId, str]:
        found: dict[LinkId, str] = {}
        for netns, facts in self.topology.inventory.namespaces.items():
            for a in facts.addresses:
                if a.scope == 0:
                    found.setdefault(LinkId(netns=netns, ifindex=a.ifindex), a.address)
        return found

    @cached_property
    def place_names(self) -> Mapping[int, str]:
        return {place.netns: place.name for place in self.topology.places}

    @cached_property
    def host(self) -> int | None:
        return next((p.netns for p in self.topology.places if p.kind is PlaceKind.HOST), None)

    @cached_property
    def peers(self) -> Mapping[LinkId, LinkId]:
        pairs = [(c.a, c.b) for c in self.topology.cables if c.kind in (CableKind.VETH, CableKind.NETKIT)]
        return {**dict(pairs), **{b: a for a, b in pairs}}

    @cached_property
    def ports(self) -> Mapping[LinkId, list[LinkId]]:
        found: dict[LinkId, list[LinkId]] = {}
        for cable in self.topology.cables:
            if cable.kind is CableKind.PORT:
                found.setdefault(cable.b, []).append(cable.a)
        return found

    @cached_property
    def networked(self) -> frozenset[LinkId]:
        """Devices that a network of the engine accounts for."""
        return frozenset(m.inside for view in self.topology.networks for m in view.members if m.inside is not None)

    def network(self, view: NetworkView) -> Bar:
        net = view.network
        hanging: dict[str, Hanging] = {}
        for member in view.members:
            place = self.owners.get(member.container)
            if place is not None:
                broken = self._broken(member.inside) or self._broken(member.port)
                cable = self._cable(member.inside, member.port)
                hanging[place] = Hanging(place=place, address=member.address, cable=cable, broken=broken)
        for container in self.topology.containers.values():
            place = self.owners.get(container.id)
            if place and place not in hanging and any(e.network == net.name for e in container.networks):
                hanging[place] = Hanging(place=place)
        others = [] if view.bridge is None else self._plugged(view.bridge)
        for place, one in (pair for pair in others if isinstance(pair, tuple)):
            hanging.setdefault(place, one)
        link = None if view.bridge is None else self.links.get(view.bridge)
        facts = [*net.subnets, *([link.ifname] if link else []), *(f"gateway {g}" for g in net.gateways)]
        facts += ["internal"] if net.internal else []
        facts += [net.driver] if net.driver not in ("bridge", "") else []
        unknown = ""
        if link is None and net.driver == "bridge":
            unknown = "its bridge is not visible from here"
        return Bar(
            key=f"network:{net.name}",
            kind=BarKind.NETWORK,
            title=net.name,
            facts=tuple(facts),
            ports=tuple(text for text in others if isinstance(text, str)),
            hanging=tuple(hanging.values()),
            device=view.bridge,
            unknown=unknown,
        )

    def bridges(self) -> Iterator[Bar]:
        known = {view.bridge for view in self.topology.networks}
        for place, link in self.links.items():
            if link.kind != "bridge" or place in known:
                continue
            plugged = self._plugged(place)
            hanging = [pair[1] for pair in plugged if isinstance(pair, tuple)]
            owner = self.place_names.get(place.netns, "")
            address = self.addresses.get(place, "")
            if place.netns != self.host and owner:
                own = Hanging(place=place_key(owner), address=address, cable=link.ifname)
                hanging = [own, *(h for h in hanging if h.place != own.place)]
            yield Bar(
                key=f"bridge:{owner}/{link.ifname}",
                kind=BarKind.BRIDGE,
                title=link.ifname if place.netns == self.host else f"{link.ifname} in {owner}",
                facts=("bridge", *([address] if address else []), *([] if link.up else ["down"])),
                ports=tuple(text for text in plugged if isinstance(text, str)),
                hanging=tuple(hanging),
                device=place,
            )

    def parents(self) -> Iterator[Bar]:
        """Devices that devices of other namespaces stand on: the parents of macvlan, ipvlan and moved vlans."""
        standing: dict[LinkId, list[LinkId]] = {}
        for cable in self.topology.cables:
            if cable.kind is CableKind.PARENT and cable.a.netns != cable.b.netns and cable.a not in self.networked:
                standing.setdefault(cable.b, []).append(cable.a)
        for parent, children in standing.items():
            owner = self.place_names.get(parent.netns, "")
            name = self._name(parent)
            hanging = []
            for child in children:
                kind = link.kind if (link := self.links.get(child)) else ""
                hanging.append(self._hanging(child, cable=f"{self._name(child)} ({kind}) on {name}"))
            if parent.netns != self.host and owner:
                hanging.insert(0, self._hanging(parent, cable=name))
            yield Bar(
                key=f"parent:{owner}/{name}",
                kind=BarKind.PARENT,
                title=name if parent.netns == self.host else f"{name} in {owner}",
                facts=("device that others stand on", *filter(None, [self.addresses.get(parent)])),
                hanging=tuple(h for h in hanging if h.place),
                device=parent,
            )

    def cables(self) -> Iterator[Bar]:
        """Pairs that lead from one place straight to another, without a bridge between them."""
        plugged = {port for ports in self.ports.values() for port in ports}
        for cable in self.topology.cables:
            if cable.kind not in (CableKind.VETH, CableKind.NETKIT) or cable.a.netns == cable.b.netns:
                continue
            if {cable.a, cable.b} & plugged or {cable.a, cable.b} & self.networked:
                continue
            text = f"{self._end(cable.a)} — {self._end(cable.b)}"
            ends = [self._hanging(end, cable=text) for end in (cable.a, cable.b) if end.netns != self.host]
            yield Bar(
                key=f"cable:{text}",
                kind=BarKind.WIRE,
                title=text,
                facts=(cable.kind.value,),
                hanging=tuple(h for h in ends if h.place),
            )

    def _plugged(self, bridge: LinkId) -> list[tuple[str, Hanging] | str]:
        """What is in the ports of a bridge: places at the other end of a pair, else the device itself as text."""
        found: list[tuple[str, Hanging] | str] = []
        for port in self.ports.get(bridge, ()):
            peer = self.peers.get(port)
            if peer is None or peer.netns not in self.place_names or peer.netns == self.host:
                link = self.links.get(port)
                kind = f" ({link.kind})" if link and link.kind else ""
                lost = " (other end not visible)" if link and link.kind == "veth" and peer is None else ""
                found.append(f"{self._name(port)}{lost or kind}")
                continue
            broken = self._broken(peer) or self._broken(port)
            one = self._hanging(peer, cable=self._cable(peer, port), broken=broken)
            found.append((one.place, one))
        return found

    def _hanging(self, end: LinkId, *, cable: str, broken: str = "") -> Hanging:
        name = self.place_names.get(end.netns)
        place = "" if name is None else place_key(name)
        return Hanging(place=place, address=self.addresses.get(end, ""), cable=cable, broken=broken)

    def _cable(self, inside: LinkId | None, port: LinkId | None) -> str:
        ends = [self._name(end) for end in (inside, port) if end is not None]
        return " — ".join(ends)

    def _end(self, end: LinkId) -> str:
        return f"{self.place_names.get(end.netns, 'somewhere not visible')}:{self._name(end)}"

    def _name(self, place: LinkId) -> str:
        link = self.links.get(place)
        return link.ifname if link else f"device {place.ifindex}"

    def _broken(self, place: LinkId | None) -> str:
        """Why nothing passes a device of a cable; "" where it can."""
        link = None if place is None else self.links.get(place)
        if link is None:
            return ""
        if not link.up:
            return f"{link.ifname} is switched off"
        if not link.carrier:
            return f"{link.ifname} has no carrier"
        state = link.port.get("state")
        if link.port_kind == "bridge" and state not in (None, "forwarding", 3):
            return f"{link.ifname} is {state}, not forwarding"
        return ""
