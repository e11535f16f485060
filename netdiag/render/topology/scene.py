"""What is in a picture of a topology, before anything has a place: boxes, the bars they are attached to, ports, faults.

Bars are networks, bridges, parent devices and cables: a veth is a line, never two devices, and of a pair only the
address at the inner end and the names at both are kept. Every thing has a key that is the same in the next picture of
the same machine. Nothing here knows of pixels.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property

from netdiag.engine.container import Container, Status
from netdiag.findings import ContainerLocation, Finding, Severity, TopologyLocation
from netdiag.linux.rtnetlink import Link
from netdiag.render.html import natural_key
from netdiag.render.redact import redacted
from netdiag.render.topology.broker_access import BrokerAccess, Mark
from netdiag.render.topology.lookup import PAIRS, Lookup
from netdiag.render.wording import endpoint_text
from netdiag.topology.graph import (
    CableKind,
    KafkaListener,
    NetworkView,
    Place,
    PlaceKind,
    Published,
    Topology,
    Unmatched,
)
from netdiag.topology.inventory import LinkId
from netdiag.values import dataclass

HOST_KEY = "host"

_WITHOUT_INTEREST = ("veth", "netkit", "bridge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong: how bad, in one line; why it is so and what helps, where a rule says it."""

    severity: Severity
    text: str
    why: str = ""
    hint: str = ""
    rule: str = ""


class BarKind(StrEnum):
    """What a bar stands for; the value is the word users see."""

    NETWORK = "network"
    BRIDGE = "bridge"
    PARENT = "parent device"
    WIRE = "cable"
    HOST = "host network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
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
    attachments: tuple[Attachment, ...] = ()
    device: LinkId | None = None
    unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A Kafka listener in its box: where it binds, what it tells clients, and from how many places that works."""

    key: str
    name: str
    bind: str
    advertised: str
    mark: Mark
    reached: str = ""
    controller: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A container or another namespace. `state` is "" for one that runs; `unknown` tells why nothing is known of it."""

    key: str
    title: str
    name: str
    subtitle: str = ""
    rows: tuple[Row, ...] = ()
    devices: tuple[str, ...] = ()
    state: str = ""
    unknown: str = ""
    services: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pill:
    """A published port on the edge of the docker host; `ports` are what the engine lists of it, one for each family."""

    key: str
    text: str
    box: str
    ports: tuple[Published, ...]
    dnat: bool
    proxy: bool
    dead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A device or an address of the docker host that other machines see."""

    key: str
    text: str
    device: LinkId
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything to be drawn. `docker`: an engine was asked. `stray` are warnings about what has no place."""

    boxes: tuple[Box, ...]
    bars: tuple[Bar, ...]
    pills: tuple[Pill, ...]
    chips: tuple[Chip, ...]
    host: str
    docker: bool = False
    stray: tuple[Fault, ...] = ()
    faults: Mapping[str, tuple[Fault, ...]] = field(default_factory=dict)


def scene(access: BrokerAccess, findings: Sequence[Finding] = ()) -> Scene:
    """The things of a topology in a fixed order, equal topologies giving equal scenes."""
    topology, rows = access.topology, _rows(access)
    boxes = [*_places(topology, rows), *_without_namespace(topology, rows)]
    owners = {container: box.key for box in boxes for container in box.containers}
    owners |= {name: box.key for box in boxes for c in box.containers if (name := _name(topology, c))}
    found = [*bars(topology, owners)]
    on_host = [Attachment(place=box.key) for box in boxes if box.key.startswith("container:") and not box.state]
    if on_host:
        found.insert(0, Bar(key="network of the host", kind=BarKind.HOST, title="host", attachments=tuple(on_host)))
    pills = tuple(_pills(topology, owners))
    host = next((place for place in topology.places if place.kind is PlaceKind.HOST), None)
    chips = tuple(_chips(topology, host)) if host else ()
    known = faults_by_key(topology, findings, _Keys(boxes=boxes, bars=found, pills=pills, chips=chips).lookup())
    return Scene(
        boxes=tuple(sorted(boxes, key=lambda box: natural_key(box.name))),
        bars=tuple(found),
        pills=pills,
        chips=chips,
        host=topology.inventory.hostname or (host.name if host else "this machine"),
        docker=bool(topology.host),
        stray=known.pop("", ()),
        faults=known,
    )


def listener_key(listener: str) -> str:
    """The key of a Kafka listener in a picture."""
    return f"listener:{listener}"


def place_key(name: str) -> str:
    """The key of a place in a picture."""
    return f"place:{name}"


