"""One network namespace put together from literals, with all that the kernel would say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_network

from netdiag.linux.netns import Netns, NetnsSource
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import (
    IFF_LOOPBACK,
    IFF_LOWER_UP,
    IFF_RUNNING,
    IFF_UP,
    Detail,
    FdbEntry,
    InterfaceAddress,
    KernelSettings,
    Link,
    Neighbour,
    NextHop,
    Route,
    RoutingRule,
)
from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, Ruleset, Table
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts

ROOT = 4026531840
UP = IFF_UP | IFF_RUNNING | IFF_LOWER_UP
_RULES = tuple(
    RoutingRule(family=4, priority=priority, action="lookup", table=table)
    for priority, table in ((0, 255), (32766, 254), (32767, 253))
)


@dataclass(slots=True, kw_only=True)
class Space:
    """One namespace that is being filled."""

    inode: int
    names: tuple[str, ...] = ()
    mounts: tuple[str, ...] = ()
    pids: list[int] = field(default_factory=list)
    links: dict[int, Link] = field(default_factory=dict)
    addresses: list[InterfaceAddress] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    fdb: list[FdbEntry] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)
    ends: dict[int, LinkId] = field(default_factory=dict)
    ruleset: Ruleset = field(default_factory=Ruleset)
    settings: KernelSettings = field(default_factory=KernelSettings)

    def add(self, link: Link) -> LinkId:
        """A device."""
        self.links[link.ifindex] = link
        return LinkId(netns=self.inode, ifindex=link.ifindex)

    def free_index(self) -> int:
        """The next ifindex."""
        return max(self.links, default=0) + 1

    def loopback(self) -> None:
        """The device that is always there."""
        flags, none = UP | IFF_LOOPBACK, "00:00:00:00:00:00"
        self.add(Link(ifindex=1, ifname="lo", type=772, flags=flags, mtu=65536, address=none))
        self.address(1, "127.0.0.1", 8, scope=254)

    def address(self, ifindex: int, address: str, length: int, *, scope: int = 0) -> None:
        """An address with the routes that come with it."""
        label = self.links[ifindex].ifname
        self.addresses.append(
            InterfaceAddress(ifindex=ifindex, address=address, prefix_length=length, scope=scope, label=label)
        )
        self._route(ifindex, f"{address}/32", table=255, type_="local", scope=254, source=address)
        if scope == 0:
            net = str(ip_network(f"{address}/{length}", strict=False))
            self._route(ifindex, net, table=254, type_="unicast", scope=253, source=address)

    def _route(self, ifindex: int, destination: str, *, table: int, type_: str, scope: int, source: str) -> None:
        self.routes.append(
            Route(
                family=4,
                destination=destination,
                table=table,
                type=type_,
                scope=scope,
                protocol=2,
                source=source,
                hops=(NextHop(gateway="", ifindex=ifindex),),
            )
        )

    def default_route(self, ifindex: int, gateway: str) -> None:
        """The way out."""
        way = (NextHop(gateway=gateway, ifindex=ifindex),)
        self.routes.append(
            Route(family=4, destination="0.0.0.0/0", table=254, type="unicast", scope=0, protocol=3, hops=way)
        )

    def listen(
        self, port: int, *, pids: Sequence[int], address: str = "0.0.0.0", protocol: Protocol = Protocol.TCP
    ) -> None:
        """A listening socket."""
        inode = self.inode % 100000 * 100 + len(self.listeners) + 1
        backlog = 0 if protocol is Protocol.UDP else 128
        self.listeners.append(
            Listener(
                protocol=protocol,
                family=6 if ":" in address else 4,
                address=address,
                port=port,
                inode=inode,
                pids=tuple(pids),
                backlog=backlog,
            )
        )

    def facts(self) -> NamespaceFacts:
        """All of it as a value."""
        sources = [NetnsSource.PROCESS] if self.pids else []
        sources += [NetnsSource.BIND_MOUNT] if self.mounts or self.names else []
        return NamespaceFacts(
            netns=Netns(
                inode=self.inode,
                cookie=self.inode - ROOT + 1,
                names=self.names,
                mounts=self.mounts,
                pids=tuple(sorted(self.pids)),
                process_count=len(self.pids),
                sources=tuple(sources),
            ),
            links=tuple(self.links.values()),
            addresses=tuple(self.addresses),
            routes=tuple(self.routes),
            rules=_RULES,
            neighbours=tuple(self.neighbours),
            fdb=tuple(self.fdb),
            listeners=tuple(self.listeners),
            ruleset=self.ruleset,
            settings=self.settings,
            ends=dict(self.ends),
        )


@dataclass(slots=True, kw_only=True)
class Wires:
    """A machine of namespaces that is being filled; names are the tests' own."""

    spaces: dict[str, Space] = field(default_factory=dict)
    processes: dict[int, Process] = field(default_factory=dict)

    def space(self, name: str, *, forward: bool = False, **settings: object) -> Space:
        """One more namespace, with lo."""
        made = Space(inode=ROOT + 10 + len(self.spaces), names=(name,))
        made.loopback()
        made.settings = KernelSettings(ip_forward=forward, **settings)  # type: ignore[arg-type]
        self.spaces[name] = made
        return made

    def device(self, space: str, name: str, kind: str = "", address: str = "", **more: object) -> LinkId:
        """A device, up, with an address (10.0.0.1/24)."""
        owner = self.spaces[space]
        index = owner.free_index()
        mac = f"02:00:00:00:{owner.inode % 256:02x}:{index:02x}"
        link = Link(ifindex=index, ifname=name, kind=kind, flags=UP, mtu=1500, address=mac)
        made = owner.add(replace(link, **more))  # type: ignore[arg-type]
        if address:
            ip, _, length = address.partition("/")
            owner.address(index, ip, int(length))
        return made

    def pair(self, a: tuple[str, str, str], b: tuple[str, str, str], **port: Detail) -> tuple[LinkId, LinkId]:
        """A veth pair; each end is (space, name, address). `port` are facts of the second end as a bridge's port."""
        one, other = self.device(a[0], a[1], "veth", a[2]), self.device(b[0], b[1], "veth", b[2])
        self.spaces[a[0]].ends[one.ifindex] = other
        self.spaces[b[0]].ends[other.ifindex] = one
        if port:
            self.change(other, port_kind="bridge", port=port)
        return one, other

    def bridged(self, space: str, address: str, host: str, bridge: LinkId, **port: Detail) -> LinkId:
        """A namespace on a bridge: its eth0; the port is called after it."""
        inside, outside = self.pair((space, "eth0", address), (host, f"v{space}", ""))
        self.change(outside, master=bridge.ifindex, port_kind="bridge", port={"state": "forwarding", **port})
        return inside

    def change(self, at: LinkId, **what: object) -> None:
        """Change a device."""
        owner = next(space for space in self.spaces.values() if space.inode == at.netns)
        owner.links[at.ifindex] = replace(owner.links[at.ifindex], **what)  # type: ignore[arg-type]

    def route(self, space: str, destination: str, via: str = "", dev: int | None = None, **more: object) -> None:
        """A route; its type, table and so on in `more`."""
        words: dict[str, object] = {"table": 254, "type": "unicast", "scope": 0, "protocol": 3, **more}
        hops = () if dev is None else (NextHop(gateway=via, ifindex=dev),)
        self.spaces[space].routes.append(Route(family=4, destination=destination, hops=hops, **words))  # type: ignore[arg-type]

    def netns(self, name: str) -> int:
        """The inode of a namespace."""
        return self.spaces[name].inode

    @property
    def inventory(self) -> Inventory:
        """All of it as a value."""
        return Inventory(
            namespaces={space.inode: space.facts() for space in self.spaces.values()},
            own=ROOT,
            processes=self.processes,
        )


