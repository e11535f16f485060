"""What would help against a failed connection, and the changes to a topology that show whether it does.

A `Change` takes a topology and returns another one. A prediction in the changed topology confirms the remedy.
"""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import replace

from netdiag.deployment.model.causes import start_container
from netdiag.engine.container import Container, Status
from netdiag.linux.netns import Netns
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import (
    IFF_LOOPBACK,
    IFF_LOWER_UP,
    IFF_RUNNING,
    IFF_UP,
    InterfaceAddress,
    Link,
    NextHop,
    Route,
)
from netdiag.linux.ruleset import Chain, Expression, FilterRule, RuleAddress, Table
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.causes.failed_connection import FailedConnection, Remedy
from netdiag.topology.graph import NetworkView, PlaceKind, Published, Topology
from netdiag.topology.inventory import IndexedNamespace, LinkId, NamespaceFacts
from netdiag.topology.published_ports import ANY_ADDRESS

Change = Callable[[Topology], Topology]
_UP = IFF_UP | IFF_RUNNING | IFF_LOWER_UP
# Of what is made up: far from what a kernel gives.
_INDEX, _PID, _INODE = 60_001, 1 << 30, 2


def with_facts(topology: Topology, netns: int, change: Callable[[NamespaceFacts], NamespaceFacts]) -> Topology:
    """The topology with other facts of one namespace."""
    inventory = topology.inventory
    facts = inventory.namespaces.get(netns)
    if facts is None:
        return topology
    return replace(topology, inventory=replace(inventory, namespaces={**inventory.namespaces, netns: change(facts)}))


def in_sequence(first: Change, second: Change) -> Change:
    """Both changes, one after the other."""
    return lambda topology: second(first(topology))


def without_rule(netns: int, address: RuleAddress) -> Change:
    """Without one rule, or with a policy that accepts."""
    return _with_rule(netns, address, lambda _: None)


def with_accepting_rule(netns: int, address: RuleAddress) -> Change:
    """With a rule that accepts instead of dropping."""
    accept = Expression(name="verdict", fields={"verdict": "accept"})

    def accepts(rule: FilterRule) -> FilterRule:
        kept = tuple(accept if one.name == "verdict" else one for one in rule.expressions)
        return replace(rule, expressions=kept)

    return _with_rule(netns, address, accepts)


def _with_rule(netns: int, address: RuleAddress, make: Callable[[FilterRule], FilterRule | None]) -> Change:
    def of_chain(table: Table, chain: Chain) -> Chain:
        same = (table.family, table.name, table.origin, chain.name)
        if same != (address.family, address.table, address.origin, address.chain):
            return chain
        if not address.number:
            return replace(chain, policy="accept")
        made = (rule if rule.number != address.number else make(rule) for rule in chain.rules)
        return replace(chain, rules=tuple(rule for rule in made if rule is not None))

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        tables = tuple(
            replace(table, chains=tuple(of_chain(table, chain) for chain in table.chains))
            for table in facts.ruleset.tables
        )
        return replace(facts, ruleset=replace(facts.ruleset, tables=tables))

    return lambda topology: with_facts(topology, netns, of_facts)


def with_listener(netns: int, port: int, *, six: bool = False) -> Change:
    """With a listener on all addresses, instead of the one on the port."""

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        old = next((one for one in facts.listeners if one.port == port and one.protocol is Protocol.TCP), None)
        made = _listener(port, "::" if six else "0.0.0.0", old.pids if old is not None else ())
        rest = tuple(one for one in facts.listeners if one is not old)
        return replace(facts, listeners=(*rest, made))

    return lambda topology: with_facts(topology, netns, of_facts)


def with_empty_queue(netns: int, listener: Listener) -> Change:
    """With no connections in the backlog of a listener."""

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        return replace(
            facts, listeners=tuple(replace(one, queue=0) if one == listener else one for one in facts.listeners)
        )

    return lambda topology: with_facts(topology, netns, of_facts)


def with_unpaused(container: Container) -> Change:
    """With a paused container running."""
    running = replace(container, state=replace(container.state, status=Status.RUNNING))
    return lambda topology: replace(topology, containers={**topology.containers, container.id: running})


def with_resumed(pid: int) -> Change:
    """With a stopped process running."""

    def change(topology: Topology) -> Topology:
        processes = {
            number: replace(one, state="S") if number == pid else one
            for number, one in topology.inventory.processes.items()
        }
        return replace(topology, inventory=replace(topology.inventory, processes=processes))

    return change