def _rows(access: BrokerAccess) -> Mapping[str, tuple[Row, ...]]:
    """The listeners by the container that holds them, those for clients first."""
    found: dict[str, list[KafkaListener]] = {}
    for listener in access.topology.listeners:
        found.setdefault(listener.container, []).append(listener)
    return {
        container: tuple(
            _row(access, listener)
            for listener in sorted(listeners, key=lambda one: (one.controller, natural_key(one.listener)))
        )
        for container, listeners in found.items()
    }


def _row(access: BrokerAccess, listener: KafkaListener) -> Row:
    mark, good, all_of_them = access.listener(listener.key)
    if listener.bound == ():
        mark = Mark.BAD
    elif listener.controller:
        mark = Mark.NONE
    return Row(
        key=listener_key(listener.key),
        name=listener.listener,
        bind=endpoint(*listener.bind),
        advertised="" if listener.advertised is None else endpoint(*listener.advertised),
        mark=mark,
        reached=f"{good}/{all_of_them}" if all_of_them else "",
        controller=listener.controller,
    )


def endpoint(host: str, port: int) -> str:
    """host:port, IPv6 in brackets; an empty host is every address."""
    return endpoint_text(host or "*", port)


def _places(topology: Topology, rows: Mapping[str, tuple[Row, ...]]) -> Iterator[Box]:
    for place in topology.places:
        if place.kind is PlaceKind.HOST:
            continue
        facts = topology.inventory.namespaces.get(place.netns)
        unknown = ""
        if facts is None or not facts.entered:
            reasons = () if facts is None else facts.unread
            unknown = reasons[0].because if reasons else "it could not be inspected"
        containers = [c for i in place.containers if (c := topology.containers.get(i))]
        yield Box(
            key=place_key(place.name),
            title=place.label or place.name,
            name=place.name,
            subtitle=_subtitle(place, containers),
            rows=tuple(row for container in place.containers for row in rows.get(container, ())),
            devices=() if facts is None else tuple(_device(link, facts.links) for link in _special(facts.links)),
            state=_state(containers[0]) if containers else "",
            unknown=unknown,
            services=place.services,
            containers=place.containers,
            place=place,
        )


def _without_namespace(topology: Topology, rows: Mapping[str, tuple[Row, ...]]) -> Iterator[Box]:
    """Containers of the host's own namespace, and those that do not run."""
    seen = {c for p in topology.places if p.kind is not PlaceKind.HOST for c in p.containers}
    on_host = {c for p in topology.places if p.kind is PlaceKind.HOST for c in p.containers}
    for container in topology.containers.values():
        if container.id in seen:
            continue
        state = _state(container)
        if not state and container.id not in on_host:
            state = "namespace not found"
        yield Box(
            key=f"container:{container.name}",
            title=container.name,
            name=container.name,
            subtitle="on the host's network" if container.id in on_host else container.service or "",
            rows=rows.get(container.id, ()),
            state=state,
            services=(container.service,) if container.service else (),
            containers=(container.id,),
        )


def _subtitle(place: Place, containers: Sequence[Container]) -> str:
    if len(place.containers) > 1:
        return " + ".join(c.name for c in containers[1:]) or f"{len(place.containers)} containers"
    if place.kind is not PlaceKind.CONTAINER:
        return place.kind.value
    if place.label and place.label != place.name:
        return place.name
    return f"service {place.services[0]}" if place.services and place.services[0] != place.name else ""


def _state(container: Container) -> str:
    return "" if container.state.status is Status.RUNNING else container.state.status.value


def _name(topology: Topology, identifier: str) -> str:
    container = topology.containers.get(identifier)
    return container.name if container else ""


def _special(links: Sequence[Link]) -> list[Link]:
    return [link for link in links if not link.loopback and link.kind not in _WITHOUT_INTEREST]


def _device(link: Link, links: Sequence[Link]) -> str:
    """A device in a few words: what it is, what it stands on or is plugged into."""
    names = {other.ifindex: other.ifname for other in links}
    kind = f" {link.kind}" if link.kind else ""
    below = names.get(link.link, "") if link.link is not None and link.link_netnsid is None else ""
    above = names.get(link.master, "") if link.master is not None else ""
    return f"{link.ifname}{kind}{f' on {below}' if below else ''}{f' in {above}' if above else ''}"


