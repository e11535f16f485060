"""One packet from namespace to namespace."""

from collections.abc import Mapping
from dataclasses import replace
from time import process_time

import pytest

from netdiag.engine.container import Status
from netdiag.linux.filtering.packet import Packet
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Ruleset
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.graph import Hop, HopKind, Path, PathEnd
from netdiag.topology.inventory import IndexedInventory, IndexedNamespace
from netdiag.topology.path.name_lookup import Resolution
from netdiag.topology.path.netfilter import Delivered, Netfilter, PacketOutcome, TrackedPacket, Undelivered
from netdiag.topology.path.prediction import (
    PathPredictor,
    describe_listener,
    find_listener,
    predict_path,
)
from netdiag.topology.path.reach import ELSEWHERE, MOST_PATHS, with_reach
from netdiag.topology.path.simulation import PacketSimulation
from tests.topology.five_brokers import crowd, five_brokers
from tests.topology.namespaces import Wires, rule, rules, two_on_a_bridge

DROP = rule(1, "drop", ("verdict", {"verdict": "drop", "chain": ""}))


def deliver(made: Wires, source: str, destination: str) -> tuple[PacketOutcome, list[Hop]]:
    packet = Packet(family=4, protocol="tcp", source="", destination=destination, destination_port=9092)
    hops: list[Hop] = []
    simulation = PacketSimulation(IndexedInventory(made.inventory), Netfilter(), hops, TrackedPacket(packet=packet))
    return simulation.deliver(made.netns(source)), hops


def filtered(hook: str, *, bridged: bool | None) -> Wires:
    made = two_on_a_bridge()
    made.spaces["host"].ruleset = rules(hook, DROP)
    made.spaces["host"].settings = type(made.spaces["host"].settings)(ip_forward=True, bridge_nf_call_iptables=bridged)
    return made


def test_delivered_next_door() -> None:
    made = two_on_a_bridge()
    outcome, hops = deliver(made, "a", "10.0.0.2")
    assert isinstance(outcome, Delivered)
    assert (outcome.namespace.inode, outcome.iif) == (made.netns("b"), 2)
    assert [hop.kind for hop in hops] == [
        HopKind.ROUTE,
        HopKind.NEIGHBOUR,
        HopKind.LINK,
        HopKind.BRIDGE,
        HopKind.LINK,
        HopKind.ROUTE,
    ]


def test_what_a_bridge_passes_on_meets_the_packet_filter_only_where_it_is_told_to() -> None:
    for bridged, dropped in ((None, False), (False, False), (True, True)):
        outcome, hops = deliver(filtered("forward", bridged=bridged), "a", "10.0.0.2")
        assert isinstance(outcome, Undelivered) is dropped
        assert any(hop.rules for hop in hops) is dropped


def test_what_is_for_the_bridge_meets_prerouting_once_and_input() -> None:
    for hook in ("prerouting", "input"):
        outcome, hops = deliver(filtered(hook, bridged=True), "a", "10.0.0.254")
        assert isinstance(outcome, Undelivered)
        assert outcome.end is PathEnd.DROPPED
        assert (hops[-1].kind, hops[-1].rules[0].text) == (HopKind.FILTER, "drop")
    outcome, _ = deliver(filtered("forward", bridged=True), "a", "10.0.0.254")
    assert isinstance(outcome, Delivered)


def test_to_itself_by_loopback() -> None:
    made = two_on_a_bridge()
    outcome, _ = deliver(made, "a", "10.0.0.1")
    assert isinstance(outcome, Delivered)
    # For sockets that are bound to a device the one that has the address counts.
    assert outcome.iif == 2
    lo = made.spaces["a"].links[1]
    made.spaces["a"].links[1] = type(lo)(ifindex=1, ifname="lo", flags=0)
    outcome, _ = deliver(made, "a", "10.0.0.1")
    assert isinstance(outcome, Undelivered)
    assert outcome.because == "lo is down"