def with_forwarding(netns: int) -> Change:
    """With forwarding on in a namespace."""
    return lambda topology: with_facts(
        topology,
        netns,
        lambda facts: replace(facts, settings=replace(facts.settings, ip_forward=True, ipv6_forwarding=True)),
    )


def with_bridge_filter(netns: int) -> Change:
    """With bridged frames going through the packet filter of a namespace."""
    return lambda topology: with_facts(
        topology, netns, lambda facts: replace(facts, settings=replace(facts.settings, bridge_nf_call_iptables=True))
    )


def with_link(at: LinkId, **what: object) -> Change:
    """With other attributes of a link."""

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        links = tuple(
            replace(one, **what) if one.ifindex == at.ifindex else one  # type: ignore[arg-type]
            for one in facts.links
        )
        return replace(facts, links=links)

    return lambda topology: with_facts(topology, at.netns, of_facts)


def with_link_up(at: LinkId, topology: Topology) -> Change:
    """With a link and its other end up; bridge ports that were off because of it forward again."""
    facts = topology.inventory.namespaces.get(at.netns)
    end = facts.ends.get(at.ifindex) if facts is not None else None

    def up(link: Link) -> Link:
        port = {**link.port, "state": "forwarding"} if link.port_kind == "bridge" else link.port
        return replace(link, flags=link.flags | _UP, port=port)

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        mine = {one.ifindex for one in (at, end) if one is not None and one.netns == facts.netns.inode}
        links = tuple(up(one) if mine & {one.ifindex, one.master} else one for one in facts.links)
        # the kernel forgets the routes of a device that goes down
        nets = {
            str(ipaddress.ip_network(f"{a.address}/{a.prefix_length}", strict=False)): a
            for a in facts.addresses
            if a.ifindex in mine and ":" not in a.address
        }
        known = {route.destination for route in facts.routes}
        back = tuple(_route(net, a.ifindex, a.address) for net, a in nets.items() if net not in known)
        return replace(facts, links=links, routes=(*facts.routes, *back))

    def change(topology: Topology) -> Topology:
        for netns in {one.netns for one in (at, end) if one is not None}:
            topology = with_facts(topology, netns, of_facts)
        return topology

    return change


def without_failed_neighbours(topology: Topology) -> Topology:
    """Without failed neighbour entries: after a change the kernel asks again."""
    silent = {"FAILED", "INCOMPLETE"}
    for netns, facts in topology.inventory.namespaces.items():
        if any(silent & set(one.states) for one in facts.neighbours):
            topology = with_facts(
                topology,
                netns,
                lambda f: replace(f, neighbours=tuple(n for n in f.neighbours if not silent & set(n.states))),
            )
    return topology


def without_neighbour(netns: int, address: str) -> Change:
    """Without a neighbour entry."""
    return lambda topology: with_facts(
        topology,
        netns,
        lambda facts: replace(facts, neighbours=tuple(n for n in facts.neighbours if n.address != address)),
    )


def with_route(netns: int, destination: str, gateway: str, ifindex: int) -> Change:
    """With one more route."""
    made = Route(
        family=4,
        destination=destination,
        table=254,
        type="unicast",
        scope=0 if gateway else 253,
        protocol=3,
        hops=(NextHop(gateway=gateway, ifindex=ifindex),),
    )
    return lambda topology: with_facts(topology, netns, lambda facts: replace(facts, routes=(*facts.routes, made)))


def with_network(netns: int, view: NetworkView, *, default: bool = False, address: str = "") -> Change:
    """With a namespace attached to a network of the engine; `default` makes its gateway the default one."""

    def change(topology: Topology) -> Topology:
        bridge = view.bridge
        facts = topology.inventory.namespaces.get(netns)
        host = topology.inventory.namespaces.get(bridge.netns) if bridge is not None else None
        if bridge is None or facts is None or host is None or not view.network.subnets:
            return topology
        net = ipaddress.ip_network(view.network.subnets[0], strict=False)
        own = address or free_address(topology, view)
        index, port = _free_index(facts), _free_index(host)
        inside, outside = LinkId(netns=netns, ifindex=index), LinkId(netns=bridge.netns, ifindex=port)
        eth = _link(index, f"eth{index}", "02:42:7f:00:00:01")
        veth = replace(
            _link(port, f"veth{port}", "02:42:7f:00:00:02"),
            master=bridge.ifindex,
            port_kind="bridge",
            port={"state": "forwarding", "hairpin": False, "isolated": False},
        )
        local = _route(f"{own}/32", index, own, local=True)
        routes = [local, _route(str(net), index, own)]
        if default and view.network.gateways:
            routes.append(
                replace(_route("0.0.0.0/0", index, own), hops=(_hop(view.network.gateways[0], index),), scope=0)
            )
        new = InterfaceAddress(ifindex=index, address=own, prefix_length=net.prefixlen, scope=0)
        topology = with_facts(
            topology,
            netns,
            lambda f: replace(
                f,
                links=(*f.links, eth),
                addresses=(*f.addresses, new),
                routes=(*(r for r in f.routes if not (default and r.destination == "0.0.0.0/0")), *routes),
                ends={**f.ends, index: outside},
            ),
        )
        return with_facts(
            topology, bridge.netns, lambda f: replace(f, links=(*f.links, veth), ends={**f.ends, port: inside})
        )

    return change


