"""What answers in a place, in words."""

from dataclasses import replace

from netdiag.linux.socket import Listener, Protocol
from netdiag.render.screen import Screen, paint
from netdiag.render.topology.branches import draw_branches
from netdiag.render.topology.lookup import Lookup
from netdiag.render.topology.tree import service_branches
from netdiag.topology.graph import Topology
from tests.render.topology.namespaces import HOST
from tests.render.topology.topologies import cluster


def text(topology: Topology, name: str) -> str:
    place = topology.named(name)
    assert place is not None
    branches = service_branches(Lookup(topology), place, Screen())
    return paint(draw_branches(branches, Screen(width=140)), Screen(width=140))


def with_listeners(*listeners: Listener) -> Topology:
    topology = cluster()
    host = replace(topology.inventory.namespaces[HOST], listeners=listeners)
    return replace(topology, inventory=replace(topology.inventory, namespaces={HOST: host}))


def test_a_docker_proxy_stands_at_its_port_and_not_among_the_sockets() -> None:
    assert text(cluster(), "host") == "sshd (60)  tcp 0.0.0.0:22, [::]:22\n"


def test_a_kafka_listener_with_the_port_that_leads_to_it() -> None:
    assert text(cluster(), "broker-1").splitlines() == [
        "INTERNAL PLAINTEXT  binds 0.0.0.0:29092, listens: java (101)  advertises broker-1:29092",
        "EXTERNAL PLAINTEXT  binds 0.0.0.0:9091, listens: java (101)  advertises localhost:9091",
        "`- published 0.0.0.0:9091 -> 172.18.0.2:9091  by DNAT and docker-proxy (201)",
        "127.0.0.11 embedded DNS: dockerd (50) in host",
    ]


def test_one_that_is_bound_elsewhere_than_it_says() -> None:
    topology = cluster(1)
    odd = (
        replace(topology.listeners[0], bound=("127.0.0.1",)),
        replace(topology.listeners[1], bind=("172.18.0.2", 9091)),
    )
    told = text(replace(topology, listeners=odd), "broker-1")
    assert "binds 0.0.0.0:29092, listens on 127.0.0.1: java (101)" in told
    assert "binds 172.18.0.2:9091, listens on ::: java (101)" in told


def test_owners_that_are_not_there() -> None:
    kernel = Listener(protocol=Protocol.UDP, family=4, address="0.0.0.0", port=4789, inode=0)
    unseen = Listener(protocol=Protocol.TCP, family=4, address="127.0.0.1", port=631, inode=77, ifindex=2)
    assert text(with_listeners(kernel, unseen), "host").splitlines() == [
        "a process that is not visible  tcp 127.0.0.1:631%eth0",
        "the kernel  udp 0.0.0.0:4789",
    ]


def test_a_controller_tells_clients_nothing() -> None:
    topology = cluster(1)
    mute = replace(topology.listeners[0], advertised=None, controller=True)
    assert "for controllers" in text(replace(topology, listeners=(mute,)), "broker-1")
