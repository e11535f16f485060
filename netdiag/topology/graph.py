"""The join: namespaces as people know them, cables between them, networks, published ports, Kafka listeners.

`Topology` is what every renderer, every rule about topologies and `trace` take. `netdiag.topology.join` makes it of an
inventory, of what the engine says (if one was asked) and of the deployment that runs there. What cannot be matched
stays in, and is named in `unmatched`.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from netdiag.engine.container import Container, EngineNetwork
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import RuleAddress
from netdiag.topology.inventory import Inventory, LinkId
from netdiag.topology.segments import Segment, segments
from netdiag.values import dataclass

if TYPE_CHECKING:
    from netdiag.deployment.model.deployment import Deployment


class PathEnd(StrEnum):
    """How a connection attempt ends; the value is the word users see."""

    CONNECTED = "connected"
    REFUSED = "refused"
    DROPPED = "dropped"
    NO_ROUTE = "no-route"
    NO_NEIGHBOUR = "no-neighbour"
    UNRESOLVED = "unresolved"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class HopKind(StrEnum):
    """What decides at a hop; the value is the word users see."""

    RESOLVER = "resolver"
    ROUTE = "route"
    NEIGHBOUR = "neighbour"
    LINK = "link"
    BRIDGE = "bridge"
    FILTER = "filter"
    NAT = "nat"
    CONNTRACK = "conntrack"
    PROXY = "proxy"
    SOCKET = "socket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One decision: where (`netns` by inode, `link` where a device is meant), what was decided in one line.

    `rules` are the packet filter rules that decided, the last one first; `details` further facts for JSON.
    """

    kind: HopKind
    netns: int
    what: str
    link: LinkId | None = None
    rules: tuple[RuleAddress, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The way of a connection's first packet from a namespace to an address, and of the answer back.

    `destination` is as it was asked for, a name or an address; `address` what it resolved to, "" for nothing. `because`
    tells the end in one line: the rule, the missing route, the socket's program. `errno` is what the client's program
    is told ("ECONNREFUSED"), "" for success and for silence. `target` is the namespace where the way ends and `pids`
    who answers there.
    """

    source: int
    destination: str
    port: int
    address: str
    hops: tuple[Hop, ...]
    end: PathEnd
    because: str
    errno: str = ""
    target: int | None = None
    pids: tuple[int, ...] = ()


class PlaceKind(StrEnum):
    """What a namespace is to people; the value is the word users see.

    MACHINE is where this machine's first process lives, when the docker host is another namespace.
    """

    HOST = "host"
    CONTAINER = "container"
    MACHINE = "machine"
    NAMED = "netns"
    PROCESS = "process"
    UNOWNED = "unowned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A namespace under the name people know it by.

    `name` is unique in its topology and the same in the next one: "host" (the docker host), a container's name, the
    name of `ip netns`, "pid 17 (java)", "net:[4026532217]". `containers` are ids of all that share it, its owner first;
    `services` their compose services. `label` is for pictures, may repeat, and says less.
    """

    netns: int
    kind: PlaceKind
    name: str
    label: str
    containers: tuple[str, ...] = ()
    services: tuple[str, ...] = ()


class CableKind(StrEnum):
    """How two devices hang together; the value is the word users see."""

    VETH = "veth"
    NETKIT = "netkit"
    PORT = "port"
    PARENT = "parent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """Two devices that hang together.

    A pair (VETH, NETKIT) stands once, `a` being the one of lower (netns, ifindex); of PORT `a` is the port and `b` its
    bridge, bond or VRF; of PARENT `a` is the vlan, macvlan, ipvlan, vxlan and `b` what it stands on.
    """

    kind: CableKind
    a: LinkId
    b: LinkId


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A container on a network: its device there and the bridge port that it hangs from, None where not found.

    `container` is its id. A container that does not run has no address; on macvlan and ipvlan nobody has a port.
    """

    container: str
    address: str
    inside: LinkId | None
    port: LinkId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkView:
    """A network of the engine and the device that it is: `bridge` None where there is none or it is not found.

    Of a macvlan or ipvlan network `bridge` is the parent.
    """

    network: EngineNetwork
    bridge: LinkId | None
    members: tuple[Member, ...] = ()


class PublishedBy(StrEnum):
    """What makes a published port work for whom; the value is the word users see."""

    DNAT = "dnat"
    PROXY = "docker-proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A port of the docker host that leads into a container, from the request to the socket behind it.

    `key` is "host_ip:published/protocol", IPv6 in brackets, and names the container, too, where another one has that
    port already. `container` is an id; `published` 0 is a port that the engine has not chosen. `asked` is what the
    container's configuration asks for, `in_force` what the engine reports now. `dnat` are the NAT rules that rewrite
    to it, as text; `proxies` the docker-proxies, by pid, that listen for it. `to_address` is the container's address
    that both lead to, "" when neither exists. `pids` hold the socket there on the container's port, empty where nobody
    listens; None where that cannot be seen.
    """

    key: str
    host_ip: str
    published: int
    protocol: str
    container: str
    target: int
    asked: bool
    in_force: bool
    dnat: tuple[str, ...] = ()
    proxies: tuple[int, ...] = ()
    to_address: str = ""
    pids: tuple[int, ...] | None = None

    @property
    def by(self) -> tuple[PublishedBy, ...]:
        """What makes it work."""
        return tuple(by for by, there in ((PublishedBy.DNAT, self.dnat), (PublishedBy.PROXY, self.proxies)) if there)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaListener:
    """A listener of a broker as it is configured, joined with the socket that serves it and the ports that lead to it.

    `key` is "broker/LISTENER". `bind` and `advertised` are (host, port), `advertised` None for one that tells clients
    nothing (controllers). `bound` are the addresses where a socket really listens on the port in the broker's
    namespace, None where that cannot be seen; `published` are keys of `Published` that lead to its port.
    """

    key: str
    broker: str
    container: str
    node_id: int | None
    listener: str
    security_protocol: str
    bind: tuple[str, int]
    advertised: tuple[str, int] | None
    controller: bool = False
    bound: tuple[str, ...] | None = None
    pids: tuple[int, ...] = ()
    published: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Who reaches a listener by which address: from the place named `source`, dialling `destination`, and the way."""

    listener: str
    source: str
    destination: str
    port: int
    advertised: bool
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTraffic:
    """What a capture shows of Kafka on a device, summed over connections; bytes are payload of TCP.

    `captured` is False where the capture was made elsewhere and the addresses tell that it passed here. `failed` are
    connections that never came about.
    """

    link: LinkId
    captured: bool = False
    connections: int = 0
    failed: int = 0
    requests: int = 0
    responses: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    retransmissions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched:
    """Something that has no counterpart where it should have one: `subject`, and one line about it."""

    subject: str
    because: str
    link: LinkId | None = None


# Without slots: what several rules ask for is worked out once and kept.
@dataclasses.dataclass(frozen=True, kw_only=True)
class Topology:
    """Everything joined. `host` is the name of the place that is the docker host, "" without an engine here.

    `containers` are by id, `engine` tells which engine was asked in one line, or why none was; `deployment` is None
    without one. `reach` is empty until `netdiag.topology.path.reach.with_reach` has filled it, `traffic` until
    `netdiag.topology.traffic.with_traffic` has laid a capture over it. `whole` is what it was narrowed from, None for
    all of it.
    """

    inventory: Inventory
    places: tuple[Place, ...]
    cables: tuple[Cable, ...] = ()
    networks: tuple[NetworkView, ...] = ()
    published: tuple[Published, ...] = ()
    listeners: tuple[KafkaListener, ...] = ()
    reach: tuple[Reach, ...] = ()
    reach_note: str = ""
    unmatched: tuple[Unmatched, ...] = ()
    traffic: Mapping[LinkId, LinkTraffic] = field(default_factory=dict)
    host: str = ""
    engine: str = ""
    userland_proxy: bool | None = None
    containers: Mapping[str, Container] = field(default_factory=dict)
    deployment: "Deployment | None" = None
    whole: "Topology | None" = None

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Who shares a cable with whom."""
        return segments(self.inventory)

    def place(self, netns: int) -> Place | None:
        """The place of a namespace."""
        return self._by_netns.get(netns)

    def named(self, name: str) -> Place | None:
        """The place of that name."""
        return next((place for place in self.places if place.name == name), None)

    @cached_property
    def _by_netns(self) -> Mapping[int, Place]:
        return {place.netns: place for place in reversed(self.places)}
