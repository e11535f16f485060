"""Namespaces put together from literals and wired up: what walks go through in tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from netdiag.linux.kernel_settings import KernelSettings
from netdiag.linux.link import Detail, Link
from netdiag.linux.process import Process
from netdiag.linux.route import NextHop, Route
from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, Ruleset, Table
from netdiag.topology.inventory import Inventory, LinkId
from tests.topology.spaces import ROOT, UP, Space


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
