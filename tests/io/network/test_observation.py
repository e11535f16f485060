"""Observing from our own namespace, from others and along edges: honest, hostile and dead endpoints, in bounds."""

import os
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Answered, Cell, Failed, Verdict
from netdiag.deployment.observation.live_view import LiveVantage, docker_host_vantage, netns_vantage
from netdiag.deployment.prediction.mesh import Edge, EdgeKind, edge_outcome, is_cut
from netdiag.io.kernel.netns import open_namespace
from netdiag.io.network.observation import Observed, observe
from netdiag.linux.netns import NamedNamespace, NamespaceId, OwnNamespace
from tests.figures import Report
from tests.io.namespaces import FAR, NOBODY, SWALLOWED, Pair, joined_namespaces
from tests.io.network import hostile
from tests.io.network.hostile import Behaviour, ScriptedBroker, serving

hostile_broker, black_hole = pytest.mark.bar("hostile-broker"), pytest.mark.bar("black-hole")
TIMEOUT = 1.0
BOUND = TIMEOUT + 2


def look(*addresses: Address, timeout: float = TIMEOUT) -> tuple[Cell, ...]:
    return observe([docker_host_vantage()], addresses, timeout=timeout).cells


def verdict_of(address: Address) -> Verdict:
    (cell,) = look(address)
    assert cell.observed is not None
    return cell.observed


@pytest.fixture
def elapsed() -> Iterator[list[float]]:
    begin = time.perf_counter()
    taken: list[float] = []
    yield taken
    assert time.perf_counter() - begin < BOUND + 6  # the servers' own end included


HOSTILE = [
    (hostile.garbage, "not-kafka", "announced"),
    (hostile.two_gigabytes, "not-kafka", "announced"),
    (hostile.announced_and_withheld, "bootstrap: timeout", "bytes of it arrived"),
    (hostile.one_byte_a_second, "bootstrap: timeout", "bytes of it arrived"),
    (hostile.immediate_close, "bootstrap: closed", "closed without an answer"),
    (hostile.reset, "bootstrap: closed", ""),
    (hostile.silence, "bootstrap: timeout", "silent"),
    (hostile.tls_alert, "tls", "TLS"),
    (hostile.tls_that_closes, "tls", "answers TLS"),
    (hostile.http, "not-kafka", "HTTP"),
]


@hostile_broker
@pytest.mark.alone
@pytest.mark.parametrize(("behaviour", "expected", "because"), HOSTILE, ids=[b.__name__ for b, _, _ in HOSTILE])
def test_a_hostile_server_is_a_cell_with_a_reason(behaviour: Behaviour, expected: str, because: str) -> None:
    with serving(behaviour) as port:
        begin = time.perf_counter()
        verdict = verdict_of(Address(host="127.0.0.1", port=port))
        taken = time.perf_counter() - begin
    assert str(verdict) == expected
    assert isinstance(verdict.bootstrap, Failed)
    assert because in verdict.bootstrap.because
    assert taken < BOUND


@hostile_broker
@pytest.mark.alone
def test_a_hundred_hostile_cells_stay_within_time_and_memory() -> None:
    kinds = [behaviour for behaviour, _, _ in HOSTILE]
    with ExitStack() as servers:
        ports = [servers.enter_context(serving(behaviour)) for behaviour in kinds for _ in range(10)]
        tracemalloc.start()
        try:
            begin = time.perf_counter()
            cells = look(*(Address(host="127.0.0.1", port=port) for port in ports))
            taken = time.perf_counter() - begin
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert len(cells) == 100
    assert all(cell.observed and isinstance(cell.observed.bootstrap, Failed) for cell in cells)
    assert taken < BOUND
    # The flooding servers of this process have buffers of their own, 1 MiB each.
    assert peak < 64 * 1024 * 1024 + 10 * 1024 * 1024