def _pills(topology: Topology, owners: Mapping[str, str]) -> Iterator[Pill]:
    """Both families of a port that are published alike are one pill."""
    alike: dict[tuple[str, object], list[Published]] = {}
    for port in topology.published:
        box = owners.get(port.container, "")
        wide = "*" if port.host_ip in ("", "0.0.0.0", "::") else port.host_ip
        how = (bool(port.dnat) or bool(port.proxies), port.in_force)
        alike.setdefault((box, (port.published, port.target, port.protocol, wide, how)), []).append(port)
    taken: dict[str, int] = {}
    for (box, _), ports in alike.items():
        key = f"port:{ports[0].key}"
        taken[key] = taken.get(key, 0) + 1
        first = ports[0]
        hosts = [endpoint(port.host_ip or "0.0.0.0", port.published).rpartition(":")[0] for port in ports]
        protocol = "" if first.protocol == "tcp" else f"/{first.protocol}"
        yield Pill(
            key=key if taken[key] == 1 else f"{key} #{taken[key]}",
            text=f"{'+'.join(hosts)}:{first.published}{protocol} → {first.target}",
            box=box,
            ports=tuple(ports),
            dnat=any(port.dnat for port in ports),
            proxy=any(port.proxies for port in ports),
            dead=_dead(first),
        )


def _dead(port: Published) -> str:
    if not port.in_force:
        return "configured, but not published"
    if not port.by:
        return "neither a NAT rule nor a docker-proxy leads to it"
    return "nothing listens behind it" if port.pids == () else ""


def _chips(topology: Topology, host: Place) -> Iterator[Chip]:
    facts = topology.inventory.namespaces.get(host.netns)
    if facts is None:
        return
    for link in facts.links:
        if link.kind in _WITHOUT_INTEREST:
            continue
        device = LinkId(netns=host.netns, ifindex=link.ifindex)
        addresses = [a.address for a in facts.addresses if a.ifindex == link.ifindex and a.scope in (0, 254)]
        text = " ".join([_device(link, facts.links), *addresses[:2]])
        more = f" +{len(addresses) - 2}" if len(addresses) > 2 else ""
        yield Chip(
            key=f"device:{link.ifname}",
            text=f"{text}{more}{'' if link.up or link.loopback else ' (off)'}",
            device=device,
            outside=not link.loopback,
        )


def bars(topology: Topology, owners: Mapping[str, str]) -> tuple[Bar, ...]:
    """All bars of a topology; `owners` leads from a container's id to the key of its place in the picture."""
    all_bars = _Bars(lookup=Lookup(topology), owners=owners)
    found = [all_bars.network(view) for view in topology.networks]
    found += all_bars.bridges()
    found += all_bars.parents()
    found += all_bars.cables()
    named: dict[str, int] = {}
    return tuple(_with_distinct_key(bar, named) for bar in found)


def _with_distinct_key(bar: Bar, named: dict[str, int]) -> Bar:
    """Two networks may have one name."""
    count = named[bar.key] = named.get(bar.key, 0) + 1
    if count == 1:
        return bar
    return replace(bar, key=f"{bar.key} #{count}")


