"""Ways to break a docker host in miniature, and what a fault is."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace

from netdiag.deployment.model.verdict import Mechanism
from netdiag.engine.container import PortBinding, Status
from tests.netlab.faults_world import Faulty


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault. `row` is that of the decision table, 0 for none; `quick` is one whose failure shows at once."""

    name: str
    mechanism: Mechanism
    source: str
    address: str
    port: int = 9092
    inject: Callable[[Faulty], None] | None = None
    row: int = 0
    quick: bool = False


def lines(*lines: str) -> Callable[[Faulty], None]:
    def inject(world: Faulty) -> None:
        for line in lines:
            world.run(line)

    return inject


def published(port: int = 9092, name: str = "kafka", target: int = 9092, **more: object) -> Callable[[Faulty], None]:
    return lambda world: world.publish(port, name, target, **more)  # type: ignore[arg-type]


def listening(space: str, address: str, port: int) -> Callable[[Faulty], None]:
    def inject(world: Faulty) -> None:
        world.listen(space, address, port)

    return inject


def both(*steps: Callable[[Faulty], None]) -> Callable[[Faulty], None]:
    def inject(world: Faulty) -> None:
        for step in steps:
            step(world)

    return inject


def without_proxies(world: Faulty) -> None:
    """Rules as the engine writes them without userland proxy."""
    world.run("host: iptables-nft -w -t nat -A DOCKER -p tcp --dport 9092 -j DNAT --to-destination 172.30.1.2:9092")
    world.run("host: iptables-nft -w -t nat -A POSTROUTING -s 172.30.1.2/32 -d 172.30.1.2/32 -p tcp -j MASQUERADE")
    world.run("host: iptables-nft -w -A DOCKER -d 172.30.1.2/32 ! -i br-a -o br-a -p tcp --dport 9092 -j ACCEPT")
    says(world, "kafka", 9092, in_force=True)


def says(world: Faulty, name: str, port: int, *, in_force: bool = False, target: int = 9092) -> None:
    """The engine's word alone for a published port."""
    one = world.containers[name]
    binding = PortBinding(target=target, protocol="tcp", host_ip="0.0.0.0", published=port)
    ports = (*one.ports, binding) if in_force else one.ports
    world.containers[name] = replace(one, ports=ports, requested_ports=(*one.requested_ports, binding))


def gone(world: Faulty) -> None:
    world.add("gone", on=(("a", ""),))
    says(world, "gone", 9100)


def paused(world: Faulty) -> None:
    one = world.containers["kafka"]
    world.containers["kafka"] = replace(one, state=replace(one.state, status=Status.PAUSED))


def disconnected(world: Faulty) -> None:
    says(world, "alone", 9110)


def host_mode(world: Faulty) -> None:
    one = world.containers["alone"]
    world.listen("host", "0.0.0.0", 9120)
    world.containers["alone"] = replace(one, network_mode="host", state=replace(one.state, pid=os.getpid()))
    says(world, "alone", 9121, target=9120)


def routed(world: Faulty) -> None:
    world.networks["a"] = replace(world.networks["a"], gateway_mode="routed")
    world.run("host: iptables-nft -w -A DOCKER -d 172.30.1.2/32 -o br-a -p tcp --dport 9092 -j ACCEPT")
    says(world, "kafka", 9130)


def full(world: Faulty) -> None:
    world.listen("kafka", "0.0.0.0", 9140, backlog=1)
    for _ in range(4):
        client = world.made.open["kafka"].socket(socket.AF_INET, socket.SOCK_STREAM)
        client.connect_ex(("127.0.0.1", 9140))
        world.extra.append(client)


def frozen_proxy(world: Faulty) -> None:
    world.publish(9092)
    os.kill(world.proxies[9092].pid, signal.SIGSTOP)
    os.waitid(os.P_PID, world.proxies[9092].pid, os.WSTOPPED | os.WNOWAIT)


def killed_proxy(world: Faulty) -> None:
    world.publish(9092)
    world.proxies[9092].kill()
    world.proxies[9092].communicate(timeout=30)


def proxy_to_nobody(world: Faulty) -> None:
    world.proxy(9101, "172.30.1.77", 9092)
    says(world, "kafka", 9101, in_force=True)


def stale(world: Faulty) -> None:
    world.run("same: ip neigh replace 172.30.1.2 lladdr 02:00:00:00:99:99 dev eth0 nud permanent")


def macvlan(world: Faulty) -> None:
    world.run("ip -n {host} link add mv0 link eth0 type macvlan mode bridge")
    world.run("ip -n {host} link set mv0 netns {alone}")
    world.run("alone: ip addr add 192.0.2.50/24 dev mv0")
    world.run("alone: ip link set mv0 up")
    world.listen("host", "0.0.0.0", 9150)
