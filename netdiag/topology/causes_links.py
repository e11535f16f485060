"""Why a packet gets nowhere without a rule against it: routes, neighbours, devices down, ports off a bridge."""

import ipaddress
from collections.abc import Iterator

from netdiag.deployment.mechanism import Mechanism
from netdiag.engine.container import Container
from netdiag.topology import changes, remedies
from netdiag.topology.failing import Failing, Remedy, Suspect
from netdiag.topology.hops import End, Hop, HopKind
from netdiag.topology.inventory import LinkId
from netdiag.topology.terrain import Place, family_of

_STANDS_ON = frozenset({"macvlan", "macvtap", "ipvlan"})
_OLD = frozenset({"STALE", "DELAY", "PROBE", "REACHABLE", "PERMANENT"})
_FORWARDING = ("forwarding", 3)


def suspect_without_route(failing: Failing) -> Suspect | None:
    """ENETUNREACH: who has no route, and why."""
    path = failing.path
    place = failing.terrain.place(path.target if path.target is not None else path.source)
    if place is None:
        return None
    who, said = failing.called(place.inode), (path.because,)
    container = failing.container(place.inode)
    if place.inode != path.source:
        because = f"{who}, which is to pass it on, has {path.because}"
        return Suspect(
            mechanism=Mechanism.NO_ROUTE, because=because, evidence=said, remedies=tuple(_routes(failing, place))
        )
    if not [link for link in place.links.values() if not link.loopback and link.kind not in ("sit", "gre", "ip6tnl")]:
        return _without_network(failing, place, container)
    views = failing.views(place.inode)
    if views and all(view.network.internal for view in views):
        names = ", ".join(view.network.name for view in views)
        because = f"{who} is on internal networks only ({names}), and has no route out of them"
        found = tuple(remedies.out_of_internal(failing))
        return Suspect(mechanism=Mechanism.INTERNAL_EGRESS, because=because, evidence=said, remedies=found)
    because = f"{who} has no route to {path.address}"
    return Suspect(
        mechanism=Mechanism.NO_ROUTE, because=because, evidence=said, remedies=tuple(_routes(failing, place))
    )


def _without_network(failing: Failing, place: Place, container: Container | None) -> Suspect:
    who = failing.called(place.inode)
    mode = f" (network mode {container.network_mode})" if container is not None else ""
    because = f"{who} has no network but its own loopback{mode}"
    target = failing.view_of(failing.path.address)
    found = []
    if target is not None and target.bridge is not None:
        text = f"attach {who} to network {target.network.name}"
        found.append(Remedy(text=text, change=changes.attached(place.inode, target, default=True)))
    return Suspect(
        mechanism=Mechanism.NO_NETWORK, because=because, evidence=("lo is its only device",), remedies=tuple(found)
    )


def _routes(failing: Failing, place: Place) -> Iterator[Remedy]:
    """By whoever is next door and has a way."""
    address = failing.path.address
    destination = f"{address}/{32 if family_of(address) == 4 else 128}"
    yield from remedies.attach(failing)
    for netns in sorted(failing.topology.inventory.namespaces):
        other = failing.terrain.place(netns)
        if other is None or netns == place.inode or not other.forwards(4) or family_of(address) == 6:
            continue
        for link, gateway in _shared(failing, place, other):
            text = f"give {failing.called(place.inode)} a route: ip route add {destination} via {gateway}"
            yield Remedy(text=text, change=changes.routed(place.inode, destination, gateway, link))


def _shared(failing: Failing, place: Place, other: Place) -> Iterator[tuple[int, str]]:
    """The devices of a place by which an address of another one is reached directly."""
    for own in place.facts.addresses:
        if ":" in own.address or own.scope:
            continue
        net = ipaddress.ip_network(f"{own.address}/{own.prefix_length}", strict=False)
        for theirs in other.facts.addresses:
            if ":" not in theirs.address and not theirs.scope and ipaddress.ip_address(theirs.address) in net:
                yield own.ifindex, theirs.address


