"""Changes to a topology: a rule taken away, a device brought up, a container attached, a socket bound anew.

Each is a function that gives another topology; the one before stays as it is.
"""

import ipaddress
from collections.abc import Callable
from dataclasses import replace

from netdiag.engine.container import Container, Status
from netdiag.linux.address import InterfaceAddress
from netdiag.linux.link import IFF_LOOPBACK, IFF_LOWER_UP, IFF_RUNNING, IFF_UP, Link
from netdiag.linux.netns import Netns
from netdiag.linux.process import Process
from netdiag.linux.route import NextHop, Route
from netdiag.linux.ruleset import Chain, Expression, FilterRule, RuleAddress, Table
from netdiag.linux.socket import Listener, Protocol
from netdiag.topology.graph import NetworkView, Topology
from netdiag.topology.inventory import LinkId, NamespaceFacts

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


def both(first: Change, second: Change) -> Change:
    """One after the other."""
    return lambda topology: second(first(topology))


def without_rule(netns: int, address: RuleAddress) -> Change:
    """One rule less, or a policy that accepts."""
    return _with_rule(netns, address, lambda _: None)


def accepting(netns: int, address: RuleAddress) -> Change:
    """A rule that accepts where it dropped."""
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


def bound_everywhere(netns: int, port: int, *, six: bool = False) -> Change:
    """A listener on all addresses, in the place of those on the port, or besides none."""

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        old = next((one for one in facts.listeners if one.port == port and one.protocol is Protocol.TCP), None)
        made = _listener(port, "::" if six else "0.0.0.0", old.pids if old is not None else ())
        rest = tuple(one for one in facts.listeners if one is not old)
        return replace(facts, listeners=(*rest, made))

    return lambda topology: with_facts(topology, netns, of_facts)


def relieved(netns: int, listener: Listener) -> Change:
    """A queue that is empty."""

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        return replace(
            facts, listeners=tuple(replace(one, queue=0) if one == listener else one for one in facts.listeners)
        )

    return lambda topology: with_facts(topology, netns, of_facts)


def unpaused(container: Container) -> Change:
    """A container that runs."""
    running = replace(container, state=replace(container.state, status=Status.RUNNING))
    return lambda topology: replace(topology, containers={**topology.containers, container.id: running})


def continued(pid: int) -> Change:
    """A process that is not stopped."""

    def change(topology: Topology) -> Topology:
        processes = {
            number: replace(one, state="S") if number == pid else one
            for number, one in topology.inventory.processes.items()
        }
        return replace(topology, inventory=replace(topology.inventory, processes=processes))

    return change


def forwarding(netns: int) -> Change:
    """A namespace that passes packets on."""
    return lambda topology: with_facts(
        topology,
        netns,
        lambda facts: replace(facts, settings=replace(facts.settings, ip_forward=True, ipv6_forwarding=True)),
    )


def filtering_bridged(netns: int) -> Change:
    """A namespace whose bridges ask the packet filter."""
    return lambda topology: with_facts(
        topology, netns, lambda facts: replace(facts, settings=replace(facts.settings, bridge_nf_call_iptables=True))
    )


def changed_link(at: LinkId, **what: object) -> Change:
    """A device that is otherwise."""

    def of_facts(facts: NamespaceFacts) -> NamespaceFacts:
        links = tuple(
            replace(one, **what) if one.ifindex == at.ifindex else one  # type: ignore[arg-type]
            for one in facts.links
        )
        return replace(facts, links=links)

    return lambda topology: with_facts(topology, at.netns, of_facts)


def link_up(at: LinkId, topology: Topology) -> Change:
    """A device that is up, with both ends of its cable; bridge ports that were off for its sake forward again."""
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


def asked_anew(topology: Topology) -> Topology:
    """Neighbours that did not answer are asked again once something has changed."""
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
    """A neighbour table that does not know an address."""
    return lambda topology: with_facts(
        topology,
        netns,
        lambda facts: replace(facts, neighbours=tuple(n for n in facts.neighbours if n.address != address)),
    )


def routed(netns: int, destination: str, gateway: str, ifindex: int) -> Change:
    """One more route."""
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


def attached(netns: int, view: NetworkView, *, default: bool = False, address: str = "") -> Change:
    """A namespace with one more device, on a network of the engine; `default` makes its gateway that of all."""

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


def started(container: Container, view: NetworkView, address: str, ports: tuple[int, ...]) -> Change:
    """A container that runs, in a namespace that is made up, and listens on ports."""

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
        return attached(_INODE, view, default=True, address=address)(replace(topology, inventory=inventory))

    return change


def proxied(host: int, published: int, address: str, target: int) -> Change:
    """A docker-proxy."""
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