@hostile_broker
@pytest.mark.alone
def test_an_answer_of_thousands_of_brokers_is_cut_and_bounded() -> None:
    many = [(n, "127.0.0.1", 1) for n in range(3000)]
    broker = ScriptedBroker(node_id=0, brokers=many)
    with serving(broker) as port:
        begin = time.perf_counter()
        verdict = verdict_of(Address(host="127.0.0.1", port=port))
        taken = time.perf_counter() - begin
    assert verdict.advertised == 1000
    assert str(verdict) == "advertised: refused"
    assert isinstance(verdict.bootstrap, Answered)
    assert "3000 brokers, netdiag checks only 1000" in verdict.bootstrap.because
    assert taken < BOUND


@hostile_broker
@pytest.mark.alone
def test_many_brokers_that_advertise_thousands_of_endpoints_are_bounded() -> None:
    with ExitStack() as servers:
        brokers = [
            ScriptedBroker(node_id=0, brokers=[(n, f"127.{b}.{n // 250}.{1 + n % 250}", 9) for n in range(1000)])
            for b in range(10)
        ]
        ports = [servers.enter_context(serving(broker)) for broker in brokers]
        begin = time.perf_counter()
        cells = look(*(Address(host="127.0.0.1", port=port) for port in ports))
        taken = time.perf_counter() - begin
    assert taken < BOUND
    assert {cell.observed.word.value for cell in cells if cell.observed} <= {"advertised", "unknown"}


@hostile_broker
def test_both_hops_of_an_honest_cluster() -> None:
    one, two = ScriptedBroker(node_id=1, brokers=[]), ScriptedBroker(node_id=2, brokers=[])
    with serving(one) as port_1, serving(two) as port_2:
        one.brokers = two.brokers = [(1, "localhost", port_1), (2, "localhost", port_2)]
        cells = look(Address(host="localhost", port=port_1), Address(host="127.0.0.1", port=port_2))
    assert [str(cell.observed) for cell in cells] == ["ok", "ok"]
    # Each address once, although both bootstraps name both brokers.
    assert (one.connections, two.connections) == (1, 2)


def test_what_the_time_limit_leaves_out_is_told() -> None:
    """On a busy machine the limit passes first; less than no time does the same."""
    one = ScriptedBroker(node_id=1, brokers=[])
    with serving(one) as port:
        asked = [Address(host="127.0.0.1", port=port), Address(host="localhost", port=port)]
        late = observe([docker_host_vantage()], asked, timeout=-1)
        timely = observe([docker_host_vantage()], asked, timeout=TIMEOUT)
    assert [str(cell.observed) for cell in late.cells] == ["unknown", "unknown"]
    assert late.notes == (
        "the time limit was reached before 2 of 2 addresses were tried: a larger --timeout allows more",
    )
    assert timely.notes == ()


@hostile_broker
def test_an_endpoint_that_is_another_broker() -> None:
    one = ScriptedBroker(node_id=1, brokers=[])
    with serving(one) as port:
        one.brokers = [(1, "localhost", port), (2, "localhost", port)]
        verdict = verdict_of(Address(host="localhost", port=port))
    assert str(verdict) == "partial 1/2"
    assert [outcome.outcome for outcome in verdict.endpoints] == ["ok", "wrong-broker"]


@hostile_broker
def test_a_failure_is_repeated_before_it_is_reported() -> None:
    class Once(ScriptedBroker):
        def __call__(self, channel: socket.socket, over: threading.Event) -> None:
            if self.connections == 0:
                self.connections = 1
                return
            super().__call__(channel, over)

    broker = Once(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(1, "localhost", port)]
        verdict = verdict_of(Address(host="localhost", port=port))
    assert str(verdict) == "ok"


@hostile_broker
@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [
        ("127.0.0.1", 1, "bootstrap: refused"),
        ("localhost", 1, "bootstrap: refused"),
        ("127.1", 1, "bootstrap: refused"),
        ("", 9092, "bootstrap: unresolved"),
        ("127.0.0.1", 0, "bootstrap: unreachable"),
        ("127.0.0.1", 70000, "bootstrap: unreachable"),
        ("127.0.0.1", -1, "bootstrap: unreachable"),
    ],
)
def test_dead_ends(host: str, port: int, expected: str) -> None:
    assert str(verdict_of(Address(host=host, port=port))) == expected