def test_a_namespace_that_nobody_looked_into() -> None:
    made = two_on_a_bridge()
    tracked = TrackedPacket(packet=Packet(family=4, protocol="tcp", source="", destination="10.0.0.2"))
    outcome = PacketSimulation(IndexedInventory(made.inventory), Netfilter(), [], tracked).deliver(1)
    assert isinstance(outcome, Undelivered)
    assert outcome.end is PathEnd.UNKNOWN


def test_rules_that_could_not_be_read_leave_it_open() -> None:
    made = two_on_a_bridge()
    made.spaces["b"].ruleset = Ruleset(unread=("nf_tables: no rights",))
    outcome, _ = deliver(made, "a", "10.0.0.2")
    assert isinstance(outcome, Undelivered)
    assert outcome.end is PathEnd.UNKNOWN
    assert "no rights" in outcome.because


def test_routers_that_send_in_circles_end() -> None:
    made = Wires()
    made.space("a", forward=True)
    made.space("b", forward=True)
    made.pair(("a", "eth0", "10.0.0.1/24"), ("b", "eth0", "10.0.0.2/24"))
    made.route("a", "0.0.0.0/0", "10.0.0.2", 2)
    made.route("b", "0.0.0.0/0", "10.0.0.1", 2)
    outcome, _ = deliver(made, "a", "8.8.8.8")
    assert isinstance(outcome, Undelivered)
    assert "circles" in outcome.because or "an address of its own" in outcome.because


def way(made: Wires, source: str, destination: str, port: int = 9092) -> Path:
    return predict_path(made.inventory, made.netns(source), destination, port)


@pytest.mark.parametrize(
    ("source", "destination", "port", "end", "errno"),
    [
        ("a", "10.0.0.2", 9092, PathEnd.CONNECTED, None),
        ("host", "10.0.0.2", 9092, PathEnd.CONNECTED, None),
        ("b", "127.0.0.1", 9092, PathEnd.CONNECTED, None),
        ("b", "0.0.0.0", 9092, PathEnd.CONNECTED, None),
        ("a", "127.0.0.1", 9092, PathEnd.REFUSED, "ECONNREFUSED"),
        ("a", "10.0.0.2", 9093, PathEnd.REFUSED, "ECONNREFUSED"),
        ("a", "10.0.0.3", 9092, PathEnd.NO_NEIGHBOUR, "EHOSTUNREACH"),
        ("a", "8.8.8.8", 9092, PathEnd.NO_ROUTE, "ENETUNREACH"),
        ("a", "broker", 9092, PathEnd.UNKNOWN, None),
        ("a", "fe80::1%eth0", 9092, PathEnd.UNKNOWN, None),
    ],
)
def test_ends(source: str, destination: str, port: int, end: PathEnd, errno: str | None) -> None:
    path = way(two_on_a_bridge(), source, destination, port)
    assert (path.end, path.errno) == (end, errno or "")
    assert path.because


def test_an_answer_without_a_way_back_is_lost() -> None:
    made = two_on_a_bridge()
    made.spaces["b"].routes = [r for r in made.spaces["b"].routes if r.type == "local"]
    path = way(made, "a", "10.0.0.2")
    assert path.end is PathEnd.DROPPED
    assert "the response is lost: no route to 10.0.0.1" in path.because
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
    assert path.end is PathEnd.DROPPED
    assert "the response comes from 10.0.0.2:9092, but the client expects 10.0.0.254:9092" in path.because


def proxied(port: int, comm: str = "docker-proxy") -> Wires:
    made = two_on_a_bridge()
    argv = ("docker-proxy", "-host-port", "19092", "-container-ip", "10.0.0.2", "-container-port", str(port))
    made.processes[7] = Process(pid=7, comm=comm, started=1, netns=made.netns("host"), argv=argv)
    made.spaces["host"].listen(19092, pids=(7,))
    return made


def test_a_docker_proxy_is_followed() -> None:
    made = proxied(9092)
    path = way(made, "a", "10.0.0.254", 19092)
    assert (path.end, path.target) == (PathEnd.CONNECTED, made.netns("b"))
    assert HopKind.PROXY in {hop.kind for hop in path.hops}


