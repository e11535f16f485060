"""A docker host with brokers and clients, as the join would give it, of any size; for tests of pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from netdiag.engine.container import Container, ContainerState, EndpointSettings, Status
from netdiag.engine.network import EngineNetwork
from netdiag.linux.address import InterfaceAddress
from netdiag.linux.link import Link
from netdiag.linux.netns import Netns
from netdiag.linux.process import Process
from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.topology.graph import (
    Cable,
    CableKind,
    KafkaListener,
    Member,
    NetworkView,
    Place,
    PlaceKind,
    Published,
    Reach,
    Topology,
    Unmatched,
)
from netdiag.topology.hops import End, Hop, HopKind, Path
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts

HOST = 4026531840
_UP = 0x11043


@dataclass(kw_only=True)
class Machine:
    """What is built up, namespace by namespace; `topology` gives the whole."""

    facts: dict[int, NamespaceFacts] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    cables: list[Cable] = field(default_factory=list)
    networks: dict[str, NetworkView] = field(default_factory=dict)
    containers: dict[str, Container] = field(default_factory=dict)
    published: list[Published] = field(default_factory=list)
    listeners: list[KafkaListener] = field(default_factory=list)
    reach: list[Reach] = field(default_factory=list)
    unmatched: list[Unmatched] = field(default_factory=list)
    processes: dict[int, Process] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.facts[HOST] = NamespaceFacts(netns=Netns(inode=HOST))
        self.places.append(Place(netns=HOST, kind=PlaceKind.HOST, name="host", label="host"))
        self.device(HOST, "lo", flags=_UP | 0x8, addresses=("127.0.0.1",))
        self.device(HOST, "eth0", addresses=("192.168.7.2",))

    def device(self, netns: int, name: str, *, addresses: Sequence[str] = (), **facts: Any) -> LinkId:
        """One more device of a namespace, with its addresses."""
        old = self.facts[netns]
        link = replace(Link(ifindex=len(old.links) + 1, ifname=name, flags=_UP, operstate="UP"), **facts)
        found = tuple(
            InterfaceAddress(
                ifindex=link.ifindex, address=a, prefix_length=24, scope=254 if a.startswith("127.") else 0
            )
            for a in addresses
        )
        self.facts[netns] = replace(old, links=(*old.links, link), addresses=(*old.addresses, *found))
        return LinkId(netns=netns, ifindex=link.ifindex)

    def network(self, name: str, *, internal: bool = False) -> None:
        """A network of the engine with its bridge."""
        number = len(self.networks) + 18
        bridge = self.device(HOST, f"br-{number:012x}", kind="bridge", addresses=(f"172.{number}.0.1",))
        network = EngineNetwork(
            id=f"{number:064x}",
            name=name,
            driver="bridge",
            internal=internal,
            subnets=(f"172.{number}.0.0/16",),
            gateways=(f"172.{number}.0.1",),
            default_bridge=False,
            bridge_name=f"br-{number:012x}",
        )
        self.networks[name] = NetworkView(network=network, bridge=bridge)

    def namespace(self, name: str, *, kind: PlaceKind = PlaceKind.NAMED, **place: Any) -> int:
        """One more namespace and its place."""
        netns = HOST + 100 + len(self.places)
        self.facts[netns] = NamespaceFacts(netns=Netns(inode=netns))
        self.places.append(replace(Place(netns=netns, kind=kind, name=name, label=name), **place))
        self.device(netns, "lo", flags=_UP | 0x8)
        return netns

    def container(self, name: str, *networks: str, status: Status = Status.RUNNING) -> str:
        """A container on these networks, with a veth pair into each bridge; its id."""
        identifier = f"{len(self.containers) + 1:064x}"
        running = status is Status.RUNNING
        self.containers[identifier] = Container(
            id=identifier,
            name=name,
            image="apache/kafka:4.1.0",
            image_id="",
            state=ContainerState(status=status, pid=1000 if running else 0, exit_code=0, oom_killed=False, error=""),
            entrypoint=(),
            command=(),
            environment={},
            labels={},
            hostname=name,
            domainname="",
            network_mode="",
            extra_hosts=(),
            networks=tuple(
                EndpointSettings(network=n, network_id="", aliases=(), ipv4_address="", ipv6_address="", gateway="")
                for n in networks
            ),
            ports=(),
            requested_ports=(),
            restart_count=0,
        )
        if running:
            netns = self.namespace(
                name, kind=PlaceKind.CONTAINER, containers=(identifier,), services=(name.rstrip("-0123456789"),)
            )
            for network in networks:
                self._plug(identifier, netns, network)
        return identifier

    def _plug(self, identifier: str, netns: int, network: str) -> None:
        view = self.networks[network]
        number = len(view.members) + 2
        address = f"{view.network.gateways[0].rsplit('.', 2)[0]}.{number // 250}.{number % 250}"
        bridge = view.bridge
        assert bridge is not None
        inside = self.device(netns, f"eth{len(self.facts[netns].links) - 1}", kind="veth", addresses=(address,))
        port = self.device(HOST, f"veth{netns:x}"[:15], kind="veth", master=bridge.ifindex, port_kind="bridge")
        self.cables.append(Cable(kind=CableKind.VETH, a=port, b=inside))
        self.cables.append(Cable(kind=CableKind.PORT, a=port, b=bridge))
        member = Member(container=identifier, address=address, inside=inside, port=port)
        self.networks[network] = replace(view, members=(*view.members, member))

    def address_of(self, identifier: str) -> str:
        """The first address of a container."""
        found = (m.address for view in self.networks.values() for m in view.members if m.container == identifier)
        return next(found, "")

    def publish(self, identifier: str, published: int, target: int, *, host_ip: str = "0.0.0.0") -> str:
        """A published port by both ways; its key."""
        key = f"{host_ip}:{published}/tcp"
        address = self.address_of(identifier)
        proxy = 5000 + len(self.processes)
        self.processes[proxy] = Process(pid=proxy, comm="docker-proxy", started=1, netns=HOST)
        rule = f"-A DOCKER ! -i br0 -p tcp -m tcp --dport {published} -j DNAT --to-destination {address}:{target}"
        self.published.append(
            Published(
                key=key,
                host_ip=host_ip,
                published=published,
                protocol="tcp",
                container=identifier,
                target=target,
                asked=True,
                in_force=True,
                dnat=() if ":" in host_ip else (rule,),
                proxies=(proxy,),
                to_address=address,
                pids=(1000,),
            )
        )
        return key

    def listener(
        self,
        identifier: str,
        name: str,
        port: int,
        advertised: tuple[str, int] | None,
        published: tuple[str, ...] = (),
        bind: str = "0.0.0.0",
    ) -> KafkaListener:
        """A listener of the broker that runs in a container."""
        broker = self.containers[identifier].name
        found = KafkaListener(
            key=f"{broker}/{name}",
            broker=broker,
            container=identifier,
            node_id=1,
            listener=name,
            security_protocol="PLAINTEXT",
            bind=(bind, port),
            advertised=advertised,
            controller=advertised is None,
            bound=(bind,),
            pids=(1000,),
            published=published,
        )
        self.listeners.append(found)
        return found

    def way(self, listener: KafkaListener, source: str, host: str, port: int, end: End, because: str) -> None:
        """One traced way to a listener."""
        place = next(p for p in self.places if p.name == source)
        target = next((p.netns for p in self.places if listener.container in p.containers), None)
        rule = RuleAddress(
            family="ip", table="filter", chain="DOCKER", number=4, handle=7, text="-A DOCKER -j DROP",
            origin=Origin.IPTABLES_NFT,
        )  # fmt: skip
        hops = (
            Hop(kind=HopKind.RESOLVER, netns=place.netns, what=f"{host} is 172.18.0.9"),
            Hop(kind=HopKind.ROUTE, netns=place.netns, what="172.18.0.0/16 is on eth0"),
            Hop(kind=HopKind.FILTER, netns=HOST, what=because, rules=(rule,) if end is End.DROPPED else ()),
        )
        path = Path(
            source=place.netns, destination=host, port=port, address="172.18.0.9", hops=hops, end=end,
            because=because, target=target if end is End.CONNECTED else None,
        )  # fmt: skip
        advertised = (host, port) == listener.advertised
        self.reach.append(
            Reach(listener=listener.key, source=source, destination=host, port=port, advertised=advertised, path=path)
        )

    def topology(self) -> Topology:
        """All of it."""
        return Topology(
            inventory=Inventory(namespaces=self.facts, own=HOST, processes=self.processes, hostname="dev-box"),
            places=tuple(self.places),
            cables=tuple(self.cables),
            networks=tuple(self.networks.values()),
            published=tuple(self.published),
            listeners=tuple(self.listeners),
            reach=tuple(self.reach),
            unmatched=tuple(self.unmatched),
            host="host",
            engine="Docker Engine 29.1",
            userland_proxy=True,
            containers=self.containers,
        )


def machine(containers: int = 10, *, brokers: int = 5) -> Machine:
    """So many containers, brokers among them: half of the clients on a network of their own, one in ten on both."""
    built = Machine()
    groups = max(1, (containers - brokers) // 25)
    built.network("kafka-net")
    for index in range(groups):
        built.network(f"apps-{index + 1}")
    built.network("default")
    for index in range(1, brokers + 1):
        _broker(built, index)
    for index in range(1, containers - brokers + 1):
        own = f"apps-{index % groups + 1}"
        shared = ("kafka-net",) if index % 5 == 1 else ("kafka-net", own) if index % 10 == 3 else (own,)
        stopped = index % 7 == 5
        built.container(f"client-{index}", *shared, status=Status.EXITED if stopped else Status.RUNNING)
    built.unmatched.append(
        Unmatched(
            subject="vethdead01",
            because="its other end is in no namespace that can be seen",
            link=built.device(HOST, "vethdead01", kind="veth"),
        )
    )
    for source, listener in _pairs(built):
        _ways(built, source, listener)
    return built


def _broker(built: Machine, index: int) -> None:
    identifier = built.container(f"broker-{index}", "kafka-net")
    keys = (
        built.publish(identifier, 19091 + index, 9094),
        built.publish(identifier, 19091 + index, 9094, host_ip="::"),
    )
    built.listener(identifier, "INTERNAL", 9092, (f"broker-{index}", 9092), bind="*")
    built.listener(identifier, "EXTERNAL", 9094, ("localhost", 19091 + index), keys)
    built.listener(identifier, "CONTROLLER", 9093, None)


def _pairs(built: Machine) -> Iterator[tuple[Place, KafkaListener]]:
    yield from ((p, listener) for p in built.places for listener in built.listeners if not listener.controller)


def _ways(built: Machine, source: Place, listener: KafkaListener) -> None:
    near = {m.container for m in built.networks["kafka-net"].members}
    host, port = listener.advertised or ("", 0)
    if listener.listener == "INTERNAL":
        if source.kind is PlaceKind.HOST:
            built.way(listener, source.name, host, port, End.UNRESOLVED, f"nobody here knows the name {host}")
        elif set(source.containers) & near:
            built.way(listener, source.name, host, port, End.CONNECTED, "pid 1000 (java) accepts")
        else:
            built.way(listener, source.name, host, port, End.UNRESOLVED, f"no network of it has a {host}")
    elif source.kind is PlaceKind.HOST:
        built.way(listener, source.name, host, port, End.CONNECTED, "docker-proxy passes it on to pid 1000 (java)")
    else:
        built.way(listener, source.name, host, port, End.REFUSED, "localhost is the container itself: nobody listens")
        gateway = "192.168.7.2"
        built.way(listener, source.name, gateway, port, End.CONNECTED, "DNAT leads to pid 1000 (java)")
