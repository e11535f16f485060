"""Topologies written out: two brokers on a bridge, as an engine with DNAT and docker-proxies makes them."""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.engine.container import Container, parse_container, parse_network
from netdiag.linux.procfs import Process
from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.topology.graph import (
    Cable,
    CableKind,
    Hop,
    HopKind,
    KafkaListener,
    Member,
    NetworkView,
    Path,
    PathEnd,
    Place,
    PlaceKind,
    Published,
    Reach,
    Topology,
    Unmatched,
)
from netdiag.topology.inventory import Inventory, Unread
from tests.render.topology.namespaces import HOST, broker_facts, broker_id, broker_netns, dnat, host_facts, link_of

SECRET = "hunter2-in-the-environment"


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


def _path(source: int, destination: str, port: int, end: PathEnd, because: str, target: int | None = None) -> Path:
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
            end = PathEnd.CONNECTED if inside else PathEnd.UNRESOLVED
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
                PathEnd.CONNECTED if works else PathEnd.REFUSED,
                "java accepts" if works else f"nothing listens on 127.0.0.1:{9090 + number} there",
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


def cluster(brokers: int = 2, *, reach: bool = True) -> Topology:
    """Brokers on one bridge, each with a listener for its network and one that is published for the host."""
    numbers = range(1, brokers + 1)
    bridge = link_of(HOST, 3)
    cables = [
        *(
            Cable(kind=CableKind.VETH, a=link_of(HOST, 10 + number), b=link_of(broker_netns(number), 2))
            for number in numbers
        ),
        *(Cable(kind=CableKind.PORT, a=link_of(HOST, 10 + number), b=bridge) for number in numbers),
    ]
    return Topology(
        inventory=Inventory(
            namespaces={
                HOST: host_facts(brokers),
                **{broker_netns(number): broker_facts(number) for number in numbers},
            },
            own=HOST,
            root=HOST,
            processes={process.pid: process for process in _processes(brokers)},
            unread=(Unread(what="process 17", because="no right to look into it"),),
            hostname="workstation",
            kernel="6.18.44",
        ),
        places=(
            Place(netns=HOST, kind=PlaceKind.HOST, name="host", label="host"),
            *(_place(number) for number in numbers),
        ),
        cables=tuple(cables),
        networks=(NetworkView(network=_NETWORK, bridge=bridge, members=tuple(_member(n) for n in numbers)),),
        published=tuple(_published(number) for number in numbers),
        listeners=tuple(listener for number in numbers for listener in _listeners(number)),
        reach=reach_of(brokers) if reach else (),
        unmatched=(Unmatched(subject="network demo_old", because="no bridge of this machine is it"),),
        host="host",
        engine="Engine 28.5.2 at unix:///var/run/docker.sock",
        userland_proxy=True,
        containers={broker_id(number): _container(number) for number in numbers},
    )


def _place(number: int) -> Place:
    return Place(
        netns=broker_netns(number),
        kind=PlaceKind.CONTAINER,
        name=f"broker-{number}",
        label=f"broker-{number}",
        containers=(broker_id(number),),
        services=(f"broker-{number}",),
    )


def _member(number: int) -> Member:
    return Member(
        container=broker_id(number),
        address=f"172.18.0.{number + 1}",
        inside=link_of(broker_netns(number), 2),
        port=link_of(HOST, 10 + number),
    )


def _processes(brokers: int) -> Iterator[Process]:
    yield Process(pid=1, comm="systemd", started=1, netns=HOST)
    yield Process(pid=50, comm="dockerd", started=5, netns=HOST, parent=1)
    yield Process(pid=60, comm="sshd", started=6, netns=HOST, parent=1)
    for number in range(1, brokers + 1):
        yield Process(
            pid=100 + number, comm="java", started=9, netns=broker_netns(number), container_id=broker_id(number)
        )
        argv = ("docker-proxy", "-host-port", f"{9090 + number}")
        yield Process(pid=200 + number, comm="docker-proxy", started=9, netns=HOST, parent=50, argv=argv)


_NETWORK = parse_network(
    {
        "Id": "0a1b2c3d4e5f" + "0" * 52,
        "Name": "demo_kafka",
        "Driver": "bridge",
        "IPAM": {"Config": [{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}]},
    }
)