def test_another_program_is_no_proxy() -> None:
    made = proxied(9092, comm="java")
    path = way(made, "a", "10.0.0.254", 19092)
    assert (path.end, path.target) == (PathEnd.CONNECTED, made.netns("host"))


def test_a_docker_proxy_with_nobody_behind_it_closes() -> None:
    path = way(proxied(9093), "a", "10.0.0.254", 19092)
    assert path.end is PathEnd.CLOSED
    assert "nothing listens on port 9093 there" in path.because.replace("10.0.0.2:9093", "port 9093")


def test_a_full_queue_drops() -> None:
    made = two_on_a_bridge()
    made.spaces["b"].listeners[0] = replace(made.spaces["b"].listeners[0], backlog=2, queue=3)
    path = way(made, "a", "10.0.0.2")
    assert (path.end, "3 of 2" in path.because) == (PathEnd.DROPPED, True)


def test_names_are_asked_and_tried_in_order() -> None:
    made = two_on_a_bridge()

    def names(netns: int, name: str) -> Resolution:
        assert netns == made.netns("a")
        known = {"broker": ("127.0.0.1", "10.0.0.2")}
        return Resolution(
            addresses=known.get(name, ()), because="hosts file" if name in known else f"nobody knows {name}"
        )

    predictor = PathPredictor(made.inventory, names)
    path = predictor.predict(made.netns("a"), "broker", 9092)
    assert (path.end, path.address, path.destination) == (PathEnd.CONNECTED, "10.0.0.2", "broker")
    assert [hop.what for hop in path.hops if hop.kind is HopKind.RESOLVER] == [
        "broker is 127.0.0.1 (hosts file)",
        "broker is 10.0.0.2 (hosts file)",
    ]
    lost = predictor.predict(made.netns("a"), "nobody", 9092)
    assert (lost.end, lost.because) == (PathEnd.UNRESOLVED, "nobody knows nobody")


def test_a_paused_container_is_told_of() -> None:
    topology = five_brokers()
    namespace = topology.named("shop-broker-2-1")
    assert namespace is not None
    container = topology.containers[namespace.containers[0]]
    paused = replace(container, state=replace(container.state, status=Status.PAUSED))
    frozen = replace(topology, containers={**topology.containers, container.id: paused})
    source = topology.named("shop-client-1")
    assert source is not None
    path = predict_path(frozen, source.netns, "172.18.0.3", 9092)
    assert path.end is PathEnd.CONNECTED
    assert "is paused: the kernel accepts, but no process reads" in path.because
    assert "paused" not in predict_path(topology, source.netns, "172.18.0.3", 9092).because


def namespace(*listeners: tuple[str, str]) -> IndexedNamespace:
    """Sockets on port 9092: address and "v6only", a device's index or nothing."""
    from dataclasses import replace

    made = tuple(
        Listener(
            protocol=Protocol.TCP,
            family=6 if ":" in address else 4,
            address=address,
            port=9092,
            inode=number,
            v6only=more == "v6only",
            ifindex=int(more) if more.isdecimal() else None,
        )
        for number, (address, more) in enumerate(listeners, 1)
    )
    return IndexedNamespace(replace(Wires().space("a").facts(), listeners=made))


@pytest.mark.parametrize(
    ("listeners", "address", "inode"),
    [
        ([("0.0.0.0", "")], "10.0.0.1", 1),
        ([("0.0.0.0", ""), ("10.0.0.1", "")], "10.0.0.1", 2),
        ([("127.0.0.1", "")], "10.0.0.1", None),
        ([("::", "")], "10.0.0.1", 1),
        ([("::", "v6only")], "10.0.0.1", None),
        ([("::", ""), ("0.0.0.0", "")], "10.0.0.1", 2),
        ([("::ffff:10.0.0.1", "")], "10.0.0.1", 1),
        ([("0.0.0.0", "")], "fd00::1", None),
        ([("::", "v6only")], "fd00::1", 1),
        ([("::", ""), ("fd00::1", "")], "fd00::1", 2),
        ([("::1", "")], "fd00::1", None),
        ([("0.0.0.0", "5")], "10.0.0.1", None),
        ([("0.0.0.0", ""), ("0.0.0.0", "2")], "10.0.0.1", 2),
    ],
)
def test_the_closest_socket_answers(listeners: list[tuple[str, str]], address: str, inode: int | None) -> None:
    found = find_listener(namespace(*listeners), "tcp", address, 9092, 2)
    assert (found.inode if found else None) == inode
    assert find_listener(namespace(*listeners), "udp", address, 9092, 2) is None
    assert find_listener(namespace(*listeners), "tcp", address, 9093, 2) is None