@hostile_broker
def test_nothing_is_left_behind() -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    threads = threading.active_count()
    look(Address(host="127.0.0.1", port=1))
    assert threading.active_count() == threads
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == limit


_MEASURED = """
import re, sys
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.observation.live_view import docker_host_vantage
from netdiag.io.network.observation import observe

def peak():
    # Not ru_maxrss, which a child takes over from its parent.
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) // 1024

before = peak()
addresses = [Address(host="127.0.0.1", port=int(p)) for p in sys.argv[1:]]
cells = observe([docker_host_vantage()], addresses, timeout=2).cells
print(before, peak(), len(cells))
"""


@hostile_broker
def test_the_memory_of_a_process_among_hostile_servers(figure: Report) -> None:
    with ExitStack() as servers:
        kinds = [behaviour for behaviour, _, _ in HOSTILE] + [hostile.announced_and_withheld] * 10
        ports = [servers.enter_context(serving(behaviour)) for behaviour in kinds for _ in range(5)]
        many = [
            ScriptedBroker(node_id=0, brokers=[(n, f"{'x' * 200}{b}-{n}", 9) for n in range(2500)]) for b in range(10)
        ]
        ports += [servers.enter_context(serving(broker)) for broker in many]
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED, *map(str, ports)], capture_output=True, text=True, check=True, timeout=60
        )
    before, after, cells = map(int, done.stdout.split())
    figure("memory for 110 hostile cells, above the start", after - before, "MiB")
    figure("memory of the whole process among hostile servers", after, "MiB")
    assert cells == len(ports)
    assert after - before < 64


def look_from(pair: Pair, *addresses: Address, timeout: float = 4.0) -> Observed:
    return observe([netns_vantage(pair.near)], addresses, timeout=timeout)


def words(observed: Observed) -> list[str]:
    return [str(cell.observed) for cell in observed.cells]


@black_hole
@pytest.mark.alone
def test_each_kind_of_dead_end_has_its_word(pair: Pair) -> None:
    begin = time.perf_counter()
    observed = look_from(
        pair,
        Address(host=FAR, port=9092),
        Address(host=NOBODY, port=9092),
        Address(host=SWALLOWED.format(1), port=9092),
        Address(host="10.99.0.1", port=9092),
        Address(host="192.0.2.1", port=9092),
        Address(host="2001:db8::1", port=9092),
    )
    taken = time.perf_counter() - begin
    assert words(observed) == [
        "bootstrap: refused",
        # Nobody has the address: the failed ARP takes the kernel 3.05 s and is no time-out.
        "bootstrap: unreachable",
        "bootstrap: timeout",
        "bootstrap: unreachable",
        "bootstrap: unreachable",
        "bootstrap: unreachable",
    ]
    assert taken < 6


@black_hole
@pytest.mark.alone
def test_black_holes_take_no_longer_for_being_many(pair: Pair, figure: Report) -> None:
    addresses = [Address(host=SWALLOWED.format(n % 250 + 1), port=9000 + n) for n in range(600)]
    begin = time.perf_counter()
    observed = look_from(pair, *addresses)
    taken = time.perf_counter() - begin
    figure("600 cells that all black-hole, --timeout 4", taken, "s")
    assert set(words(observed)) == {"bootstrap: timeout"}
    assert taken < 6


@black_hole
@pytest.mark.alone
def test_advertised_black_holes_fit_into_the_same_time(pair: Pair) -> None:
    broker = ScriptedBroker(node_id=0, brokers=[(n, SWALLOWED.format(n + 1), 9092) for n in range(200)])
    with open_namespace(NamedNamespace(name=pair.far)) as far, serving(broker, address=FAR, namespace=far) as port:
        begin = time.perf_counter()
        observed = look_from(pair, Address(host=FAR, port=port))
        taken = time.perf_counter() - begin
    assert words(observed) == ["advertised: timeout"]
    assert taken < 6


