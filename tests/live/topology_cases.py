"""Defects of a docker host's network, each caused as it happens, with the one rule that must tell of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from netdiag.engine.container import PROJECT_LABEL
from tests.live.topology_scene import ADDRESSES, BRIDGE, GATEWAY, MACS, PORT, Scene

Cause = Callable[[Scene], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyCase:
    """A defect in words, how it is caused, and a word that the finding must have."""

    rule: str
    defect: str
    cause: Cause
    says: str


def on(place: str, *commands: str) -> Cause:
    """Commands in a namespace of the scene."""

    def cause(scene: Scene) -> None:
        for command in commands:
            scene.run(place, *command.split())

    return cause


def _orphaned_proxy(scene: Scene) -> None:
    scene.proxy("172.20.0.9", 9094)


def _port_taken(scene: Scene) -> None:
    scene.listen("host", 9095, name="nginx")
    error = "driver failed programming external connectivity: listen tcp4 0.0.0.0:9095: bind: address already in use"
    scene.add_container("late", asked=(9095,), error=error)


def _narrow_outside(scene: Scene) -> None:
    scene.run("host", "ip", "link", "set", "eth0", "mtu", "1400")
    scene.run("outside", "ip", "link", "set", "eth0", "mtu", "1400")


def _icc_off(scene: Scene) -> None:
    scene.network = replace(scene.network, icc=False)
    scene.switch("net/bridge/bridge-nf-call-iptables", "0")


def _loopback_only(scene: Scene) -> None:
    scene.end(scene.servers["kafka-1"])
    scene.listen("kafka-1", PORT, "127.0.0.1", name="java")


def _shared_name(scene: Scene) -> None:
    for name in ("kafka-1", "kafka-2"):
        container = scene.containers[name]
        named = replace(container.networks[0], aliases=(name, "kafka"))
        scene.containers[name] = replace(container, labels={PROJECT_LABEL: f"of-{name}"}, networks=(named,))


def _lost(scene: Scene) -> None:
    scene.run("host", "ip", "link", "add", "veth9", "type", "veth", "peer", "name", "gone")
    scene.run("host", "ip", "link", "set", "veth9", "master", BRIDGE)
    scene.lose("gone")


# Sticky: else a frame that the container happens to send takes the entry back to its own port.
_FDB = (
    f"ip neigh replace {ADDRESSES['kafka-1']} lladdr {MACS['kafka-1']} dev {BRIDGE} nud permanent",
    f"bridge fdb replace {MACS['kafka-1']} dev veth2 master static sticky",
)

CASES: tuple[TopologyCase, ...] = (
    TopologyCase(
        rule="topology-port-not-forwarding",
        defect="`ip link set veth1 down`",
        cause=on("host", "ip link set veth1 down"),
        says="kafka-1",
    ),
    TopologyCase(
        rule="topology-port-not-forwarding",
        defect="`bridge link set dev veth1 state 0`",
        cause=on("host", "bridge link set dev veth1 state 0"),
        says="its state is disabled",
    ),
    TopologyCase(
        rule="topology-port-not-forwarding",
        defect="`ip link set eth0 down` in the container",
        cause=on("kafka-2", "ip link set eth0 down"),
        says="eth0 of kafka-2 is down",
    ),
    TopologyCase(
        rule="topology-veth-peer-missing",
        defect="a namespace that only a socket on its way through a Unix socket holds",
        cause=_lost,
        says="veth9",
    ),
    TopologyCase(
        rule="topology-veth-unattached",
        defect="`ip link set veth1 nomaster`",
        cause=on("host", "ip link set veth1 nomaster"),
        says="eth0 of kafka-1",
    ),
    TopologyCase(
        rule="topology-duplicate-mac",
        defect="`ip link set eth0 address` of another container",
        cause=on("kafka-2", f"ip link set eth0 address {MACS['kafka-1']}"),
        says=MACS["kafka-1"],
    ),
    TopologyCase(
        rule="topology-duplicate-address",
        defect="`ip address add` of another container's address",
        cause=on("kafka-2", f"ip address add {ADDRESSES['kafka-1']}/16 dev eth0"),
        says=ADDRESSES["kafka-1"],
    ),
    TopologyCase(
        rule="topology-overlapping-subnets",
        defect="`ip address add 172.20.9.1/24 dev eth0` on the host",
        cause=on("host", "ip address add 172.20.9.1/24 dev eth0"),
        says="172.20.9.0/24",
    ),
    TopologyCase(
        rule="topology-mtu-shrinks",
        defect="`ip link set eth0 mtu 9000` in the container",
        cause=on("kafka-1", "ip link set eth0 mtu 9000"),
        says="9000",
    ),
    TopologyCase(
        rule="topology-mtu-shrinks",
        defect="MTU 1400 on the cable to the outside",
        cause=_narrow_outside,
        says="eth0 of host accepts 1400",
    ),
    TopologyCase(
        rule="topology-forwarding-off",
        defect="`sysctl net.ipv4.ip_forward=0`",
        cause=lambda scene: scene.switch("net/ipv4/ip_forward", "0"),
        says="IPv4",
    ),
    TopologyCase(
        rule="topology-dnat-stale",
        defect="a DNAT rule to an address that nobody has",
        cause=lambda scene: scene.dnat(9094, f"172.20.0.9:{PORT}"),
        says="172.20.0.9",
    ),
    TopologyCase(
        rule="topology-nat-missing",
        defect="`iptables -t nat -F DOCKER`",
        cause=on("host", "iptables-nft -t nat -F DOCKER"),
        says="0.0.0.0:9092/tcp",
    ),
    TopologyCase(
        rule="topology-published-unserved",
        defect="a DNAT rule to a port where nobody listens",
        cause=lambda scene: scene.dnat(7000, f"{ADDRESSES['kafka-2']}:7001"),
        says="7001",
    ),
    TopologyCase(
        rule="topology-proxy-missing",
        defect="docker-proxy killed",
        cause=lambda scene: scene.end(scene.servers["proxy"]),
        says="0.0.0.0:9092/tcp",
    ),
    TopologyCase(
        rule="topology-proxy-orphaned",
        defect="a docker-proxy for an address that nobody has",
        cause=_orphaned_proxy,
        says="172.20.0.9",
    ),
    TopologyCase(
        rule="topology-published-port-taken",
        defect="another process listens on the port, the container was not started",
        cause=_port_taken,
        says="nginx",
    ),
    TopologyCase(
        rule="topology-published-not-in-force",
        defect="a port that the configuration asks for and the engine does not report",
        cause=lambda scene: scene.add_container("kafka-2", asked=(9096,)),
        says="9096",
    ),
    TopologyCase(
        rule="topology-gateway-missing",
        defect="`ip address del` of the bridge's address",
        cause=on("host", f"ip address del {GATEWAY}/16 dev {BRIDGE}"),
        says=GATEWAY,
    ),
    TopologyCase(
        rule="topology-fdb-disagrees",
        defect="`bridge fdb replace` of a container's hardware address at another port",
        cause=on("host", *_FDB),
        says="go to port veth2",
    ),
    TopologyCase(
        rule="topology-fdb-disagrees",
        defect="`ip neigh replace` with another hardware address",
        cause=on(
            "host", f"ip neigh replace {ADDRESSES['kafka-2']} lladdr 02:00:00:00:00:99 dev {BRIDGE} nud permanent"
        ),
        says="02:00:00:00:00:99",
    ),
    TopologyCase(
        rule="topology-container-without-network",
        defect="`ip link delete eth0` in the container",
        cause=on("kafka-2", "ip link delete eth0"),
        says="kafka-2",
    ),
    TopologyCase(
        rule="topology-bridge-filter-off",
        defect="`sysctl net.bridge.bridge-nf-call-iptables=0` with enable_icc=false",
        cause=_icc_off,
        says="kafka",
    ),
    TopologyCase(
        rule="topology-listener-not-bound",
        defect="the broker's process ended",
        cause=lambda scene: scene.end(scene.servers["kafka-2"]),
        says="kafka-2",
    ),
    TopologyCase(
        rule="topology-listener-loopback-only",
        defect="the published listener bound to 127.0.0.1",
        cause=_loopback_only,
        says="127.0.0.1",
    ),
    TopologyCase(
        rule="topology-ambiguous-name",
        defect="containers of two projects with the alias kafka on one network",
        cause=_shared_name,
        says="kafka-2 of project of-kafka-2",
    ),
)
