"""Topologies written out: two brokers on a bridge, as an engine with DNAT and docker-proxies makes them."""

from dataclasses import replace

from netdiag.engine.container import Container, parse_container
from netdiag.engine.network import parse_network
from netdiag.linux.address import InterfaceAddress
from netdiag.linux.kernel_settings import KernelSettings
from netdiag.linux.link import IFF_LOOPBACK, IFF_LOWER_UP, IFF_UP, Link
from netdiag.linux.neighbour import FdbEntry, Neighbour
from netdiag.linux.netns import Netns, NetnsSource
from netdiag.linux.process import Process
from netdiag.linux.route import NextHop, Route, RoutingRule
from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, RuleAddress, Ruleset, Table
from netdiag.linux.socket import Listener, Protocol
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
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts, Unread

HOST = 4026531840
UP = IFF_UP | IFF_LOWER_UP
SECRET = "hunter2-in-the-environment"


def link_of(netns: int, ifindex: int) -> LinkId:
    return LinkId(netns=netns, ifindex=ifindex)


def loopback() -> Link:
    return Link(ifindex=1, ifname="lo", type=772, flags=UP | IFF_LOOPBACK, mtu=65536)


def broker_netns(number: int) -> int:
    return 4026532000 + number


def broker_id(number: int) -> str:
    return f"{number:064x}"


def dnat(number: int) -> str:
    port = 9090 + number
    return (
        f"-A DOCKER ! -i br-0a1b2c3d4e5f -p tcp -m tcp --dport {port} "
        f"-j DNAT --to-destination 172.18.0.{number + 1}:{port}"
    )


def _broker_facts(number: int) -> NamespaceFacts:
    address = f"172.18.0.{number + 1}"
    return NamespaceFacts(
        netns=Netns(
            inode=broker_netns(number),
            cookie=4096 + number,
            pids=(100 + number,),
            process_count=1,
            sources=(NetnsSource.PROCESS, NetnsSource.BIND_MOUNT),
        ),
        links=(
            loopback(),
            Link(
                ifindex=2,
                ifname="eth0",
                kind="veth",
                flags=UP,
                mtu=1500,
                address=f"02:42:ac:12:00:0{number + 1}",
                operstate="UP",
                link=10 + number,
                link_netnsid=0,
            ),
        ),
        addresses=(
            InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),
            InterfaceAddress(ifindex=2, address=address, prefix_length=16, scope=0),
        ),
        routes=(
            Route(
                family=4,
                destination="0.0.0.0/0",
                table=254,
                type="unicast",
                scope=0,
                protocol=3,
                hops=(NextHop(gateway="172.18.0.1", ifindex=2),),
            ),
        ),
        listeners=(
            Listener(protocol=Protocol.TCP, family=6, address="::", port=29092, inode=501, pids=(100 + number,)),
            Listener(
                protocol=Protocol.TCP, family=6, address="::", port=9090 + number, inode=502, pids=(100 + number,)
            ),
            Listener(protocol=Protocol.TCP, family=4, address="127.0.0.11", port=40000 + number, inode=503, pids=(50,)),
        ),
        nsids={0: HOST},
        ends={2: link_of(HOST, 10 + number)},
    )