@black_hole
@pytest.mark.alone
def test_one_swallowed_target_is_not_stormed_and_not_serial(pair: Pair, figure: Report) -> None:
    vantages = [
        replace(netns_vantage(pair.near), vantage=Vantage(kind=VantageKind.LAN, label=f"{n}")) for n in range(80)
    ]
    begin = time.perf_counter()
    observed = observe(vantages, [Address(host=SWALLOWED.format(1), port=9092)])
    taken = time.perf_counter() - begin
    figure("80 vantages at one target that black-holes, --timeout 4", taken, "s")
    assert words(observed) == ["bootstrap: timeout"] * 80
    assert taken < 6


@black_hole
def test_a_namespace_that_is_not_there_is_a_skipped_vantage(pair: Pair) -> None:
    observed = observe([netns_vantage("netdiag-typo"), netns_vantage(pair.near)], [Address(host=FAR, port=1)])
    assert words(observed) == ["bootstrap: refused"]
    (skipped,) = observed.skipped
    assert skipped.vantage.label == "netns:netdiag-typo"
    assert not skipped.rights


@black_hole
def test_its_own_hosts_file_is_used(pair: Pair) -> None:
    folder = Path("/etc/netns", pair.near)
    folder.mkdir(parents=True)
    try:
        (folder / "hosts").write_text(f"{FAR} kafka.test\n")
        (folder / "resolv.conf").write_text(f"nameserver {FAR}\n")
        observed = look_from(pair, Address(host="kafka.test", port=1), Address(host="other.test", port=1))
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    assert words(observed) == ["bootstrap: refused", "bootstrap: unresolved"]
    contact = observed.cells[1].observed.bootstrap if observed.cells[1].observed else None
    assert isinstance(contact, Failed)
    assert contact.because == f'"other.test" has no address here: name server {FAR}: Connection refused'


@black_hole
@pytest.mark.alone
def test_a_black_hole_among_the_addresses_of_a_name_costs_one_step(pair: Pair) -> None:
    # Every address of a name is asked, because others than the first answer may be met there.
    folder = Path("/etc/netns", pair.near)
    broker = ScriptedBroker(node_id=1, brokers=[])
    folder.mkdir(parents=True)
    try:
        (folder / "hosts").write_text(f"{SWALLOWED.format(1)} both.test\n{FAR} both.test\n")
        with open_namespace(NamedNamespace(name=pair.far)) as far, serving(broker, address=FAR, namespace=far) as port:
            broker.brokers = [(1, "both.test", port)]
            begin = time.perf_counter()
            observed = look_from(pair, Address(host="both.test", port=port))
            taken = time.perf_counter() - begin
    finally:
        (folder / "hosts").unlink()
        folder.rmdir()
    assert words(observed) == ["ok"]
    assert taken < 4 + 2


def vantage(member: str, entrance: NamespaceId) -> LiveVantage:
    vantage = Vantage(kind=VantageKind.BROKER, label=f"inside {member}", member=member)
    return LiveVantage(vantage=vantage, entrance=entrance)


def edge(kind: EdgeKind, port: int, *, source: str = "a", host: str = "127.0.0.1", node_id: int | None = None) -> Edge:
    return Edge(kind=kind, source=source, target="b", address=Address(host=host, port=port), node_id=node_id)


def seen(*edges: Edge, timeout: float = 4) -> list[str]:
    mesh = observe((vantage("a", OwnNamespace()),), (), edges=edges, timeout=timeout).mesh
    assert not mesh.skipped
    return [edge_outcome(one, one.observed) for one in mesh.edges if one.observed is not None]


def zookeeper(channel: socket.socket, over: threading.Event) -> None:
    if channel.recv(4) == b"srvr":
        channel.sendall(b"Zookeeper version: 3.9.3-x, built on y\nMode: standalone\n")


def not_whitelisted(channel: socket.socket, over: threading.Event) -> None:
    word = channel.recv(4).decode()
    channel.sendall(f"{word} is not executed because it is not in the whitelist.\n".encode())


class SessionsOnly:
    """A server that closes on a word and opens sessions."""

    def __init__(self) -> None:
        self.farewells: list[bytes] = []

    def __call__(self, channel: socket.socket, over: threading.Event) -> None:
        asked = channel.recv(4096)
        if len(asked) != 48:
            return
        response = struct.pack(">iiqi", 0, 4000, 7, 16) + bytes(16)
        channel.sendall(struct.pack(">i", len(response)) + response)
        self.farewells.append(channel.recv(4096))


