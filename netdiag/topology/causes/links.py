"""Why a packet is lost without a rule against it: routes, neighbours, links that are down, ports off a bridge."""

import ipaddress
from collections.abc import Iterator

from netdiag.deployment.model.verdict import Mechanism
from netdiag.engine.container import Container
from netdiag.topology.causes import remedies
from netdiag.topology.causes.failed_connection import FailedConnection, Remedy, Suspect
from netdiag.topology.graph import Hop, HopKind, PathEnd
from netdiag.topology.inventory import IndexedNamespace, LinkId, family_of

_KINDS_WITH_PARENT = frozenset({"macvlan", "macvtap", "ipvlan"})
_USED_STATES = frozenset({"STALE", "DELAY", "PROBE", "REACHABLE", "PERMANENT"})
_FORWARDING = ("forwarding", 3)


def suspect_without_route(connection: FailedConnection) -> Suspect | None:
    """ENETUNREACH: the namespace without a route, and why it has none."""
    path = connection.path
    namespace = connection.index.namespace(path.target if path.target is not None else path.source)
    if namespace is None:
        return None
    who, said = connection.place_name(namespace.inode), (path.because,)
    container = connection.container(namespace.inode)
    if namespace.inode != path.source:
        because = f"{who}, which has to forward the packet, has {path.because}"
        return Suspect(
            mechanism=Mechanism.NO_ROUTE, because=because, evidence=said, remedies=tuple(_routes(connection, namespace))
        )
    if all(link.loopback or link.kind in ("sit", "gre", "ip6tnl") for link in namespace.links.values()):
        return _without_network(connection, namespace, container)
    views = connection.networks_at(namespace.inode)
    if views and all(view.network.internal for view in views):
        names = ", ".join(view.network.name for view in views)
        because = f"{who} is only on internal networks ({names}) and has no route out of them"
        found = tuple(remedies.leave_internal_network(connection))
        return Suspect(mechanism=Mechanism.INTERNAL_EGRESS, because=because, evidence=said, remedies=found)
    because = f"{who} has no route to {path.address}"
    return Suspect(
        mechanism=Mechanism.NO_ROUTE, because=because, evidence=said, remedies=tuple(_routes(connection, namespace))
    )


def _without_network(connection: FailedConnection, namespace: IndexedNamespace, container: Container | None) -> Suspect:
    who = connection.place_name(namespace.inode)
    mode = f" (network mode {container.network_mode})" if container is not None else ""
    because = f"{who} has only loopback{mode}"
    target = connection.network_of_address(connection.path.address)
    found = []
    if target is not None and target.bridge is not None:
        text = f"attach {who} to network {target.network.name}"
        found.append(Remedy(text=text, change=remedies.with_network(namespace.inode, target, default=True)))
    return Suspect(
        mechanism=Mechanism.NO_NETWORK, because=because, evidence=("lo is its only device",), remedies=tuple(found)
    )


def _routes(connection: FailedConnection, namespace: IndexedNamespace) -> Iterator[Remedy]:
    """A route by a router on the same network, for IPv4."""
    address = connection.path.address
    destination = f"{address}/{32 if family_of(address) == 4 else 128}"
    yield from remedies.attach_to_network(connection)
    for netns in sorted(connection.topology.inventory.namespaces):
        other = connection.index.namespace(netns)
        if other is None or netns == namespace.inode or not other.forwards(4) or family_of(address) == 6:
            continue
        for link, gateway in _shared_links(namespace, other):
            text = f"add a route on {connection.place_name(namespace.inode)}: ip route add {destination} via {gateway}"
            yield Remedy(text=text, change=remedies.with_route(namespace.inode, destination, gateway, link))


def _shared_links(namespace: IndexedNamespace, other: IndexedNamespace) -> Iterator[tuple[int, str]]:
    """The links by which an address of another namespace is reached directly, by ifindex, with that address."""
    for own in namespace.facts.addresses:
        if ":" in own.address or own.scope:
            continue
        net = ipaddress.ip_network(f"{own.address}/{own.prefix_length}", strict=False)
        for theirs in other.facts.addresses:
            if ":" not in theirs.address and not theirs.scope and ipaddress.ip_address(theirs.address) in net:
                yield own.ifindex, theirs.address


def suspect_lost_packet(connection: FailedConnection) -> Suspect | None:
    """Silence or EHOSTUNREACH that no rule explains."""
    return (
        _parent_isolation(connection)
        or _broken_link(connection)
        or _forwarding_off(connection)
        or _unfiltered_bridge(connection)
        or _stale_neighbour(connection)
        or _no_neighbour(connection)
    )