def _host_facts(brokers: int) -> NamespaceFacts:
    ports = tuple(
        Link(
            ifindex=10 + number,
            ifname=f"veth{number}a2b3c4",
            kind="veth",
            flags=UP,
            mtu=1500,
            address=f"f6:00:00:00:00:0{number}",
            operstate="UP",
            master=3,
            link=2,
            link_netnsid=number,
            port_kind="bridge",
            port={"state": "forwarding", "hairpin": False},
        )
        for number in range(1, brokers + 1)
    )
    bridge = {"stp_state": 0, "vlan_filtering": 0}
    rules = tuple(
        FilterRule(
            number=number,
            handle=number,
            expressions=(Expression(name="xt:DNAT", fields={"to": f"172.18.0.{number + 1}"}),),
            text=dnat(number),
            packets=3,
            bytes=180,
        )
        for number in range(1, brokers + 1)
    )
    return NamespaceFacts(
        netns=Netns(inode=HOST, cookie=1, pids=(1, 50), process_count=90, sources=(NetnsSource.OWN,)),
        links=(
            loopback(),
            Link(ifindex=2, ifname="eth0", flags=UP, mtu=1500, address="52:54:00:00:00:01", operstate="UP"),
            Link(
                ifindex=3, ifname="br-0a1b2c3d4e5f", kind="bridge", flags=UP, mtu=1500, operstate="UP", details=bridge
            ),
            *ports,
        ),
        addresses=(
            InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),
            InterfaceAddress(ifindex=2, address="192.0.2.10", prefix_length=24, scope=0),
            InterfaceAddress(ifindex=3, address="172.18.0.1", prefix_length=16, scope=0),
            InterfaceAddress(ifindex=3, address="fe80::1", prefix_length=64, scope=253),
        ),
        routes=(
            Route(
                family=4,
                destination="0.0.0.0/0",
                table=254,
                type="unicast",
                scope=0,
                protocol=4,
                hops=(NextHop(gateway="192.0.2.1", ifindex=2),),
            ),
        ),
        rules=(RoutingRule(family=4, priority=32766, action="lookup", table=254),),
        neighbours=(Neighbour(ifindex=3, address="172.18.0.2", lladdr="02:42:ac:12:00:02", states=("REACHABLE",)),),
        fdb=(FdbEntry(ifindex=11, lladdr="02:42:ac:12:00:02", master=3, state="", flags=()),),
        listeners=(
            Listener(protocol=Protocol.TCP, family=4, address="0.0.0.0", port=22, inode=11, pids=(60,)),
            Listener(protocol=Protocol.TCP, family=6, address="::", port=22, inode=12, v6only=True, pids=(60,)),
            *(
                Listener(
                    protocol=Protocol.TCP,
                    family=4,
                    address="0.0.0.0",
                    port=9090 + number,
                    inode=20 + number,
                    pids=(200 + number,),
                )
                for number in range(1, brokers + 1)
            ),
        ),
        ruleset=Ruleset(
            tables=(
                Table(
                    family="ip",
                    name="nat",
                    origin=Origin.IPTABLES_NFT,
                    chains=(
                        Chain(name="PREROUTING", hook="prerouting", type="nat", priority=-100, policy="accept"),
                        Chain(name="DOCKER", rules=rules),
                    ),
                ),
            )
        ),
        settings=KernelSettings(ip_forward=True, bridge_nf_call_iptables=True, rp_filter=(("all", 0),)),
        nsids={number: broker_netns(number) for number in range(1, brokers + 1)},
        ends={10 + number: link_of(broker_netns(number), 2) for number in range(1, brokers + 1)},
    )


def _container(number: int) -> Container:
    port = f"{9090 + number}"
    return parse_container(
        {
            "Id": broker_id(number),
            "Name": f"/broker-{number}",
            "State": {"Status": "running", "Pid": 100 + number},
            "Config": {
                "Image": "apache/kafka:4.1.0",
                "Env": [f"KAFKA_SSL_KEYSTORE_PASSWORD={SECRET}"],
                "Cmd": ["start", f"--password={SECRET}"],
                "Labels": {
                    "com.docker.compose.project": "demo",
                    "com.docker.compose.service": f"broker-{number}",
                    "secret": SECRET,
                },
                "Hostname": f"broker-{number}",
            },
            "HostConfig": {
                "NetworkMode": "demo_kafka",
                "PortBindings": {f"{port}/tcp": [{"HostIp": "", "HostPort": port}]},
            },
            "NetworkSettings": {
                "Ports": {f"{port}/tcp": [{"HostIp": "0.0.0.0", "HostPort": port}]},
                "Networks": {
                    "demo_kafka": {
                        "NetworkID": "0a1b2c3d4e5f" + "0" * 52,
                        "IPAddress": f"172.18.0.{number + 1}",
                        "Gateway": "172.18.0.1",
                        "Aliases": [f"broker-{number}"],
                    }
                },
            },
        }
    )


def _listeners(number: int) -> tuple[KafkaListener, KafkaListener]:
    pids = (100 + number,)
    internal = KafkaListener(
        key=f"broker-{number}/INTERNAL",
        broker=f"broker-{number}",
        container=broker_id(number),
        node_id=number,
        listener="INTERNAL",
        security_protocol="PLAINTEXT",
        bind=("0.0.0.0", 29092),
        advertised=(f"broker-{number}", 29092),
        bound=("::",),
        pids=pids,
    )
    external = replace(
        internal,
        key=f"broker-{number}/EXTERNAL",
        listener="EXTERNAL",
        bind=("0.0.0.0", 9090 + number),
        advertised=("localhost", 9090 + number),
        published=(f"0.0.0.0:{9090 + number}/tcp",),
    )
    return internal, external


def _published(number: int) -> Published:
    return Published(
        key=f"0.0.0.0:{9090 + number}/tcp",
        host_ip="0.0.0.0",
        published=9090 + number,
        protocol="tcp",
        container=broker_id(number),
        target=9090 + number,
        asked=True,
        in_force=True,
        dnat=(dnat(number),),
        proxies=(200 + number,),
        to_address=f"172.18.0.{number + 1}",
        pids=(100 + number,),
    )


