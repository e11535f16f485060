"""One network namespace put together from literals, with all that the kernel would say of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network

from netdiag.linux.address import InterfaceAddress
from netdiag.linux.kernel_settings import KernelSettings
from netdiag.linux.link import IFF_LOOPBACK, IFF_LOWER_UP, IFF_RUNNING, IFF_UP, Link
from netdiag.linux.neighbour import FdbEntry, Neighbour
from netdiag.linux.netns import Netns, NetnsSource
from netdiag.linux.route import NextHop, Route, RoutingRule
from netdiag.linux.ruleset import Ruleset
from netdiag.linux.socket import Listener, Protocol
from netdiag.topology.inventory import LinkId, NamespaceFacts

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