def with_started(container: Container, view: NetworkView, address: str, ports: tuple[int, ...]) -> Change:
    """With a container started on a network, in a made-up namespace, and listening on ports."""

    def change(topology: Topology) -> Topology:
        host = topology.inventory.namespaces[view.bridge.netns] if view.bridge is not None else None
        lo = Link(ifindex=1, ifname="lo", flags=_UP | IFF_LOOPBACK, mtu=65536, address="00:00:00:00:00:00")
        new = NamespaceFacts(
            netns=Netns(inode=_INODE, names=(container.name,)),
            links=(lo,),
            addresses=(InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),),
            routes=(_route("127.0.0.0/8", 1, "127.0.0.1", local=True),),
            rules=host.rules if host is not None else (),
            listeners=tuple(_listener(port, "0.0.0.0", ()) for port in ports),
        )
        inventory = replace(topology.inventory, namespaces={**topology.inventory.namespaces, _INODE: new})
        return with_network(_INODE, view, default=True, address=address)(replace(topology, inventory=inventory))

    return change


def with_docker_proxy(host: int, published: int, address: str, target: int) -> Change:
    """With a docker-proxy for a port."""
    words = ("-proto", "tcp", "-host-ip", "0.0.0.0", "-host-port", str(published))
    argv = ("docker-proxy", *words, "-container-ip", address, "-container-port", str(target))
    process = Process(pid=_PID, comm="docker-proxy", started=0, netns=host, argv=argv)

    def change(topology: Topology) -> Topology:
        inventory = replace(topology.inventory, processes={**topology.inventory.processes, _PID: process})
        changed = replace(topology, inventory=inventory)
        made = _listener(published, "0.0.0.0", (_PID,))
        return with_facts(
            changed,
            host,
            lambda facts: replace(facts, listeners=(*(o for o in facts.listeners if o.port != published), made)),
        )

    return change


def _listener(port: int, address: str, pids: tuple[int, ...]) -> Listener:
    family = 6 if ":" in address else 4
    return Listener(protocol=Protocol.TCP, family=family, address=address, port=port, inode=1, pids=pids, backlog=128)


def _link(index: int, name: str, lladdr: str) -> Link:
    return Link(ifindex=index, ifname=name, kind="veth", flags=_UP, mtu=1500, address=lladdr)


def _hop(gateway: str, index: int) -> NextHop:
    return NextHop(gateway=gateway, ifindex=index)


def _route(destination: str, index: int, source: str, *, local: bool = False) -> Route:
    return Route(
        family=4,
        destination=destination,
        table=255 if local else 254,
        type="local" if local else "unicast",
        scope=254 if local else 253,
        protocol=2,
        source=source,
        hops=(_hop("", index),),
    )


def _free_index(facts: NamespaceFacts) -> int:
    return max((_INDEX, *(link.ifindex + 1 for link in facts.links)))


def free_address(topology: Topology, view: NetworkView) -> str:
    """An address of a network that nobody is known to have."""
    net = ipaddress.ip_network(view.network.subnets[0], strict=False)
    taken = {a.address for facts in topology.inventory.namespaces.values() for a in facts.addresses}
    taken |= {n.address for facts in topology.inventory.namespaces.values() for n in facts.neighbours}
    last = int(net.broadcast_address)
    candidates = (str(type(net.network_address)(bits)) for bits in range(last - 1, max(last - 1000, 0), -1))
    return next((one for one in candidates if one not in taken), "")