def _path(source: int, destination: str, port: int, end: End, because: str, target: int | None = None) -> Path:
    rule = RuleAddress(
        family="ip",
        table="nat",
        chain="DOCKER",
        number=1,
        handle=1,
        text=dnat(1),
        origin=Origin.IPTABLES_NFT,
    )
    hops = (
        Hop(kind=HopKind.RESOLVER, netns=source, what=f"{destination} is 127.0.0.1", details={"by": "hosts"}),
        Hop(kind=HopKind.NAT, netns=source, what="to 172.18.0.2", link=link_of(source, 1), rules=(rule,)),
    )
    return Path(
        source=source,
        destination=destination,
        port=port,
        address="127.0.0.1" if destination == "localhost" else "",
        hops=hops,
        end=end,
        because=because,
        target=target,
    )


def reach_of(brokers: int) -> tuple[Reach, ...]:
    """The host has no names of containers; containers have nobody on their own localhost but the broker itself."""
    found: list[Reach] = []
    sources = [("host", HOST), *((f"broker-{number}", broker_netns(number)) for number in range(1, brokers + 1))]
    for number in range(1, brokers + 1):
        for name, netns in sources:
            inside = name != "host"
            end = End.CONNECTED if inside else End.UNRESOLVED
            because = f"java accepts on port 29092 of broker-{number}" if inside else "the host knows no such name"
            path = _path(netns, f"broker-{number}", 29092, end, because, broker_netns(number) if inside else None)
            found.append(
                Reach(
                    listener=f"broker-{number}/INTERNAL",
                    source=name,
                    destination=f"broker-{number}",
                    port=29092,
                    advertised=True,
                    path=path,
                )
            )
            works = name in ("host", f"broker-{number}")
            path = _path(
                netns,
                "localhost",
                9090 + number,
                End.CONNECTED if works else End.REFUSED,
                "java accepts" if works else f"nobody listens on 127.0.0.1:{9090 + number} there",
            )
            found.append(
                Reach(
                    listener=f"broker-{number}/EXTERNAL",
                    source=name,
                    destination="localhost",
                    port=9090 + number,
                    advertised=True,
                    path=path,
                )
            )
    return tuple(found)


def cluster(brokers: int = 2) -> Topology:
    """Brokers on one bridge, each with a listener for its network and one that is published for the host."""
    numbers = range(1, brokers + 1)
    processes = (
        Process(pid=1, comm="systemd", started=1, netns=HOST),
        Process(pid=50, comm="dockerd", started=5, netns=HOST, parent=1),
        Process(pid=60, comm="sshd", started=6, netns=HOST, parent=1),
        *(
            Process(
                pid=100 + number, comm="java", started=9, netns=broker_netns(number), container_id=broker_id(number)
            )
            for number in numbers
        ),
        *(
            Process(
                pid=200 + number,
                comm="docker-proxy",
                started=9,
                netns=HOST,
                parent=50,
                argv=("docker-proxy", "-host-port", f"{9090 + number}"),
            )
            for number in numbers
        ),
    )
    network = parse_network(
        {
            "Id": "0a1b2c3d4e5f" + "0" * 52,
            "Name": "demo_kafka",
            "Driver": "bridge",
            "IPAM": {"Config": [{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}]},
        }
    )
    return Topology(
        inventory=Inventory(
            namespaces={
                HOST: _host_facts(brokers),
                **{broker_netns(number): _broker_facts(number) for number in numbers},
            },
            own=HOST,
            root=HOST,
            processes={process.pid: process for process in processes},
            unread=(Unread(what="process 17", because="no right to look into it"),),
            hostname="workstation",
            kernel="6.18.44",
        ),
        places=(
            Place(netns=HOST, kind=PlaceKind.HOST, name="host", label="host"),
            *(
                Place(
                    netns=broker_netns(number),
                    kind=PlaceKind.CONTAINER,
                    name=f"broker-{number}",
                    label=f"broker-{number}",
                    containers=(broker_id(number),),
                    services=(f"broker-{number}",),
                )
                for number in numbers
            ),
        ),
        cables=(
            *(
                Cable(kind=CableKind.VETH, a=link_of(HOST, 10 + number), b=link_of(broker_netns(number), 2))
                for number in numbers
            ),
            *(Cable(kind=CableKind.PORT, a=link_of(HOST, 10 + number), b=link_of(HOST, 3)) for number in numbers),
        ),
        networks=(
            NetworkView(
                network=network,
                bridge=link_of(HOST, 3),
                members=tuple(
                    Member(
                        container=broker_id(number),
                        address=f"172.18.0.{number + 1}",
                        inside=link_of(broker_netns(number), 2),
                        port=link_of(HOST, 10 + number),
                    )
                    for number in numbers
                ),
            ),
        ),
        published=tuple(_published(number) for number in numbers),
        listeners=tuple(listener for number in numbers for listener in _listeners(number)),
        reach=reach_of(brokers),
        unmatched=(Unmatched(subject="network demo_old", because="no bridge of this machine is it"),),
        host="host",
        engine="Engine 28.5.2 at unix:///var/run/docker.sock",
        userland_proxy=True,
        containers={broker_id(number): _container(number) for number in numbers},
    )
