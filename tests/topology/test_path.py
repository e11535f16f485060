"""Whole ways: there and back, docker-proxies, names, frozen containers."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from netdiag.engine.container import Status
from netdiag.linux.link import Detail
from netdiag.linux.process import Process
from netdiag.topology.asking import Resolved
from netdiag.topology.hops import End, HopKind, Path
from netdiag.topology.path import Walker, walk
from tests.topology.five_brokers import five_brokers
from tests.topology.wires import Wires, rule, rules, two_on_a_bridge


def way(made: Wires, source: str, destination: str, port: int = 9092) -> Path:
    return walk(made.inventory, made.netns(source), destination, port)


@pytest.mark.parametrize(
    ("source", "destination", "port", "end", "errno"),
    [
        ("a", "10.0.0.2", 9092, End.CONNECTED, None),
        ("host", "10.0.0.2", 9092, End.CONNECTED, None),
        ("b", "127.0.0.1", 9092, End.CONNECTED, None),
        ("b", "0.0.0.0", 9092, End.CONNECTED, None),
        ("a", "127.0.0.1", 9092, End.REFUSED, "ECONNREFUSED"),
        ("a", "10.0.0.2", 9093, End.REFUSED, "ECONNREFUSED"),
        ("a", "10.0.0.3", 9092, End.NO_NEIGHBOUR, "EHOSTUNREACH"),
        ("a", "8.8.8.8", 9092, End.NO_ROUTE, "ENETUNREACH"),
        ("a", "broker", 9092, End.UNKNOWN, None),
        ("a", "fe80::1%eth0", 9092, End.UNKNOWN, None),
    ],
)
def test_ends(source: str, destination: str, port: int, end: End, errno: str | None) -> None:
    path = way(two_on_a_bridge(), source, destination, port)
    assert (path.end, path.errno) == (end, errno or "")
    assert path.because


def test_an_answer_without_a_way_back_is_lost() -> None:
    made = two_on_a_bridge()
    made.spaces["b"].routes = [r for r in made.spaces["b"].routes if r.type == "local"]
    path = way(made, "a", "10.0.0.2")
    assert path.end is End.DROPPED
    assert "the answer is lost: no route to 10.0.0.1" in path.because
    assert "the refusal is lost" in way(made, "a", "10.0.0.2", 9093).because


def test_an_answer_that_comes_from_elsewhere_is_not_taken() -> None:
    """Translated on the way there by a machine that the answer does not pass."""
    made = two_on_a_bridge()
    steps: tuple[tuple[str, Mapping[str, Detail]], ...] = (
        ("immediate", {"dreg": 1, "data": "0a000002"}),
        ("nat", {"type": "dnat", "address_min": 1}),
    )
    made.spaces["host"].ruleset = rules("prerouting", rule(1, "dnat to 10.0.0.2", *steps), type="nat", priority=-100)
    path = way(made, "a", "10.0.0.254")
    assert path.end is End.DROPPED
    assert "the answer comes from 10.0.0.2:9092, where the client expects 10.0.0.254:9092" in path.because


def proxied(port: int) -> Wires:
    made = two_on_a_bridge()
    argv = ("docker-proxy", "-container-ip", "10.0.0.2", "-container-port", str(port))
    made.processes[7] = Process(pid=7, comm="docker-proxy", started=1, netns=made.netns("host"), argv=argv)
    made.spaces["host"].listen(19092, pids=(7,))
    return made


def test_a_docker_proxy_is_followed() -> None:
    made = proxied(9092)
    path = way(made, "a", "10.0.0.254", 19092)
    assert (path.end, path.target) == (End.CONNECTED, made.netns("b"))
    assert HopKind.PROXY in {hop.kind for hop in path.hops}


def test_a_docker_proxy_with_nobody_behind_it_closes() -> None:
    path = way(proxied(9093), "a", "10.0.0.254", 19092)
    assert path.end is End.CLOSED
    assert "nobody listens on port 9093 there" in path.because.replace("10.0.0.2:9093", "port 9093")


def test_a_full_queue_drops() -> None:
    made = two_on_a_bridge()
    made.spaces["b"].listeners[0] = replace(made.spaces["b"].listeners[0], backlog=2, queue=3)
    path = way(made, "a", "10.0.0.2")
    assert (path.end, "3 of 2" in path.because) == (End.DROPPED, True)


def test_names_are_asked_and_tried_in_order() -> None:
    made = two_on_a_bridge()

    def names(netns: int, name: str) -> Resolved:
        assert netns == made.netns("a")
        known = {"broker": ("127.0.0.1", "10.0.0.2")}
        return Resolved(
            addresses=known.get(name, ()), because="hosts file" if name in known else f"nobody knows {name}"
        )

    walker = Walker(made.inventory, names)
    path = walker.walk(made.netns("a"), "broker", 9092)
    assert (path.end, path.address, path.destination) == (End.CONNECTED, "10.0.0.2", "broker")
    assert [hop.what for hop in path.hops if hop.kind is HopKind.RESOLVER] == [
        "broker is 127.0.0.1 (hosts file)",
        "broker is 10.0.0.2 (hosts file)",
    ]
    lost = walker.walk(made.netns("a"), "nobody", 9092)
    assert (lost.end, lost.because) == (End.UNRESOLVED, "nobody knows nobody")


def test_a_paused_container_is_told_of() -> None:
    topology = five_brokers()
    place = topology.named("shop-broker-2-1")
    assert place is not None
    container = topology.containers[place.containers[0]]
    paused = replace(container, state=replace(container.state, status=Status.PAUSED))
    frozen = replace(topology, containers={**topology.containers, container.id: paused})
    source = topology.named("shop-client-1")
    assert source is not None
    path = walk(frozen, source.netns, "172.18.0.3", 9092)
    assert path.end is End.CONNECTED
    assert "is paused: the kernel accepts, nobody reads" in path.because
    assert "paused" not in walk(topology, source.netns, "172.18.0.3", 9092).because