def attach_to_network(connection: FailedConnection, *, without: str = "") -> Iterator[Remedy]:
    """Attach the client to a network of the target, and dial the target's address there."""
    owner = connection.owner(connection.path.address)
    if owner is None:
        return
    target = owner[0].inode
    own = {view.network.id for view in connection.networks_at(connection.path.source)}
    who, whom = connection.client_name, connection.place_name(target)
    if connection.container(connection.path.source) is None:
        return
    container = connection.container(target)
    for view in connection.networks_at(target):
        if view.network.name == without or not view.network.icc or view.bridge is None:
            continue
        endpoint = next((e for e in container.networks if e.network == view.network.name), None) if container else None
        if endpoint is None or not endpoint.addresses:
            continue
        dial = endpoint.addresses[0]
        if view.network.id in own:
            text = f"connect to {whom} by its address or name on network {view.network.name}, which {who} is also on"
            yield Remedy(text=text, destination=dial, port=connection.path.port)
        else:
            text = f"attach {who} to network {view.network.name}, which {whom} is on"
            change = with_network(connection.path.source, view)
            yield Remedy(text=text, change=change, destination=dial, port=connection.path.port)


def bypass_published_port(connection: FailedConnection) -> Iterator[Remedy]:
    """Dial the container's own port on one of its networks, instead of the published port."""
    port = connection.entered_by or next(iter(connection.published), None)
    container = connection.topology.containers.get(port.container) if port is not None else None
    if port is None or container is None:
        return
    who = connection.client_name
    own = {view.network.id for view in connection.networks_at(connection.path.source)}
    same = connection.container(connection.path.source) is container
    for view in connection.container_networks(container):
        endpoint = next((e for e in container.networks if e.network == view.network.name), None)
        if endpoint is None or not endpoint.addresses or view.bridge is None:
            continue
        dial = "127.0.0.1" if same else endpoint.addresses[0]
        name = "localhost" if same else container.name
        if same or (view.network.id in own and view.network.icc):
            yield Remedy(text=f"connect to {name}:{port.target} instead", destination=dial, port=port.target)
        elif view.network.icc:
            text = f"attach {who} to network {view.network.name}, and connect to {container.name}:{port.target}"
            change = with_network(connection.path.source, view)
            yield Remedy(text=text, change=change, destination=dial, port=port.target)
    yield Remedy(text="enable the userland proxy, or connect over a network that both are on")


def leave_internal_network(connection: FailedConnection) -> Iterator[Remedy]:
    """Attach the client to a network of the target, or to one that is not internal."""
    yield from attach_to_network(connection)
    yield from bypass_published_port(connection) if connection.published else ()
    for view in connection.topology.networks:
        if view.bridge is None or view.network.internal or not view.network.subnets:
            continue
        text = f"attach {connection.client_name} to {view.network.name}, which is not internal"
        yield Remedy(text=text, change=with_network(connection.path.source, view, default=True))
        return


def publish(connection: FailedConnection) -> Iterator[Remedy]:
    """For a client outside: dial a published port, or publish one."""
    owner = connection.owner(connection.path.address)
    container = connection.container(owner[0].inode) if owner is not None else None
    port = connection.path.port
    if container is None:
        return
    there = next(
        (p for p in connection.topology.published if p.in_force and (p.container, p.target) == (container.id, port)),
        None,
    )
    host = host_address(connection)
    if there is not None and host:
        text = f"connect to {host}:{there.published}, where {container.name} publishes the port"
        yield Remedy(text=text, destination=host, port=there.published)
        return
    yield publish_port(connection, container, port)


def publish_port(connection: FailedConnection, container: Container, port: int) -> Remedy:
    """Publish a port of a container under the same number."""
    made = Published(
        key="",
        host_ip="0.0.0.0",
        published=port,
        protocol="tcp",
        container=container.id,
        target=port,
        asked=True,
        in_force=True,
    )
    to_host = connection.is_host_address(connection.path.address) or connection.path.address.startswith("127.")
    dial = connection.path.address if to_host else host_address(connection)
    text = f"publish {port}:{port} of {container.name}"
    text += "" if to_host else f", and connect to {dial}:{port}"
    return Remedy(text=text, change=with_published_port(connection, made), destination=dial, port=port)


def with_published_port(connection: FailedConnection, port: Published) -> Change | None:
    """With a port published on all addresses by a docker-proxy; None without a running container."""
    container = connection.topology.containers.get(port.container)
    netns = connection.netns_of(container) if container is not None else None
    namespace = connection.index.namespace(netns) if netns is not None else None
    host = connection.host
    if container is None or namespace is None or host is None:
        return None
    address = next((a for e in container.networks for a in e.addresses), "")
    if not address:
        return None
    return with_docker_proxy(host, port.published, address, port.target)