def test_a_socket_is_described_by_its_program() -> None:
    made = Wires()
    made.processes[7] = Process(pid=7, comm="java", started=1, netns=5)
    for pids, inode, described in (
        ((7,), 1, "java (pid 7) on [::]:9092"),
        ((9,), 1, "process 9 on [::]:9092"),
        ((), 1, "a socket on [::]:9092"),
        ((), 0, "the kernel on [::]:9092"),
    ):
        listener = Listener(protocol=Protocol.TCP, family=6, address="::", port=9092, inode=inode, pids=pids)
        assert describe_listener(made.inventory, listener) == described


def names(netns: int, name: str) -> Resolution:
    """localhost, and the brokers by their service."""
    if name == "localhost":
        return Resolution(addresses=("127.0.0.1",), because="hosts file")
    number = name.removeprefix("broker-")
    if number.isdecimal() and netns > 0:
        return Resolution(addresses=(f"172.18.0.{int(number) + 1}",), because="the engine's name server")
    return Resolution(addresses=(), because=f"nobody knows {name}")


def test_every_listener_from_every_place_by_every_address() -> None:
    topology = with_reach(five_brokers(), names)
    assert topology.reach_note == ""
    sources = {one.source for one in topology.reach}
    assert {"host", ELSEWHERE, "shop-client-1", "shop-ui-1", *(f"shop-broker-{n}-1" for n in range(1, 6))} <= sources
    external = [one for one in topology.reach if one.listener == "broker-1/EXTERNAL"]
    assert {(one.destination, one.port, one.advertised) for one in external} == {
        ("localhost", 9091, True),
        ("192.168.8.133", 9091, False),
    }
    ends = {(one.source, one.destination): one.path.end for one in external}
    assert ends["host", "localhost"] is PathEnd.CONNECTED
    assert ends["shop-client-1", "localhost"] is PathEnd.REFUSED
    assert ends[ELSEWHERE, "localhost"] is PathEnd.REFUSED
    assert ends[ELSEWHERE, "192.168.8.133"] is PathEnd.CONNECTED
    internal = {one.source: one.path.end for one in topology.reach if one.listener == "broker-1/INTERNAL"}
    assert internal["shop-client-1"] is PathEnd.CONNECTED
    assert internal[ELSEWHERE] is PathEnd.UNRESOLVED


def test_controllers_have_no_clients() -> None:
    assert not any("CONTROLLER" in one.listener for one in with_reach(five_brokers(), names).reach)


def test_five_brokers_take_less_than_a_second() -> None:
    topology = five_brokers()
    began = process_time()
    assert len(with_reach(topology, names).reach) > 100
    assert process_time() - began < 1


def test_a_crowd_is_stood_for() -> None:
    made = crowd(200)
    # These rules are text only: what each of 200 that nobody understands would do is not the question here.
    bare = {inode: replace(facts, ruleset=Ruleset()) for inode, facts in made.inventory.namespaces.items()}
    topology = replace(made, inventory=replace(made.inventory, namespaces=bare))
    began = process_time()
    found = with_reach(topology, names)
    assert process_time() - began < 20
    assert "10 containers represent 200" in found.reach_note
    assert len({one.source for one in found.reach}) > 12
    assert MOST_PATHS / 2 < len(found.reach) <= MOST_PATHS * 1.2
    assert {one.listener for one in found.reach} == {one.key for one in found.listeners if not one.controller}