def suspect_of_mtu(connection: FailedConnection, because: str) -> Suspect:
    """The suspect where large packets are lost: the device with the smallest MTU on the way."""
    known = ((at, connection.topology.inventory.link(at)) for at in dict.fromkeys(_links(connection)))
    ends = ((one, connection.topology.inventory.link(one)) for at, _ in known for one in _link_and_ends(connection, at))
    found = sorted((link.mtu, at, link) for at, link in ends if link is not None and link.mtu and not link.loopback)
    if not found or found[0][0] == found[-1][0]:
        return Suspect(mechanism=Mechanism.PATH_MTU, because=because, evidence=(connection.path.because,))
    (smallest, at, link), (largest, _, _) = found[0], found[-1]
    where = f"{link.ifname} of {connection.place_name(at.netns)}"
    return Suspect(
        mechanism=Mechanism.PATH_MTU,
        because=because,
        evidence=(f"{where} has an MTU of {smallest}, the largest on the way is {largest}",),
        remedies=(Remedy(text=f"give {link.ifname} the MTU of the others: ip link set {link.ifname} mtu {largest}"),),
    )


def _first_packet_hops(connection: FailedConnection) -> list[Hop]:
    return [hop for hop in connection.path.hops if not hop.details.get("answer")]


def _links(connection: FailedConnection) -> Iterator[LinkId]:
    """The links of the path, then those of the addresses that it should reach."""
    for hop in connection.path.hops:
        if hop.link is not None:
            yield hop.link
    for address in _destinations(connection):
        owner = connection.owner(address)
        if owner is not None and owner[0].inode != connection.path.source:
            yield owner[1]


def _destinations(connection: FailedConnection) -> Iterator[str]:
    """The address that was dialled, and those that published ports lead to."""
    yield connection.path.address
    for port in connection.published:
        if port.in_force and port.to_address:
            yield port.to_address


def _parent_isolation(connection: FailedConnection) -> Suspect | None:
    """A macvlan or ipvlan and the host of its parent."""
    owner = connection.owner(connection.path.address)
    source = connection.source
    if owner is None or source is None or connection.path.end is not PathEnd.NO_NEIGHBOUR:
        return None
    for namespace, other in ((source, owner[0]), (owner[0], source)):
        for link in namespace.links.values():
            end = connection.index.end(LinkId(netns=namespace.inode, ifindex=link.ifindex))
            if link.kind in _KINDS_WITH_PARENT and end is not None and end.netns == other.inode:
                parent = connection.topology.inventory.link(end)
                name = parent.ifname if parent is not None else "its parent"
                because = (
                    f"{connection.place_name(namespace.inode)} is on {link.ifname}, a {link.kind} on {name} of "
                    f"{connection.place_name(other.inode)}: the two cannot reach one another"
                )
                return Suspect(
                    mechanism=Mechanism.PARENT_ISOLATION,
                    because=because,
                    evidence=(connection.path.because,),
                    remedies=tuple(_over_bridge(connection, namespace, other)),
                )
    return None


def _over_bridge(
    connection: FailedConnection, namespace: IndexedNamespace, other: IndexedNamespace
) -> Iterator[Remedy]:
    """A second network for the container: a bridge of the same host."""
    who = connection.place_name(namespace.inode)
    for view in connection.topology.networks:
        link = connection.topology.inventory.link(view.bridge) if view.bridge is not None else None
        if view.bridge is None or view.bridge.netns != other.inode or link is None or link.kind != "bridge":
            continue
        if not view.network.subnets or not view.network.gateways:
            continue
        inward = connection.path.source == other.inode
        address = remedies.free_address(connection.topology, view) if inward else ""
        yield Remedy(
            text=f"also attach {who} to bridge network {view.network.name}, and connect through it",
            change=remedies.with_network(namespace.inode, view, address=address),
            destination=address or view.network.gateways[0],
            port=connection.path.port,
        )
    yield Remedy(text="connect from another machine, or create a macvlan device for the docker host on that parent")