def suspect_on_the_way(failing: Failing) -> Suspect | None:
    """Silence or EHOSTUNREACH with no rule to blame: devices first, then neighbours, then forwarding."""
    return (
        _standing_on(failing)
        or _broken_cable(failing)
        or _not_passed_on(failing)
        or _answered_past_us(failing)
        or _old_neighbour(failing)
        or _nobody(failing)
    )


def _there(failing: Failing) -> list[Hop]:
    return [hop for hop in failing.path.hops if not hop.details.get("answer")]


def _devices(failing: Failing) -> Iterator[LinkId]:
    """The devices of the way: those it passes, then the one of whoever has the address that was sought last."""
    for hop in failing.path.hops:
        if hop.link is not None:
            yield hop.link
    for address in _sought(failing):
        owner = failing.owner(address)
        if owner is not None and owner[0].inode != failing.path.source:
            yield owner[1]


def _sought(failing: Failing) -> Iterator[str]:
    """The addresses that were to be reached: what was dialled, and where published ports lead to."""
    yield failing.path.address
    for port in failing.published:
        if port.in_force and port.to_address:
            yield port.to_address


def _standing_on(failing: Failing) -> Suspect | None:
    """A macvlan and the host that it stands on."""
    owner = failing.owner(failing.path.address)
    source = failing.source
    if owner is None or source is None or failing.path.end is not End.NO_NEIGHBOUR:
        return None
    for place, other in ((source, owner[0]), (owner[0], source)):
        for link in place.links.values():
            end = failing.terrain.end(LinkId(netns=place.inode, ifindex=link.ifindex))
            if link.kind in _STANDS_ON and end is not None and end.netns == other.inode:
                parent = failing.topology.inventory.link(end)
                name = parent.ifname if parent is not None else "its parent"
                because = (
                    f"{failing.called(place.inode)} is on {link.ifname}, a {link.kind} on {name} of "
                    f"{failing.called(other.inode)}: the two do not reach each other"
                )
                return Suspect(
                    mechanism=Mechanism.PARENT_ISOLATION,
                    because=because,
                    evidence=(failing.path.because,),
                    remedies=tuple(_around(failing, place, other)),
                )
    return None


def _around(failing: Failing, place: Place, other: Place) -> Iterator[Remedy]:
    """A second network for the container: a bridge of the host that it stands on."""
    who = failing.called(place.inode)
    for view in failing.topology.networks:
        link = failing.topology.inventory.link(view.bridge) if view.bridge is not None else None
        if view.bridge is None or view.bridge.netns != other.inode or link is None or link.kind != "bridge":
            continue
        if not view.network.subnets or not view.network.gateways:
            continue
        inward = failing.path.source == other.inode
        address = changes.free_address(failing.topology, view) if inward else ""
        yield Remedy(
            text=f"attach {who} to bridge network {view.network.name}, too, and dial by it",
            change=changes.attached(place.inode, view, address=address),
            destination=address or view.network.gateways[0],
            port=failing.path.port,
        )
    yield Remedy(text="dial from another machine, or give the docker host a macvlan device of its own on that parent")


def _broken_cable(failing: Failing) -> Suspect | None:
    """A device that is down, else a port that has left its bridge."""
    pairs = [(at, one) for at in dict.fromkeys(_devices(failing)) for one in _with_end(failing, at)]
    for _, one in pairs:
        link = failing.topology.inventory.link(one)
        if link is None or link.loopback or link.up:
            continue
        change = changes.link_up(one, failing.topology)
        return Suspect(
            mechanism=Mechanism.LINK_DOWN,
            because=f"{link.ifname} of {failing.called(one.netns)} is down",
            evidence=(failing.path.because,),
            remedies=(Remedy(text=f"bring it up: ip link set {link.ifname} up", change=change),),
        )
    return next((found for at, one in pairs if (found := _off_bridge(failing, at, one)) is not None), None)