def test_brokers_right_and_wrong() -> None:
    brokers = [ScriptedBroker(node_id=n, brokers=[]) for n in (1, 2)]
    with serving(brokers[0]) as one, serving(brokers[1]) as two, serving(hostile.immediate_close) as closing:
        kind = EdgeKind.INTER_BROKER
        edges = [edge(kind, port, node_id=n) for n, port in ((1, one), (2, two), (3, two), (4, closing), (5, 1))]
        assert seen(*edges) == ["ok", "ok", "wrong-broker", "closed", "refused"]
        # The two edges to one address share a contact.
        assert [broker.connections for broker in brokers] == [1, 1]


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (zookeeper, "ok"),
        (not_whitelisted, "ok"),
        (hostile.immediate_close, "closed"),
        (hostile.http, "not-kafka"),
        (hostile.garbage, "not-kafka"),
        (hostile.silence, "timeout"),
    ],
)
def test_zookeepers(behaviour: Callable[..., None], expected: str) -> None:
    with serving(behaviour) as port:
        assert seen(edge(EdgeKind.ZOOKEEPER, port), timeout=2) == [expected]


def test_a_zookeeper_without_words_is_asked_for_a_session_which_is_closed() -> None:
    server = SessionsOnly()
    with serving(server) as port:
        assert seen(edge(EdgeKind.ZOOKEEPER, port)) == ["ok"]
    assert server.farewells == [b"\0\0\0\x08\0\0\0\x01\xff\xff\xff\xf5"]


def test_nobody_there_and_no_such_name() -> None:
    kind = EdgeKind.ZOOKEEPER
    assert seen(edge(kind, 1), edge(kind, 2181, host="no..name")) == ["refused", "unresolved"]


def test_from_inside_other_namespaces_and_nothing_is_left_behind() -> None:
    with joined_namespaces() as pair, open_namespace(NamedNamespace(name=pair.far)) as far:
        broker = ScriptedBroker(node_id=1, brokers=[])
        with serving(broker, address=FAR, namespace=far) as port:
            vantages = (
                vantage("near", NamedNamespace(name=pair.near)),
                vantage("gone", NamedNamespace(name="nd-none")),
            )
            edges = (
                edge(EdgeKind.INTER_BROKER, port, source="near", host=FAR, node_id=1),
                edge(EdgeKind.INTER_BROKER, port, source="near", host="127.0.0.1", node_id=2),
                edge(EdgeKind.INTER_BROKER, port, source="gone", host=FAR),
            )
            mesh = observe(vantages, (), edges=edges).mesh
            assert [is_cut(one) for one in mesh.edges] == [False, True, None]
            ((who, because),) = mesh.skipped
            assert who == "gone"
            assert "no namespace has that name" in because
            before = len(os.listdir("/proc/self/fd"))
            for _ in range(5):
                observe(vantages, (), edges=edges)
            assert not [thread for thread in threading.enumerate() if thread.name == "netns"]
            assert len(os.listdir("/proc/self/fd")) <= before + 10


def test_a_look_at_cells_looks_along_edges_as_well() -> None:
    broker = ScriptedBroker(node_id=1, brokers=[])
    with serving(broker) as port:
        broker.brokers = [(1, "127.0.0.1", port)]
        edges = (edge(EdgeKind.INTER_BROKER, port, node_id=1), edge(EdgeKind.INTER_BROKER, 1, source="elsewhere"))
        address = Address(host="127.0.0.1", port=port)
        found = observe((vantage("a", OwnNamespace()),), (address,), edges=edges)
    assert [str(cell.observed) for cell in found.cells] == ["ok"]
    assert isinstance(found.mesh.edges[0].observed, Answered)
    assert found.mesh.edges[1].observed is None
    assert [who for who, _ in found.mesh.skipped] == ["elsewhere"]
    # The edge and the cell are one contact.
    assert broker.connections == 1
