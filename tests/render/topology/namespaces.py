"""The namespaces of a cluster written out: what the kernel has of a docker host and of the brokers on its bridge."""

from netdiag.linux.netns import Netns, NetnsSource
from netdiag.linux.rtnetlink import (
    IFF_LOOPBACK,
    IFF_LOWER_UP,
    IFF_UP,
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
from netdiag.topology.inventory import LinkId, NamespaceFacts

HOST = 4026531840
UP = IFF_UP | IFF_LOWER_UP


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


def broker_facts(number: int) -> NamespaceFacts:
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
        routes=(_default_route("172.18.0.1"),),
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


def host_facts(brokers: int) -> NamespaceFacts:
    numbers = range(1, brokers + 1)
    return NamespaceFacts(
        netns=Netns(inode=HOST, cookie=1, pids=(1, 50), process_count=90, sources=(NetnsSource.OWN,)),
        links=(
            loopback(),
            Link(ifindex=2, ifname="eth0", flags=UP, mtu=1500, address="52:54:00:00:00:01", operstate="UP"),
            Link(
                ifindex=3,
                ifname="br-0a1b2c3d4e5f",
                kind="bridge",
                flags=UP,
                mtu=1500,
                operstate="UP",
                details={"stp_state": 0, "vlan_filtering": 0},
            ),
            *(_port(number) for number in numbers),
        ),
        addresses=(
            InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),
            InterfaceAddress(ifindex=2, address="192.0.2.10", prefix_length=24, scope=0),
            InterfaceAddress(ifindex=3, address="172.18.0.1", prefix_length=16, scope=0),
            InterfaceAddress(ifindex=3, address="fe80::1", prefix_length=64, scope=253),
        ),
        routes=(_default_route("192.0.2.1"),),
        rules=(RoutingRule(family=4, priority=32766, action="lookup", table=254),),
        neighbours=(Neighbour(ifindex=3, address="172.18.0.2", lladdr="02:42:ac:12:00:02", states=("REACHABLE",)),),
        fdb=(FdbEntry(ifindex=11, lladdr="02:42:ac:12:00:02", master=3, state="", flags=()),),
        listeners=(
            Listener(protocol=Protocol.TCP, family=4, address="0.0.0.0", port=22, inode=11, pids=(60,)),
            Listener(protocol=Protocol.TCP, family=6, address="::", port=22, inode=12, v6only=True, pids=(60,)),
            *(_proxy(number) for number in numbers),
        ),
        ruleset=_ruleset(brokers),
        settings=KernelSettings(ip_forward=True, bridge_nf_call_iptables=True, rp_filter=(("all", 0),)),
        nsids={number: broker_netns(number) for number in numbers},
        ends={10 + number: link_of(broker_netns(number), 2) for number in numbers},
    )


def _port(number: int) -> Link:
    return Link(
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


def _proxy(number: int) -> Listener:
    return Listener(
        protocol=Protocol.TCP,
        family=4,
        address="0.0.0.0",
        port=9090 + number,
        inode=20 + number,
        pids=(200 + number,),
    )


def _default_route(gateway: str) -> Route:
    return Route(
        family=4,
        destination="0.0.0.0/0",
        table=254,
        type="unicast",
        scope=0,
        protocol=3,
        hops=(NextHop(gateway=gateway, ifindex=2),),
    )


def _ruleset(brokers: int) -> Ruleset:
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
    prerouting = Chain(name="PREROUTING", hook="prerouting", type="nat", priority=-100, policy="accept")
    nat = Table(
        family="ip", name="nat", origin=Origin.IPTABLES_NFT, chains=(prerouting, Chain(name="DOCKER", rules=rules))
    )
    return Ruleset(tables=(nat,))


def cluster_link(ifindex: int, ifname: str, kind: str) -> Link:
    """A device that is up and nothing else."""
    return Link(ifindex=ifindex, ifname=ifname, kind=kind, flags=UP, mtu=1500)