def _with_end(failing: Failing, at: LinkId) -> Iterator[LinkId]:
    yield at
    end = failing.terrain.end(at)
    link = failing.topology.inventory.link(at)
    if end is not None:
        yield end
        master = failing.topology.inventory.link(end)
        if master is not None and master.master is not None:
            yield LinkId(netns=end.netns, ifindex=master.master)
    if link is not None and link.master is not None:
        yield LinkId(netns=at.netns, ifindex=link.master)


def _off_bridge(failing: Failing, inside: LinkId, port: LinkId) -> Suspect | None:
    """Whether the outer end of a container's cable is on no bridge, or on one that does not let it forward."""
    link = failing.topology.inventory.link(port)
    if link is None or port == inside or link.kind not in ("veth", "netkit"):
        return None
    where = f"{link.ifname} of {failing.called(port.netns)}"
    if link.port_kind == "bridge" and link.port.get("state", "forwarding") not in _FORWARDING:
        change = changes.changed_link(port, port={**link.port, "state": "forwarding"})
        return Suspect(
            mechanism=Mechanism.PORT_OFF_BRIDGE,
            because=f"{where} is a bridge port in state {link.port.get('state')}: it does not forward",
            evidence=(failing.path.because,),
            remedies=(Remedy(text=f"let it forward: bridge link set dev {link.ifname} state 3", change=change),),
        )
    if link.master is not None:
        return None
    place = failing.terrain.place(port.netns)
    has_own = place is not None and any(not a.scope for a in place.addresses.get(port.ifindex, ()))
    addresses = failing.terrain.place(inside.netns)
    own = next(iter(addresses.addresses.get(inside.ifindex, ())), None) if addresses is not None else None
    view = failing.view_of(own.address) if own is not None else None
    bridge = view.bridge if view is not None else _bridge_for(failing, port, own.address if own is not None else "")
    if has_own or bridge is None or bridge.netns != port.netns:
        return None
    named = failing.topology.inventory.link(bridge)
    name = named.ifname if named is not None else "its bridge"
    forwarding = {"state": "forwarding", "hairpin": False, "isolated": False}
    change = changes.changed_link(port, master=bridge.ifindex, port_kind="bridge", port=forwarding)
    return Suspect(
        mechanism=Mechanism.PORT_OFF_BRIDGE,
        because=f"{where}, the cable of {failing.called(inside.netns)}, is on no bridge",
        evidence=(f"bridge {name} has not {link.ifname} among its ports",),
        remedies=(Remedy(text=f"put it back: ip link set {link.ifname} master {name}", change=change),),
    )


def _bridge_for(failing: Failing, port: LinkId, address: str) -> LinkId | None:
    """The bridge beside a cable that serves the range of its inner address."""
    place = failing.terrain.place(port.netns)
    if place is None or not address:
        return None
    for link in place.links.values():
        for own in place.addresses.get(link.ifindex, ()) if link.kind == "bridge" else ():
            if family_of(own.address) == family_of(address) and ipaddress.ip_address(address) in ipaddress.ip_network(
                f"{own.address}/{own.prefix_length}", strict=False
            ):
                return LinkId(netns=port.netns, ifindex=link.ifindex)
    return None


def _not_passed_on(failing: Failing) -> Suspect | None:
    """A router that is none."""
    for hop in reversed(_there(failing)):
        place = failing.terrain.place(hop.netns)
        if place is None or hop.netns == failing.path.source:
            continue
        if failing.path.end is not End.DROPPED or hop.kind is not HopKind.ROUTE:
            return None
        family = family_of(failing.path.address)
        if place.forwards(family):
            return None
        switch = "net.ipv4.ip_forward" if family == 4 else "net.ipv6.conf.all.forwarding"
        who = failing.called(hop.netns)
        return Suspect(
            mechanism=Mechanism.FORWARDING_OFF,
            because=f"{who} does not pass packets on: {switch} is 0",
            evidence=(failing.path.because,),
            remedies=(Remedy(text=f"sysctl -w {switch}=1 on {who}", change=changes.forwarding(hop.netns)),),
        )
    return None


