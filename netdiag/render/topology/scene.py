"""What is in a picture of a topology, before anything has a place: boxes, the bars they hang from, pills on the edge.

Every thing has a key that is the same in the next picture of the same machine. Nothing here knows of pixels.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from netdiag.engine.container import Container, Status
from netdiag.findings import Finding
from netdiag.linux.link import Link
from netdiag.render.topology.faults import Fault, faults
from netdiag.render.topology.lettering import natural
from netdiag.render.topology.verdicts import Judge, Mark
from netdiag.render.topology.wiring import Bar, BarKind, Hanging, bars, place_key
from netdiag.topology.graph import KafkaListener, Place, PlaceKind, Published, Topology
from netdiag.topology.inventory import LinkId

HOST_KEY = "host"
_WITHOUT_INTEREST = ("veth", "netkit", "bridge")


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


def scene(judge: Judge, findings: Sequence[Finding] = ()) -> Scene:
    """The things of a topology in a fixed order, equal topologies giving equal scenes."""
    topology, rows = judge.topology, _rows(judge)
    boxes = [*_places(topology, rows), *_without_namespace(topology, rows)]
    owners = {container: box.key for box in boxes for container in box.containers}
    owners |= {name: box.key for box in boxes for c in box.containers if (name := _name(topology, c))}
    found = [*bars(topology, owners)]
    on_host = [Hanging(place=box.key) for box in boxes if box.key.startswith("container:") and not box.state]
    if on_host:
        found.insert(0, Bar(key="network of the host", kind=BarKind.HOST, title="host", hanging=tuple(on_host)))
    pills = tuple(_pills(topology, owners))
    host = next((place for place in topology.places if place.kind is PlaceKind.HOST), None)
    chips = tuple(_chips(topology, host)) if host else ()
    known = faults(topology, findings, _Keys(boxes=boxes, bars=found, pills=pills, chips=chips).lookup())
    return Scene(
        boxes=tuple(sorted(boxes, key=lambda box: natural(box.name))),
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


def _rows(judge: Judge) -> Mapping[str, tuple[Row, ...]]:
    """The listeners by the container that holds them, those for clients first."""
    found: dict[str, list[KafkaListener]] = {}
    for listener in judge.topology.listeners:
        found.setdefault(listener.container, []).append(listener)
    return {
        container: tuple(
            _row(judge, listener)
            for listener in sorted(listeners, key=lambda one: (one.controller, natural(one.listener)))
        )
        for container, listeners in found.items()
    }


def _row(judge: Judge, listener: KafkaListener) -> Row:
    mark, good, all_of_them = judge.listener(listener.key)
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
    return f"[{host}]:{port}" if ":" in host else f"{host or '*'}:{port}"


def _places(topology: Topology, rows: Mapping[str, tuple[Row, ...]]) -> Iterator[Box]:
    for place in topology.places:
        if place.kind is PlaceKind.HOST:
            continue
        facts = topology.inventory.namespaces.get(place.netns)
        unknown = ""
        if facts is None or not facts.entered:
            reasons = () if facts is None else facts.unread
            unknown = reasons[0].because if reasons else "nobody could look into it"
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
        return "asked for, not in force"
    if not port.by:
        return "neither a NAT rule nor a docker-proxy leads to it"
    return "nobody listens behind it" if port.pids == () else ""


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
