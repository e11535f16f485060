"""A topology narrowed to some of its networks, containers or services.

What stays is what was chosen, what it hangs from (the docker host, its bridges and ports), and what leads to it:
published ports with their rules and proxies. Of the docker host everything stays that belongs to nobody else.
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from netdiag.digits import number_of
from netdiag.engine.container import Container
from netdiag.errors import InputError
from netdiag.linux.rtnetlink import Link
from netdiag.topology.graph import CableKind, NetworkView, Place, PlaceKind, Topology, Unmatched
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts

_MOST_HINTS = 3
_SCOPE_LINK = 253


def narrow(
    topology: Topology,
    *,
    networks: Sequence[str] = (),
    containers: Sequence[str] = (),
    services: Sequence[str] = (),
) -> Topology:
    """What belongs to any of these; all of it where nothing is named.

    A network keeps its members, a container its networks, without their other members. Containers that share a
    namespace stay together. InputError for a name that nothing has.
    """
    if not (networks or containers or services):
        return topology
    views = _networks(topology, networks)
    chosen = {c.id for c in (*_containers(topology, containers), *_services(topology, services))}
    chosen |= {member.container for view in views for member in view.members}
    for place in topology.places:
        if place.kind is not PlaceKind.HOST and chosen.intersection(place.containers):
            chosen.update(place.containers)
    return _kept(topology, frozenset(chosen), frozenset(view.network.id for view in views))


def _networks(topology: Topology, names: Iterable[str]) -> list[NetworkView]:
    known = [view.network.name for view in topology.networks]
    found: list[NetworkView] = []
    for name in names:
        matching = [v for v in topology.networks if v.network.name == name or _is_id(name, v.network.id)]
        if not matching:
            raise _unknown("network", name, known)
        found += matching
    return found


def _containers(topology: Topology, names: Iterable[str]) -> list[Container]:
    everything = topology.containers.values()
    found: list[Container] = []
    for name in names:
        matching = [c for c in everything if c.name == name.removeprefix("/") or _is_id(name, c.id)]
        if not matching:
            raise _unknown("container", name, [container.name for container in everything])
        found += matching
    return found


def _services(topology: Topology, names: Iterable[str]) -> list[Container]:
    everything = topology.containers.values()
    found: list[Container] = []
    for name in names:
        matching = [c for c in everything if c.service == name]
        if not matching:
            raise _unknown("service", name, sorted({c.service for c in everything if c.service}))
        found += matching
    return found


def _unknown(what: str, name: str, known: Sequence[str]) -> InputError:
    close = difflib.get_close_matches(name, known, n=_MOST_HINTS, cutoff=0.5)
    if close:
        hint = f"did you mean {' or '.join(close)}?"
    elif known:
        hint = f"there is {', '.join(known[:_MOST_HINTS])}{', ...' if len(known) > _MOST_HINTS else ''}"
    else:
        hint = f"there is no {what}"
    return InputError(f"no {what} has this name", where=name, hint=hint)


def _is_id(name: str, identifier: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{4,64}", name) is not None and identifier.startswith(name)


def _kept(topology: Topology, chosen: frozenset[str], named: frozenset[str]) -> Topology:
    """The topology of the chosen containers, and of the networks that were named or that they are on."""
    views = tuple(
        replace(view, members=tuple(m for m in view.members if m.container in chosen))
        for view in topology.networks
        if view.network.id in named or any(m.container in chosen for m in view.members)
    )
    places = tuple(_place(p, chosen) for p in topology.places if p.kind is PlaceKind.HOST or chosen & {*p.containers})
    devices = _devices(topology, {place.netns for place in places}, views)
    published = tuple(port for port in topology.published if port.container in chosen)
    listeners = tuple(one for one in topology.listeners if one.container in chosen)
    names, keys = {place.name for place in places}, {one.key for one in listeners}
    proxies = frozenset(pid for port in topology.published for pid in port.proxies)
    dropped = proxies - {pid for port in published for pid in port.proxies}
    return replace(
        topology,
        inventory=_inventory(topology.inventory, places, devices, dropped),
        places=places,
        cables=tuple(cable for cable in topology.cables if cable.a in devices and cable.b in devices),
        networks=views,
        published=published,
        listeners=listeners,
        reach=tuple(one for one in topology.reach if one.source in names and one.listener in keys),
        unmatched=tuple(filter(_about(topology, chosen, views, devices), topology.unmatched)),
        containers={identifier: c for identifier, c in topology.containers.items() if identifier in chosen},
        whole=topology.whole or topology,
    )


def _place(place: Place, chosen: frozenset[str]) -> Place:
    if place.kind is not PlaceKind.HOST:
        return place
    return replace(place, containers=tuple(identifier for identifier in place.containers if identifier in chosen))


def _devices(topology: Topology, places: Collection[int], views: Iterable[NetworkView]) -> frozenset[LinkId]:
    """The devices of the places that stay, but for bridges of other networks, their ports and cables that lead away.

    A cable whose end here has an address is a way out, and what leads to a published port.
    """
    bridges = {view.bridge for view in views}
    away = {view.bridge for view in topology.networks if view.bridge is not None and view.bridge not in bridges}
    parents = {view.bridge for view in topology.networks if view.bridge is not None and view.network.driver != "bridge"}
    away -= parents
    ways = {
        LinkId(netns=inode, ifindex=address.ifindex)
        for inode in places
        for address in topology.inventory.namespaces[inode].addresses
        if address.scope < _SCOPE_LINK
    }
    for cable in topology.cables:
        for one, other in ((cable.a, cable.b), (cable.b, cable.a)):
            leads_away = one.netns in places and other.netns not in places and one not in ways
            if cable.kind in (CableKind.VETH, CableKind.NETKIT) and leads_away:
                away.add(one)
    away |= {cable.a for cable in topology.cables if cable.kind is CableKind.PORT and cable.b in away}
    return frozenset(
        at
        for inode in places
        for link in topology.inventory.namespaces[inode].links
        if (at := LinkId(netns=inode, ifindex=link.ifindex)) not in away
    )


def _inventory(
    inventory: Inventory, places: Iterable[Place], devices: frozenset[LinkId], dropped: frozenset[int]
) -> Inventory:
    kept = {place.netns for place in places}
    return replace(
        inventory,
        namespaces={
            inode: _facts(facts, devices, dropped) for inode, facts in inventory.namespaces.items() if inode in kept
        },
        processes={pid: p for pid, p in inventory.processes.items() if p.netns in kept and pid not in dropped},
        tun_owners={at: pids for at, pids in inventory.tun_owners.items() if at in devices},
    )


def _facts(facts: NamespaceFacts, devices: frozenset[LinkId], dropped: frozenset[int]) -> NamespaceFacts:
    inode = facts.netns.inode

    def here(ifindex: int | None) -> bool:
        return ifindex is None or LinkId(netns=inode, ifindex=ifindex) in devices

    def link(one: Link) -> bool:
        return here(one.ifindex)

    return replace(
        facts,
        links=tuple(filter(link, facts.links)),
        addresses=tuple(one for one in facts.addresses if here(one.ifindex)),
        routes=tuple(one for one in facts.routes if not one.hops or any(here(hop.ifindex) for hop in one.hops)),
        neighbours=tuple(one for one in facts.neighbours if here(one.ifindex)),
        fdb=tuple(one for one in facts.fdb if here(one.ifindex)),
        vlans=tuple(one for one in facts.vlans if here(one.ifindex)),
        listeners=tuple(one for one in facts.listeners if not dropped or not dropped.intersection(one.pids)),
        ends={index: end for index, end in facts.ends.items() if here(index)},
    )


def _about(
    topology: Topology, chosen: frozenset[str], views: Iterable[NetworkView], devices: frozenset[LinkId]
) -> Callable[[Unmatched], bool]:
    """Whether a line is about something that stays: a device of it, or nothing that goes away."""
    gone = [f"container {c.name or c.short_id}" for c in topology.containers.values() if c.id not in chosen]
    kept = {view.network.id for view in views}
    gone += [f"network {view.network.name}" for view in topology.networks if view.network.id not in kept]
    gone += [f"listener {one.key}" for one in topology.listeners if one.container not in chosen]

    def stays(one: Unmatched) -> bool:
        if one.link is not None:
            return one.link in devices
        subject = one.subject
        return not any(subject == g or subject.startswith(f"{g} on ") or subject.endswith(f" of {g}") for g in gone)

    return stays


def find_namespace(topology: Topology, word: str) -> int:
    """The inode of `host`, `container:NAME`, `netns:NAME`, `pid:N`, or of a place of that name; InputError for none."""
    kind, colon, name = word.partition(":")
    if word == "host":
        return _host(topology)
    if colon and kind == "container":
        return _container(topology, name)
    if colon and kind == "netns":
        return _named(topology, name)
    if colon and kind == "pid":
        return _process(topology, name)
    place = topology.named(word)
    return place.netns if place is not None else _container(topology, word)


def _host(topology: Topology) -> int:
    place = topology.named(topology.host or "host")
    if place is not None:
        return place.netns
    inventory = topology.inventory
    for inode in (inventory.root, inventory.own):
        if inode is not None and inode in inventory.namespaces:
            return inode
    raise InputError("the docker host's network is not visible from here", where="host")


def _container(topology: Topology, name: str) -> int:
    bare = name.removeprefix("/")
    known = topology.containers.values()
    found = [c for c in known if bare in (c.name, c.id) or (len(bare) >= 3 and c.id.startswith(bare))]
    found = found or [c for c in known if bare and bare == c.service]
    if len(found) > 1:
        names = ", ".join(sorted(c.name for c in found))
        raise InputError(f"the name matches several containers: {names}", where=name)
    if not found:
        choice = [*(c.name for c in known), *(place.name for place in topology.places)]
        close = difflib.get_close_matches(bare, choice, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else "host, a container, netns:NAME or pid:N"
        raise InputError("no container or place has that name", where=name, hint=hint)
    place = next((one for one in topology.places if found[0].id in one.containers), None)
    if place is None:
        because = "it is not running" if not found[0].state.has_process else "its network is not visible"
        raise InputError(because, where=found[0].name)
    return place.netns


def _named(topology: Topology, name: str) -> int:
    for inode, facts in topology.inventory.namespaces.items():
        if name in facts.netns.names:
            return inode
    raise InputError("no network namespace has that name", where=name, hint="list them with `ip netns`")


def _process(topology: Topology, number: str) -> int:
    inventory = topology.inventory
    pid = number_of(number)
    if pid is not None:
        process = inventory.processes.get(pid)
        if process is not None and process.netns is not None:
            return process.netns
        for inode, facts in inventory.namespaces.items():
            if pid in facts.netns.pids:
                return inode
    raise InputError("no process with a visible network has that number", where=f"pid:{number}")