# Without slots, so that what is looked up often is indexed once.
@dataclasses.dataclass(frozen=True, kw_only=True)
class _Bars:
    lookup: Lookup
    owners: Mapping[str, str]

    @property
    def topology(self) -> Topology:
        return self.lookup.topology

    @cached_property
    def addresses(self) -> Mapping[LinkId, str]:
        """The first address of every device that other machines may know."""
        found: dict[LinkId, str] = {}
        for netns, facts in self.topology.inventory.namespaces.items():
            for a in facts.addresses:
                if a.scope == 0:
                    found.setdefault(LinkId(netns=netns, ifindex=a.ifindex), a.address)
        return found

    @cached_property
    def host(self) -> int | None:
        return next((p.netns for p in self.topology.places if p.kind is PlaceKind.HOST), None)

    @cached_property
    def networked(self) -> frozenset[LinkId]:
        """Devices that a network of the engine accounts for."""
        return frozenset(m.inside for view in self.topology.networks for m in view.members if m.inside is not None)

    def network(self, view: NetworkView) -> Bar:
        net = view.network
        attached: dict[str, Attachment] = {}
        for member in view.members:
            place = self.owners.get(member.container)
            if place is not None:
                broken = self._broken(member.inside) or self._broken(member.port)
                cable = self._cable(member.inside, member.port)
                attached[place] = Attachment(place=place, address=member.address, cable=cable, broken=broken)
        for container in self.topology.containers.values():
            place = self.owners.get(container.id)
            if place and place not in attached and any(e.network == net.name for e in container.networks):
                attached[place] = Attachment(place=place)
        others = [] if view.bridge is None else self._plugged(view.bridge)
        for place, one in (pair for pair in others if isinstance(pair, tuple)):
            attached.setdefault(place, one)
        link = None if view.bridge is None else self.lookup.link(view.bridge)
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
            attachments=tuple(attached.values()),
            device=view.bridge,
            unknown=unknown,
        )

    def bridges(self) -> Iterator[Bar]:
        known = {view.bridge for view in self.topology.networks}
        for place, link in self.lookup.links_by_id.items():
            if link.kind != "bridge" or place in known:
                continue
            plugged = self._plugged(place)
            attached = [pair[1] for pair in plugged if isinstance(pair, tuple)]
            owner = self._place_name(place.netns)
            address = self.addresses.get(place, "")
            if place.netns != self.host and owner:
                own = Attachment(place=place_key(owner), address=address, cable=link.ifname)
                attached = [own, *(h for h in attached if h.place != own.place)]
            yield Bar(
                key=f"bridge:{owner}/{link.ifname}",
                kind=BarKind.BRIDGE,
                title=link.ifname if place.netns == self.host else f"{link.ifname} in {owner}",
                facts=("bridge", *([address] if address else []), *([] if link.up else ["down"])),
                ports=tuple(text for text in plugged if isinstance(text, str)),
                attachments=tuple(attached),
                device=place,
            )

    def parents(self) -> Iterator[Bar]:
        """Devices that devices of other namespaces stand on: the parents of macvlan, ipvlan and moved vlans."""
        standing: dict[LinkId, list[LinkId]] = {}
        for cable in self.topology.cables:
            if cable.kind is CableKind.PARENT and cable.a.netns != cable.b.netns and cable.a not in self.networked:
                standing.setdefault(cable.b, []).append(cable.a)
        for parent, children in standing.items():
            owner = self._place_name(parent.netns)
            name = self._name(parent)
            attached = []
            for child in children:
                kind = link.kind if (link := self.lookup.link(child)) else ""
                attached.append(self._attachment(child, cable=f"{self._name(child)} ({kind}) on {name}"))
            if parent.netns != self.host and owner:
                attached.insert(0, self._attachment(parent, cable=name))
            yield Bar(
                key=f"parent:{owner}/{name}",
                kind=BarKind.PARENT,
                title=name if parent.netns == self.host else f"{name} in {owner}",
                facts=("device below others", *filter(None, [self.addresses.get(parent)])),
                attachments=tuple(h for h in attached if h.place),
                device=parent,
            )

    def cables(self) -> Iterator[Bar]:
        """Pairs that lead from one place straight to another, without a bridge between them."""
        for cable in self.topology.cables:
            if cable.kind not in PAIRS or cable.a.netns == cable.b.netns:
                continue
            if {cable.a, cable.b} & self.networked or self.lookup.master(cable.a) or self.lookup.master(cable.b):
                continue
            text = f"{self._end(cable.a)} — {self._end(cable.b)}"
            ends = [self._attachment(end, cable=text) for end in (cable.a, cable.b) if end.netns != self.host]
            yield Bar(
                key=f"cable:{text}",
                kind=BarKind.WIRE,
                title=text,
                facts=(cable.kind.value,),
                attachments=tuple(h for h in ends if h.place),
            )

    def _plugged(self, bridge: LinkId) -> list[tuple[str, Attachment] | str]:
        """What is in the ports of a bridge: places at the other end of a pair, else the device itself as text."""
        found: list[tuple[str, Attachment] | str] = []
        for port in self.lookup.ports(bridge):
            peer = self.lookup.peer(port)
            if peer is None or peer.netns not in self.lookup.places or peer.netns == self.host:
                link = self.lookup.link(port)
                kind = f" ({link.kind})" if link and link.kind else ""
                lost = " (peer not visible)" if link and link.kind == "veth" and peer is None else ""
                found.append(f"{self._name(port)}{lost or kind}")
                continue
            broken = self._broken(peer) or self._broken(port)
            one = self._attachment(peer, cable=self._cable(peer, port), broken=broken)
            found.append((one.place, one))
        return found

    def _attachment(self, end: LinkId, *, cable: str, broken: str = "") -> Attachment:
        name = self._place_name(end.netns)
        place = place_key(name) if name else ""
        return Attachment(place=place, address=self.addresses.get(end, ""), cable=cable, broken=broken)

    def _cable(self, inside: LinkId | None, port: LinkId | None) -> str:
        ends = [self._name(end) for end in (inside, port) if end is not None]
        return " — ".join(ends)

    def _end(self, end: LinkId) -> str:
        return f"{self._place_name(end.netns) or 'somewhere not visible'}:{self._name(end)}"

    def _place_name(self, netns: int) -> str:
        place = self.lookup.places.get(netns)
        return place.name if place else ""

    def _name(self, place: LinkId) -> str:
        link = self.lookup.link(place)
        return link.ifname if link else f"device {place.ifindex}"

    def _broken(self, place: LinkId | None) -> str:
        """Why nothing passes a device of a cable; "" where it can."""
        link = None if place is None else self.lookup.link(place)
        if link is None:
            return ""
        if not link.up:
            return f"{link.ifname} is down"
        if not link.carrier:
            return f"{link.ifname} has no carrier"
        state = link.port.get("state")
        if link.port_kind == "bridge" and state not in (None, "forwarding", 3):
            return f"{link.ifname} is {state}, not forwarding"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """By which names findings and warnings may speak of what is in the picture."""

    boxes: Sequence[Box]
    bars: Sequence[Bar]
    pills: Sequence[Pill]
    chips: Sequence[Chip]

    def lookup(self) -> dict[object, str]:
        found: dict[object, str] = {}
        for chip in self.chips:
            found[chip.device] = found[HOST_KEY, chip.device.ifindex] = chip.key
        for bar in self.bars:
            found.setdefault(bar.title, bar.key)
            if bar.device is not None:
                found[bar.device] = bar.key
        for box in self.boxes:
            found[box.name] = box.key
            if box.place is not None:
                found[box.place.netns] = box.key
            for row in box.rows:
                found[row.key.removeprefix("listener:")] = row.key
                found[box.name, row.name] = row.key
        for pill in self.pills:
            for port in pill.ports:
                found.setdefault(port.key, pill.key)
        return found


