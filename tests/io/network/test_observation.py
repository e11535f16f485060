"""Observing from our own namespace, on loopback: honest, hostile and dead endpoints; bounded time and memory."""

import resource
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from netdiag.deployment.model.contact import Address, Answered, Failed
from netdiag.deployment.model.verdict import Cell, Verdict
from netdiag.deployment.observation.live_view import docker_host_vantage
from netdiag.io.network.observation import observe
from tests.figures import Report
from tests.io.network import hostile
from tests.io.network.hostile import Behaviour, ScriptedBroker, serving

pytestmark = pytest.mark.bar("hostile-broker")

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
    (hostile.announced_and_withheld, "bootstrap: timeout", "bytes of it came"),
    (hostile.one_byte_a_second, "bootstrap: timeout", "bytes of it came"),
    (hostile.immediate_close, "bootstrap: closed", "closed without an answer"),
    (hostile.reset, "bootstrap: closed", ""),
    (hostile.silence, "bootstrap: timeout", "silent"),
    (hostile.tls_alert, "tls", "TLS"),
    (hostile.tls_that_closes, "tls", "answers TLS"),
    (hostile.http, "not-kafka", "HTTP"),
]


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
    assert "3000 brokers, only 1000" in verdict.bootstrap.because
    assert taken < BOUND


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


def test_both_hops_of_an_honest_cluster() -> None:
    one, two = ScriptedBroker(node_id=1, brokers=[]), ScriptedBroker(node_id=2, brokers=[])
    with serving(one) as port_1, serving(two) as port_2:
        one.brokers = two.brokers = [(1, "localhost", port_1), (2, "localhost", port_2)]
        cells = look(Address(host="localhost", port=port_1), Address(host="127.0.0.1", port=port_2))
    assert [str(cell.observed) for cell in cells] == ["ok", "ok"]
    # Each address once, although both bootstraps name both brokers.
    assert (one.connections, two.connections) == (1, 2)


def test_an_endpoint_that_is_another_broker() -> None:
    one = ScriptedBroker(node_id=1, brokers=[])
    with serving(one) as port:
        one.brokers = [(1, "localhost", port), (2, "localhost", port)]
        verdict = verdict_of(Address(host="localhost", port=port))
    assert str(verdict) == "partial 1/2"
    assert [outcome.outcome for outcome in verdict.endpoints] == ["ok", "wrong-broker"]


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


def test_nothing_is_left_behind() -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    threads = threading.active_count()
    look(Address(host="127.0.0.1", port=1))
    assert threading.active_count() == threads
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == limit


_MEASURED = """
import re, sys
from netdiag.deployment.model.contact import Address
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