def listen(
    connection: FailedConnection, namespace: IndexedNamespace, port: int, own: list[int], *, behind: bool
) -> Iterator[Remedy]:
    """Listen on the port, or dial or publish a port on which somebody listens."""
    who = connection.place_name(namespace.inode)
    yield Remedy(text=f"make {who} listen on 0.0.0.0:{port}", change=with_listener(namespace.inode, port))
    if behind and connection.host is not None and (process := next(connection.proxies(), None)) is not None and own:
        published = connection.path.port
        address = next((a for a in namespace.own if ":" not in a and not a.startswith("127.")), "")
        if process is not None and address:
            text = f"publish {published}:{own[0]} instead: {who} listens there"
            yield Remedy(text=text, change=with_docker_proxy(connection.host, published, address, own[0]))
    elif not behind and connection.container(namespace.inode) is not None:
        for one in own[:2]:
            text = f"connect to port {one}, on which {who} listens"
            yield Remedy(text=text, destination=connection.path.address, port=one)


def dial_listening_container(connection: FailedConnection, port: int) -> Iterator[Remedy]:
    """Dial a container that listens on the port which a client dialled on its own loopback."""
    own = {view.network.id for view in connection.networks_at(connection.path.source)}
    for container in containers_listening(connection, port):
        for view in connection.container_networks(container):
            endpoint = next((e for e in container.networks if e.network == view.network.name), None)
            if endpoint is not None and endpoint.addresses and view.network.id in own:
                text = f"connect to {container.name}:{port} (advertise {container.name}, not localhost)"
                yield Remedy(text=text, destination=endpoint.addresses[0], port=port)
                return
    if any(p.in_force for p in connection.published):
        yield from bypass_published_port(connection)
    if connection.source is not None:
        change = with_listener(connection.path.source, port)
        yield Remedy(text=f"make {connection.client_name} itself listen on port {port}", change=change)


def start(connection: FailedConnection, container: Container, port: int, *, published: int = 0) -> Remedy:
    """Start a container; as configured, it would listen on the port that is published or dialled."""
    text = start_container(container.name)
    for view in connection.container_networks(container):
        if view.bridge is None or not view.network.subnets:
            continue
        address = free_address(connection.topology, view)
        first = with_started(container, view, address, (port,))
        if not published or connection.host is None:
            return Remedy(text=text, change=first, destination=address, port=port)
        second = with_docker_proxy(connection.host, published, address, port)
        return Remedy(text=text, change=in_sequence(first, second))
    return Remedy(text=text)


def reconnect(connection: FailedConnection, container: Container, asked: Published) -> Remedy:
    """Attach a container that is on no network to one again."""
    netns = connection.netns_of(container)
    view = next((v for v in connection.topology.networks if v.bridge is not None and not v.network.internal), None)
    if netns is None or view is None or connection.host is None or not view.network.subnets:
        return Remedy(text=f"attach {container.name} to a network again")
    address = free_address(connection.topology, view)
    first = with_network(netns, view, default=True, address=address)
    second = with_docker_proxy(connection.host, asked.published, address, asked.target)
    text = f"attach {container.name} to network {view.network.name} again: docker network connect"
    return Remedy(text=text, change=in_sequence(first, second))


def containers_listening(connection: FailedConnection, port: int) -> Iterator[Container]:
    """Containers in which a program listens on a port for others."""
    for place in connection.topology.places:
        if place.kind is not PlaceKind.CONTAINER or not place.containers:
            continue
        facts = connection.topology.inventory.namespaces.get(place.netns)
        container = connection.topology.containers.get(place.containers[0])
        for one in facts.listeners if facts is not None else ():
            if one.port == port and one.protocol is Protocol.TCP and one.address in ANY_ADDRESS:
                if container is not None:
                    yield container
                break


def host_address(connection: FailedConnection) -> str:
    """The address of the docker host for other machines."""
    namespace = connection.host_namespace
    if namespace is None:
        return ""
    bridges = {view.bridge.ifindex for view in connection.topology.networks if view.bridge is not None}
    return next(
        (
            a.address
            for a in namespace.facts.addresses
            if ":" not in a.address and a.scope == 0 and a.ifindex not in bridges and not a.address.startswith("127.")
        ),
        "",
    )