def faults_by_key(
    topology: Topology, findings: Sequence[Finding], keys: Mapping[object, str]
) -> dict[str, tuple[Fault, ...]]:
    """The faults by key, worst first; under "" those of which nothing in the picture can be told.

    `keys` leads from names, devices, namespaces, ports and listeners to the keys of the picture.
    """
    found: dict[str, list[Fault]] = {}
    for finding in findings:
        fault = Fault(
            severity=finding.severity,
            text=redacted(finding.message),
            why=redacted(finding.why),
            hint=redacted(finding.hint),
            rule=finding.rule,
        )
        found.setdefault(_first(_subjects_of_finding(topology, finding), keys), []).append(fault)
    for loose in topology.unmatched:
        text = f"{loose.subject}: {loose.because}"
        fault = Fault(severity=Severity.WARNING, text=redacted(text))
        found.setdefault(_first(_subjects_of_unmatched(topology, loose), keys), []).append(fault)
    return {key: tuple(sorted(those, key=lambda f: -f.severity.rank)) for key, those in found.items()}


def _first(candidates: Iterator[object], keys: Mapping[object, str]) -> str:
    return next((keys[name] for name in candidates if name in keys), "")


def _subjects_of_finding(topology: Topology, finding: Finding) -> Iterator[object]:
    """Of what a finding speaks, the narrowest first."""
    match finding.location:
        case TopologyLocation(place=name, device=device, part=part):
            yield part
            yield (name, part)
            place = topology.named(name)
            facts = None if place is None else topology.inventory.namespaces.get(place.netns)
            if place is not None and facts is not None:
                same = (link.ifindex for link in facts.links if link.ifname == device)
                yield from (LinkId(netns=place.netns, ifindex=ifindex) for ifindex in same)
            yield name
            if device and place is not None and place.kind is PlaceKind.HOST:
                yield from _behind(topology, place.netns, device)
        case ContainerLocation(container=name, part=part):
            yield (name, finding.listener)
            yield (name, part)
            yield name
        case _:
            yield from ((finding.service, finding.listener), finding.service)


def _subjects_of_unmatched(topology: Topology, loose: Unmatched) -> Iterator[object]:
    yield loose.subject
    if loose.link is not None:
        yield loose.link
        yield from _behind(topology, loose.link.netns, loose.link.ifindex)
        yield loose.link.netns


def _behind(topology: Topology, netns: int, device: str | int) -> Iterator[object]:
    """Whoever is at the other end of a device, then the bridge that it is plugged into."""
    facts = topology.inventory.namespaces.get(netns)
    link = None if facts is None else next((x for x in facts.links if device in (x.ifname, x.ifindex)), None)
    if link is None:
        return
    own = LinkId(netns=netns, ifindex=link.ifindex)
    for cable in topology.cables:
        if own in (cable.a, cable.b):
            other = cable.b if cable.a == own else cable.a
            yield other
            if other.netns != netns:
                yield other.netns