def _broken_link(connection: FailedConnection) -> Suspect | None:
    """A link that is down, else a port that is on no bridge."""
    pairs = [(at, one) for at in dict.fromkeys(_links(connection)) for one in _link_and_ends(connection, at)]
    for _, one in pairs:
        link = connection.topology.inventory.link(one)
        if link is None or link.loopback or link.up:
            continue
        change = remedies.with_link_up(one, connection.topology)
        return Suspect(
            mechanism=Mechanism.LINK_DOWN,
            because=f"{link.ifname} of {connection.place_name(one.netns)} is down",
            evidence=(connection.path.because,),
            remedies=(Remedy(text=f"set it up: ip link set {link.ifname} up", change=change),),
        )
    return next((found for at, one in pairs if (found := _port_off_bridge(connection, at, one)) is not None), None)


def _link_and_ends(connection: FailedConnection, at: LinkId) -> Iterator[LinkId]:
    yield at
    end = connection.index.end(at)
    link = connection.topology.inventory.link(at)
    if end is not None:
        yield end
        master = connection.topology.inventory.link(end)
        if master is not None and master.master is not None:
            yield LinkId(netns=end.netns, ifindex=master.master)
    if link is not None and link.master is not None:
        yield LinkId(netns=at.netns, ifindex=link.master)


def _port_off_bridge(connection: FailedConnection, inside: LinkId, port: LinkId) -> Suspect | None:
    """The host's end of a container's veth pair that is on no bridge, or does not forward."""
    link = connection.topology.inventory.link(port)
    if link is None or port == inside or link.kind not in ("veth", "netkit"):
        return None
    where = f"{link.ifname} of {connection.place_name(port.netns)}"
    if link.port_kind == "bridge" and link.port.get("state", "forwarding") not in _FORWARDING:
        change = remedies.with_link(port, port={**link.port, "state": "forwarding"})
        return Suspect(
            mechanism=Mechanism.PORT_OFF_BRIDGE,
            because=f"{where} is a bridge port that does not forward (state {link.port.get('state')})",
            evidence=(connection.path.because,),
            remedies=(Remedy(text=f"make it forward: bridge link set dev {link.ifname} state 3", change=change),),
        )
    if link.master is not None:
        return None
    namespace = connection.index.namespace(port.netns)
    has_own = namespace is not None and any(not a.scope for a in namespace.addresses.get(port.ifindex, ()))
    addresses = connection.index.namespace(inside.netns)
    own = next(iter(addresses.addresses.get(inside.ifindex, ())), None) if addresses is not None else None
    view = connection.network_of_address(own.address) if own is not None else None
    bridge = (
        view.bridge
        if view is not None
        else _bridge_with_subnet(connection, port, own.address if own is not None else "")
    )
    if has_own or bridge is None or bridge.netns != port.netns:
        return None
    named = connection.topology.inventory.link(bridge)
    name = named.ifname if named is not None else "its bridge"
    forwarding = {"state": "forwarding", "hairpin": False, "isolated": False}
    change = remedies.with_link(port, master=bridge.ifindex, port_kind="bridge", port=forwarding)
    return Suspect(
        mechanism=Mechanism.PORT_OFF_BRIDGE,
        because=f"{where}, the veth peer of {connection.place_name(inside.netns)}, is not attached to a bridge",
        evidence=(f"{link.ifname} is not a port of bridge {name}",),
        remedies=(Remedy(text=f"attach it again: ip link set {link.ifname} master {name}", change=change),),
    )


def _bridge_with_subnet(connection: FailedConnection, port: LinkId, address: str) -> LinkId | None:
    """The bridge in the same namespace whose subnet holds an address."""
    namespace = connection.index.namespace(port.netns)
    if namespace is None or not address:
        return None
    for link in namespace.links.values():
        for own in namespace.addresses.get(link.ifindex, ()) if link.kind == "bridge" else ():
            if family_of(own.address) == family_of(address) and ipaddress.ip_address(address) in ipaddress.ip_network(
                f"{own.address}/{own.prefix_length}", strict=False
            ):
                return LinkId(netns=port.netns, ifindex=link.ifindex)
    return None


def _forwarding_off(connection: FailedConnection) -> Suspect | None:
    """A namespace that should forward and has forwarding off."""
    for hop in reversed(_first_packet_hops(connection)):
        namespace = connection.index.namespace(hop.netns)
        if namespace is None or hop.netns == connection.path.source:
            continue
        if connection.path.end is not PathEnd.DROPPED or hop.kind is not HopKind.ROUTE:
            return None
        family = family_of(connection.path.address)
        if namespace.forwards(family):
            return None
        switch = "net.ipv4.ip_forward" if family == 4 else "net.ipv6.conf.all.forwarding"
        who = connection.place_name(hop.netns)
        return Suspect(
            mechanism=Mechanism.FORWARDING_OFF,
            because=f"{who} does not forward packets: {switch} is 0",
            evidence=(connection.path.because,),
            remedies=(Remedy(text=f"run sysctl -w {switch}=1 on {who}", change=remedies.with_forwarding(hop.netns)),),
        )
    return None