def _answered_past_us(failing: Failing) -> Suspect | None:
    """A neighbour on the same bridge answers directly, past the translation that led to it."""
    last = failing.path.hops[-1] if failing.path.hops else None
    host = failing.terrain.place(failing.host) if failing.host is not None else None
    if last is None or host is None or not last.details.get("answer") or not failing.translated:
        return None
    if host.facts.settings.bridge_nf_call_iptables:
        return None
    text = "let bridges ask the packet filter: sysctl -w net.bridge.bridge-nf-call-iptables=1"
    return Suspect(
        mechanism=Mechanism.BRIDGE_FILTER_OFF,
        because="a published port leads back onto the client's own bridge, whose answers pass no NAT: "
        "net.bridge.bridge-nf-call-iptables is off",
        evidence=(failing.path.because,),
        remedies=(
            Remedy(text=text, change=changes.filtering_bridged(host.inode)),
            *remedies.beside_published(failing),
        ),
    )


def _old_neighbour(failing: Failing) -> Suspect | None:
    """An entry that leads to hardware which is not there, or not that of who has the address now."""
    for hop in _there(failing)[::-1]:
        if hop.link is None:
            continue
        place = failing.terrain.place(hop.link.netns)
        for address in _sought(failing):
            entry = place.neighbours.get((hop.link.ifindex, address)) if place is not None else None
            if entry is None or not entry.lladdr or not _OLD & set(entry.states):
                continue
            owner = failing.owner(address)
            link = failing.topology.inventory.link(owner[1]) if owner is not None else None
            if link is not None and link.address == entry.lladdr:
                continue
            who = failing.called(hop.link.netns)
            known = f"{address} is at {entry.lladdr}, {entry.states[0]}"
            if owner is None:
                because = f"nobody has {address} any more, and {who} still believes: {known}"
            else:
                because = f"{address} has moved to {failing.called(owner[0].inode)}, and {who} still believes: {known}"
            text = f"forget it on {who}: ip neigh del {address} dev {_name(failing, hop.link)}"
            if owner is None:
                text = f"start again what had {address}, or dial it by name"
            change = changes.without_neighbour(hop.link.netns, address)
            return Suspect(
                mechanism=Mechanism.STALE_NEIGHBOUR,
                because=because,
                evidence=(f"neighbour table of {who}: {known}",),
                remedies=(Remedy(text=text, change=change if owner is not None else None),),
            )
    return None


def _nobody(failing: Failing) -> Suspect | None:
    """Nobody answers for the address."""
    path = failing.path
    if path.end is not End.NO_NEIGHBOUR:
        return None
    view = failing.view_of(path.address)
    stopped = [
        container.name
        for container in failing.topology.containers.values()
        if view is not None
        and not container.state.has_process
        and any(e.network == view.network.name for e in container.networks)
    ]
    network = f" on network {view.network.name}" if view is not None else ""
    evidence = [path.because, *(f"{name} is on that network and does not run" for name in stopped[:3])]
    found = [Remedy(text=f"start {name} and dial it by name") for name in stopped[:2]]
    found += list(_who_has_the_port(failing, view.network.name if view is not None else ""))
    return Suspect(
        mechanism=Mechanism.NOBODY_HAS_ADDRESS,
        because=f"nobody has the address {path.address}{network}",
        evidence=tuple(evidence),
        remedies=tuple(found),
    )


def _who_has_the_port(failing: Failing, network: str) -> Iterator[Remedy]:
    for container in remedies.containers_listening(failing, failing.path.port):
        for endpoint in container.networks:
            if endpoint.network == network and endpoint.addresses:
                text = f"dial {container.name} by name, which has {endpoint.addresses[0]}"
                yield Remedy(text=text, destination=endpoint.addresses[0], port=failing.path.port)


def _name(failing: Failing, at: LinkId) -> str:
    link = failing.topology.inventory.link(at)
    return link.ifname if link is not None else str(at.ifindex)
