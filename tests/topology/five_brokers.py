"""Topologies for tests of whatever takes one: five brokers as they should be, the same with hostile names, a crowd.

What they hold is what a docker host with Docker 28 and its userland proxy has; `machine` lets tests break it.
"""

from dataclasses import replace

from netdiag.engine.container import Status
from netdiag.linux.rtnetlink import Link
from netdiag.topology.graph import Topology
from tests.topology.machine import Machine

KAFKA = "apache/kafka:3.9.1"
HOSTILE_TEXT = "<script>alert(1)</script>\x1b[31m\"'`]};-->\u202e${x}\n"
SECRET = "hunter2-hunter2"


def five_brokers() -> Topology:
    """Five brokers, a client on two networks, a web UI on loopback, and an init container that has ended."""
    return machine().topology()


def machine(*, userland_proxy: bool = True) -> Machine:
    """The same before it is joined."""
    made = Machine(userland_proxy=userland_proxy)
    made.network("bridge", "172.17.0.0/16", bridge="docker0", default=True)
    kafka = made.network("shop_kafka", "172.18.0.0/16")
    front = made.network("shop_front", "172.19.0.0/16")
    for number in range(1, 6):
        _broker(made, number, kafka, 5)
    made.container("shop-client-1", service="client", networks=(kafka, front), comm="kcat", command=("sleep", "inf"))
    made.container(
        "shop-ui-1",
        image="ghcr.io/kafbat/kafka-ui:v1.5.0",
        service="ui",
        networks=(kafka,),
        ports=(("127.0.0.1", 8080, 8080),),
        listens=(8080,),
        command=("java", "-jar", "ui.jar"),
    )
    made.container(
        "shop-init-1", service="init", networks=(kafka,), status=Status.EXITED, command=("kafka-topics", "--create")
    )
    lan = made.space(names=("lan",))
    lan.loopback()
    return made


def hostile() -> Topology:
    """Two brokers among names that nobody should trust: of containers, networks, devices, processes, rules."""
    made = Machine()
    network = made.network(f"net {HOSTILE_TEXT}", "172.18.0.0/16", bridge='br"]<b>&x')
    for number in (1, 2):
        _broker(made, number, network, 2)
    made.container(
        HOSTILE_TEXT,
        service=HOSTILE_TEXT,
        networks=(network,),
        comm="</svg><script>",
        environment={"KAFKA_PASSWORD": SECRET},
        ports=(("", 9100, 9100),),
        listens=(9100,),
    )
    space = made.space(names=(HOSTILE_TEXT, "host"))
    space.loopback()
    made.host.add(
        Link(ifindex=made.host.free_index(), ifname="<i>&\"'\x1b[0m", kind="wat\x07", alias=HOSTILE_TEXT, mtu=1500)
    )
    comment = f'-m comment --comment "{SECRET} \x1b[31m<b>"'
    made.nat.append(f"-A DOCKER -p tcp -m tcp --dport 1 {comment} -j DNAT --to-destination 10.9.9.9:1")
    return made.topology()


def crowd(count: int = 200) -> Topology:
    """That many containers, twenty on a network, the first five of each network brokers of one cluster."""
    made = Machine()
    for index in range(count):
        group, place = divmod(index, 20)
        name = f"team{group}_net"
        if place == 0:
            made.network(name, f"172.{20 + group // 200}.{group % 200}.0/24")
        if place < 5:
            _broker(made, index + 1, name, 5, first=group * 20 + 1, project=f"team{group}")
        else:
            service = f"app-{place}"
            made.container(
                f"team{group}-{service}-1",
                service=service,
                project=f"team{group}",
                networks=(name,),
                comm="app",
                command=("app",),
                listens=(8000,),
            )
    return made.topology()


def without_brokers(topology: Topology) -> Topology:
    """The same machine where nobody runs Kafka."""
    return replace(topology, listeners=(), deployment=None)


def _broker(made: Machine, number: int, network: str, count: int, *, first: int = 1, project: str = "shop") -> None:
    service = f"broker-{number - first + 1}"
    port = 9090 + number
    voters = ",".join(f"{first + index}@broker-{index + 1}:19093" for index in range(count))
    made.container(
        f"{project}-{service}-1",
        image=KAFKA,
        service=service,
        project=project,
        networks=(network,),
        ports=(("", port, port),),
        listens=(29092, port, 19093),
        environment={
            "CLUSTER_ID": "5L6g3nShT-eMCtK--X86sw",
            "KAFKA_NODE_ID": str(number),
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": voters,
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "KAFKA_INTER_BROKER_LISTENER_NAME": "INTERNAL",
            "KAFKA_LISTENERS": f"INTERNAL://0.0.0.0:29092,EXTERNAL://0.0.0.0:{port},CONTROLLER://:19093",
            "KAFKA_ADVERTISED_LISTENERS": f"INTERNAL://{service}:29092,EXTERNAL://localhost:{port}",
            "KAFKA_SASL_PASSWORD": SECRET,
        },
    )