def _unfiltered_bridge(connection: FailedConnection) -> Suspect | None:
    """A server on the client's own bridge answers directly, past the NAT that led to it."""
    last = connection.path.hops[-1] if connection.path.hops else None
    host = connection.host_namespace
    if last is None or host is None or not last.details.get("answer") or not connection.is_translated:
        return None
    if host.facts.settings.bridge_nf_call_iptables:
        return None
    text = "make bridges call the packet filter: sysctl -w net.bridge.bridge-nf-call-iptables=1"
    return Suspect(
        mechanism=Mechanism.BRIDGE_FILTER_OFF,
        because="a published port leads back to the client's own bridge, whose responses skip NAT: "
        "net.bridge.bridge-nf-call-iptables is off",
        evidence=(connection.path.because,),
        remedies=(
            Remedy(text=text, change=remedies.with_bridge_filter(host.inode)),
            *remedies.bypass_published_port(connection),
        ),
    )


def _stale_neighbour(connection: FailedConnection) -> Suspect | None:
    """A neighbour entry with a hardware address that nobody has, or another than the owner of the address has."""
    for hop in _first_packet_hops(connection)[::-1]:
        if hop.link is None:
            continue
        namespace = connection.index.namespace(hop.link.netns)
        for address in _destinations(connection):
            entry = namespace.neighbours.get((hop.link.ifindex, address)) if namespace is not None else None
            if entry is None or not entry.lladdr or not _USED_STATES & set(entry.states):
                continue
            owner = connection.owner(address)
            link = connection.topology.inventory.link(owner[1]) if owner is not None else None
            if link is not None and link.address == entry.lladdr:
                continue
            who = connection.place_name(hop.link.netns)
            known = f"{address} is at {entry.lladdr}, {entry.states[0]}"
            if owner is None:
                because = f"no device has {address} any more, but {who} still has an entry: {known}"
            else:
                new = connection.place_name(owner[0].inode)
                because = f"{address} has moved to {new}, but {who} still has an entry: {known}"
            text = f"delete the entry on {who}: ip neigh del {address} dev {_link_name(connection, hop.link)}"
            if owner is None:
                text = f"start the container that had {address} again, or connect by name"
            change = remedies.without_neighbour(hop.link.netns, address)
            return Suspect(
                mechanism=Mechanism.STALE_NEIGHBOUR,
                because=because,
                evidence=(f"neighbor table of {who}: {known}",),
                remedies=(Remedy(text=text, change=change if owner is not None else None),),
            )
    return None


def _no_neighbour(connection: FailedConnection) -> Suspect | None:
    """An address that nobody has."""
    path = connection.path
    if path.end is not PathEnd.NO_NEIGHBOUR:
        return None
    view = connection.network_of_address(path.address)
    stopped = [
        container.name
        for container in connection.topology.containers.values()
        if view is not None
        and not container.state.has_process
        and any(e.network == view.network.name for e in container.networks)
    ]
    network = f" on network {view.network.name}" if view is not None else ""
    evidence = [path.because, *(f"{name} is on that network but not running" for name in stopped[:3])]
    found = [Remedy(text=f"start {name}, and connect by name") for name in stopped[:2]]
    found += list(_dial_by_name(connection, view.network.name if view is not None else ""))
    return Suspect(
        mechanism=Mechanism.NOBODY_HAS_ADDRESS,
        because=f"no device has the address {path.address}{network}",
        evidence=tuple(evidence),
        remedies=tuple(found),
    )


def _dial_by_name(connection: FailedConnection, network: str) -> Iterator[Remedy]:
    for container in remedies.containers_listening(connection, connection.path.port):
        for endpoint in container.networks:
            if endpoint.network == network and endpoint.addresses:
                text = f"connect to {container.name} by name: it has {endpoint.addresses[0]}"
                yield Remedy(text=text, destination=endpoint.addresses[0], port=connection.path.port)


def _link_name(connection: FailedConnection, at: LinkId) -> str:
    link = connection.topology.inventory.link(at)
    return link.ifname if link is not None else str(at.ifindex)
