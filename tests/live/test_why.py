"""Why connections fail on a real engine, whose own rules, proxies and names are to blame."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from netdiag.deployment.model.causes import Cause, Certainty
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Failed, Mechanism
from netdiag.deployment.observation.live_view import LiveVantage
from netdiag.io.network.failed_connections import Unexplained, explain
from netdiag.io.network.observation import observe
from netdiag.io.topology import read_topology
from netdiag.linux.netns import ProcessNamespace
from netdiag.topology.graph import Topology
from tests.figures import Report
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab

_SERVE = (
    "import socket, time; held = [socket.create_server(a) for a in (('0.0.0.0', 9092), ('127.0.0.1', 9191))]; "
    "time.sleep(1e6)"
)
_NETWORKS = {
    "why-a": (),
    "why-b": (),
    "why-i": ("--internal",),
    "why-n": ("-o", "com.docker.network.bridge.enable_icc=false"),
}
_CONTAINERS = {
    "why-kafka": ("--network", "why-a", "-p", "9492:9092", "-p", "9493:9999", "-p", "9494:9191"),
    "why-same": ("--network", "why-a"),
    "why-other": ("--network", "why-b"),
    "why-inner": ("--network", "why-i", "-p", "9495:9092"),
    "why-quiet": ("--network", "why-n"),
    "why-quiet2": ("--network", "why-n"),
    "why-alone": ("--network", "none"),
    "why-gone": ("--network", "why-a"),
    "why-frozen": ("--network", "why-a"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Who dials what, "@name" being a container's address; and the cause."""

    source: str
    host: str
    port: int
    mechanism: Mechanism
    certainty: Certainty = Certainty.FOUND


CASES = (
    Case(
        source="why-other",
        host="@why-kafka",
        port=9092,
        mechanism=Mechanism.NETWORK_ISOLATION,
        certainty=Certainty.PROVEN,
    ),
    Case(source="why-quiet", host="@why-quiet2", port=9092, mechanism=Mechanism.ICC_OFF, certainty=Certainty.PROVEN),
    Case(source="why-other", host="why-kafka", port=9092, mechanism=Mechanism.NAME_ON_OTHER_NETWORK),
    Case(source="why-same", host="why-gone", port=9092, mechanism=Mechanism.NAME_OF_STOPPED),
    Case(source="why-same", host="why-frozen", port=9092, mechanism=Mechanism.PAUSED),
    Case(source="why-same", host="why-kafka", port=9191, mechanism=Mechanism.BOUND_TO_LOOPBACK),
    Case(source="why-same", host="127.0.0.1", port=9492, mechanism=Mechanism.OWN_LOOPBACK),
    Case(source="why-alone", host="@why-kafka", port=9092, mechanism=Mechanism.NO_NETWORK),
    Case(source="host", host="127.0.0.1", port=9493, mechanism=Mechanism.PUBLISHED_TO_DEAD_PORT),
    Case(source="host", host="127.0.0.1", port=9494, mechanism=Mechanism.BOUND_TO_LOOPBACK),
    Case(source="host", host="127.0.0.1", port=9495, mechanism=Mechanism.PUBLISHED_BY_INTERNAL),
    Case(source="host", host="why-kafka", port=9092, mechanism=Mechanism.NO_EMBEDDED_DNS),
)


@pytest.fixture(scope="module")
def topology(lab: Lab) -> Iterator[Topology]:
    docker = lab.engine.docker
    made: list[tuple[str, ...]] = []
    try:
        for name, options in _NETWORKS.items():
            docker("network", "create", *options, name)
            made.insert(0, ("network", "rm", name))
        for name, options in _CONTAINERS.items():
            docker("run", "-d", "--init", "--name", name, *options, CLIENT, "python3", "-c", _SERVE, timeout=120)
            made.insert(0, ("rm", "-f", "-v", name))
        docker("kill", "why-gone")
        docker("pause", "why-frozen")
        yield _settled(lab)
    finally:
        for words in made:
            docker(*words, check=False)


def _settled(lab: Lab) -> Topology:
    """What is there once every server listens."""
    until = time.monotonic() + 60
    while True:
        found = read_topology(host=lab.engine.docker_host)
        places = [place for place in found.places if place.name.startswith("why-")]
        listening = [
            place
            for place in places
            if {9092, 9191} <= {one.port for one in found.inventory.namespaces[place.netns].listeners}
        ]
        if len(listening) == len(_CONTAINERS) - 1 or time.monotonic() > until:
            return found
        time.sleep(0.2)


def address_of(topology: Topology, host: str) -> str:
    if not host.startswith("@"):
        return host
    container = next(one for one in topology.containers.values() if one.name == host[1:])
    return container.networks[0].addresses[0]


def explained(topology: Topology, cases: tuple[Case, ...]) -> list[tuple[Cause, ...]]:
    """What the clients really get, side by side, and the causes of it."""
    vantages, asked = {}, []
    for case in cases:
        place = topology.named(case.source)
        assert place is not None
        pid = topology.inventory.namespaces[place.netns].netns.pids[0]
        vantage = Vantage(kind=VantageKind.CONTAINER, label=case.source)
        vantages[case.source] = LiveVantage(vantage=vantage, entrance=ProcessNamespace(pid=pid))
        asked.append(Address(host=address_of(topology, case.host), port=case.port))
    cells = {(one.vantage, one.bootstrap): one.observed for one in observe(tuple(vantages.values()), asked).cells}
    found = []
    for case, address in zip(cases, asked, strict=True):
        verdict = cells[case.source, address]
        assert verdict is not None
        assert isinstance(verdict.bootstrap, Failed), (case, verdict)
        one = Unexplained(
            vantage=case.source, entrance=vantages[case.source].entrance, address=address, seen=verdict.bootstrap
        )
        found.append(next((got.causes for got in explain(topology, (one,))), ()))
    return found


@pytest.mark.bar("causes")
def test_faults_of_a_real_engine(topology: Topology, figure: Report) -> None:
    found = explained(topology, CASES)
    wrong = [
        (case, causes)
        for case, causes in zip(CASES, found, strict=True)
        if not causes or (causes[0].mechanism, causes[0].certainty) != (case.mechanism, case.certainty)
    ]
    unrepaired = [
        (case, causes[0].repairs)
        for case, causes in zip(CASES, found, strict=True)
        if causes and not any(one.confirmed for one in causes[0].repairs)
    ]
    figure("faults of a real engine, named at rank 1", f"{len(CASES) - len(wrong)} of {len(CASES)}")
    figure("faults of a real engine, with a confirmed repair", f"{len(CASES) - len(unrepaired)} of {len(CASES)}")
    assert not wrong
    assert not unrepaired