def two_on_a_bridge(**port: Detail) -> Wires:
    """a and b on bridge br0 of host, 10.0.0.1, .2 and .254; b listens on 9092. `port` are facts of both ports."""
    made = Wires()
    made.space("host", forward=True)
    made.space("a")
    made.space("b")
    bridge = made.device("host", "br0", "bridge", "10.0.0.254/24")
    made.bridged("a", "10.0.0.1/24", "host", bridge, **port)
    made.bridged("b", "10.0.0.2/24", "host", bridge, **port)
    made.spaces["b"].listen(9092, pids=())
    return made


def rules(hook: str, *chain: FilterRule, type: str = "filter", policy: str = "accept", priority: int = 0) -> Ruleset:
    """A ruleset of one base chain."""
    made = Chain(name=hook.upper(), rules=chain, hook=hook, type=type, policy=policy, priority=priority)
    return Ruleset(tables=(Table(family="ip", name="t", origin=Origin.NFTABLES, chains=(made,)),))


def rule(number: int, text: str, *expressions: tuple[str, Mapping[str, Detail]]) -> FilterRule:
    """A rule of these expressions."""
    steps = tuple(Expression(name=name, fields=fields) for name, fields in expressions)
    return FilterRule(number=number, handle=number, expressions=steps, text=text, packets=0, bytes=0)
