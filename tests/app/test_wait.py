"""Waiting for clients: which clients and addresses count, what is lacking, and when waiting ends."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netdiag.app.configuration import CheckOptions
from netdiag.app.wait import WaitOptions, WaitResult, wait
from netdiag.deployment.model.verdict import Address, Answered, Cell, Contact, Failed, NodeEndpoint, Reason, judge
from netdiag.deployment.observation.live_view import (
    LiveVantage,
    SeenName,
    SkippedVantage,
    container_vantages,
    docker_host_vantage,
)
from netdiag.deployment.scope import scope_of
from netdiag.deployment.sources.engine import from_engine, member_names
from netdiag.engine.container import Container, parse_container
from netdiag.errors import InputError, UsageError
from netdiag.io.engine import live_deployment
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.live_deployment import Live
from netdiag.io.network import observation
from netdiag.io.network.observation import Observed

FILE = """
name: shop
services:
  kafka:
    image: apache/kafka:3.9.1
    ports: ["9092:9092"]
    environment:
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  app:
    image: example/app
    environment: {KAFKA_BOOTSTRAP_SERVERS: "kafka:9092"}
  job:
    image: example/job
    environment: {KAFKA_BOOTSTRAP_SERVERS: "kafka:9092"}
    profiles: [jobs]
"""
KAFKA = Address(host="kafka", port=9092)
LOCAL = Address(host="localhost", port=9092)
READY = Answered(node_id=1, cluster_id="c", brokers=(NodeEndpoint(node_id=1, host="kafka", port=9092),))
REFUSED = Failed(reason=Reason.REFUSED, because="172.18.0.2:9092 refuses")


def container(service: str, *, status: str = "running", exit_code: int = 0) -> Container:
    """One of the project, as the engine tells it."""
    labels = {"com.docker.compose.project": "shop", "com.docker.compose.service": service}
    image = "apache/kafka:3.9.1" if service == "kafka" else f"example/{service}"
    return parse_container(
        {
            "Id": service * 4,
            "Name": f"/shop-{service}-1",
            "Config": {"Image": image, "Labels": labels, "Cmd": ["/etc/kafka/docker/run"]},
            "State": {"Status": status, "Pid": 7 if status == "running" else 0, "ExitCode": exit_code},
            "NetworkSettings": {"Networks": {"shop_default": {"NetworkID": "n"}}},
        }
    )


class Engine:
    """What the engine says, and what clients meet, round by round; the last round stays."""

    def __init__(self, rounds: Sequence[tuple[Sequence[Container], Answered | Failed]]) -> None:
        self.rounds = list(rounds)
        self.asked: list[tuple[str, str]] = []
        self.enterable = True
        self.names: tuple[SeenName, ...] = ()
        self.topics: Contact | None = None
        self.topics_asked: list[tuple[str, str]] = []

    def read_live(self, **_: object) -> Live:
        """The containers of this round."""
        containers = tuple(self.rounds[0][0])
        deployment = from_engine(containers, (), name="shop")
        return Live(
            address=EngineAddress(url="unix:///run/docker.sock", said_by="default"),
            release="28",
            scope=scope_of(containers, ()),
            containers=containers,
            deployment=deployment,
            vantages=(docker_host_vantage(), *container_vantages(deployment, containers, member_names(containers))),
            stopped={},
            sockets={},
        )

    def observe(self, vantages: Sequence[LiveVantage], addresses: Sequence[Address], **words: Any) -> Observed:
        """Every address gives the contact of this round."""
        contact = self.contact = self.rounds[0][1]
        if len(self.rounds) > 1:
            self.rounds.pop(0)
        self.asked += [(each.vantage.label, str(address)) for each in vantages for address in addresses]
        if not self.enterable:
            skipped = (SkippedVantage(vantage=each.vantage, because="needs root", rights=True) for each in vantages)
            return Observed(cells=(), skipped=tuple(skipped))
        verdict = judge(contact, lambda _: contact)
        cells = (Cell(vantage=v.vantage.label, bootstrap=a, observed=verdict) for v in vantages for a in addresses)
        return Observed(cells=tuple(cells), names=self.names)

    def ask_for_topics(self, vantage: LiveVantage, address: Address, **_: Any) -> Contact:
        """What all topics are asked for, in the same round."""
        self.topics_asked.append((vantage.vantage.label, str(address)))
        return self.topics or self.contact


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the file."""
    (tmp_path / "compose.yml").write_text(FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", lambda _: None)


def waited(engine: Engine, monkeypatch: pytest.MonkeyPatch, **words: Any) -> WaitResult:
    """How waiting ends with this engine."""
    monkeypatch.setattr(live_deployment, "read_live", engine.read_live)
    monkeypatch.setattr(observation, "observe", engine.observe)
    monkeypatch.setattr(observation, "ask_for_topics", engine.ask_for_topics)
    return wait(WaitOptions(check=CheckOptions(isolated=True), **{"timeout": 5.0, **words}))


BOTH = (container("kafka"), container("app"))


def test_it_ends_when_nothing_is_lacking_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    starting = (container("kafka"), container("app", status="created"))
    engine = Engine([(starting, REFUSED), (BOTH, REFUSED), (BOTH, READY)])
    result = waited(engine, monkeypatch)
    assert result.clients == ("app",)
    assert result.lacking == ()
    assert engine.asked == [("container app", "kafka:9092")] * 2


@pytest.mark.parametrize(
    ("containers", "contact", "lacking"),
    [
        (BOTH, REFUSED, "app: kafka:9092: 172.18.0.2:9092 refuses"),
        (
            BOTH,
            Answered(node_id=1, cluster_id="c", brokers=READY.brokers, leaderless=("a", "b", "c", "d")),
            "app: kafka:9092: no leader for topics a, b, c and 1 more",
        ),
        (
            BOTH,
            Answered(node_id=2, cluster_id="c", brokers=READY.brokers),
            "app: kafka:9092: broker 1 at kafka:9092: wrong-broker",
        ),
        (BOTH, Answered(node_id=1, cluster_id="c"), "app: kafka:9092: no broker is registered"),
        ((BOTH[0], container("app", status="created")), READY, "app: its container is created"),
        ((BOTH[0], container("app", status="exited", exit_code=3)), READY, "app: its container has exited with 3"),
    ],
)
def test_what_is_lacking_when_the_time_is_up(
    containers: Sequence[Container], contact: Answered | Failed, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = waited(Engine([(containers, contact)]), monkeypatch, timeout=0.01)
    assert [str(one) for one in result.lacking] == [lacking]
    assert not result.unseen


def test_a_job_that_has_ended_well_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine([((BOTH[0], container("app", status="exited")), READY)])
    assert waited(engine, monkeypatch).lacking == ()


def test_a_client_without_container_cannot_be_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    result = waited(Engine([((BOTH[0],), READY)]), monkeypatch)
    assert [one.client for one in result.lacking] == ["app"]
    assert result.unseen
    assert result.seconds < 5


def test_neither_can_one_whose_namespace_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine([(BOTH, READY)])
    engine.enterable = False
    result = waited(engine, monkeypatch)
    assert [str(one) for one in result.lacking] == ["app: cannot be entered: needs root"]
    assert result.unseen


def test_without_clients_the_published_ports_are_tried_from_the_docker_host(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path("compose.yml")
    path.write_text(FILE.partition("  app:")[0], encoding="utf-8")
    engine = Engine([((BOTH[0],), READY)])
    assert waited(engine, monkeypatch).clients == ("docker host",)
    assert engine.asked == [("docker host", "localhost:9092")]
    path.write_text(FILE.partition("  app:")[0].replace('    ports: ["9092:9092"]\n', ""), encoding="utf-8")
    with pytest.raises(InputError, match="declares no Kafka client, and publishes no Kafka listener"):
        waited(engine, monkeypatch)


def test_topics_are_asked_for_once_in_each_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine([(BOTH, READY)])
    waited(engine, monkeypatch, bootstraps=(LOCAL,))
    assert engine.topics_asked == [("container app", "kafka:9092")]


def test_topics_that_cannot_be_read_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine([(BOTH, READY)])
    engine.topics = Failed(reason=Reason.NOT_KAFKA, because="its answer is too large")
    result = waited(engine, monkeypatch, timeout=0.01)
    said = "app: kafka:9092: cannot tell which topics have leaders: its answer is too large"
    assert [str(one) for one in result.lacking] == [said]


def test_a_name_of_two_brokers_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    other = parse_container(
        {
            "Id": "f" * 12,
            "Name": "/other-kafka-1",
            "Config": {"Image": "apache/kafka:3.9.1", "Labels": {"com.docker.compose.project": "other"}},
            "State": {"Status": "running", "Pid": 8},
            "NetworkSettings": {"Networks": {"shop_default": {"NetworkID": "n", "IPAddress": "172.18.0.9"}}},
        }
    )
    engine = Engine([((*BOTH, other), READY)])
    met = (replace(READY, ip="172.18.0.2"), Answered(node_id=1, cluster_id="d", ip="172.18.0.9"))
    engine.names = (SeenName(vantage="container app", address=KAFKA, contacts=met),)
    result = waited(engine, monkeypatch, timeout=0.01)
    (lack,) = result.lacking
    assert '"kafka" leads to' in lack.because
    assert not result.unseen


def test_addresses_for_the_docker_host_are_tried_too(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine([(BOTH, READY)])
    result = waited(engine, monkeypatch, bootstraps=(LOCAL,))
    assert result.clients == ("app", "docker host")
    assert result.lacking == ()


def test_a_client_that_the_file_does_not_declare_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="declares no Kafka client nobody") as refused:
        waited(Engine([(BOTH, READY)]), monkeypatch, clients=("nobody",))
    assert refused.value.hint == "it declares app"


def test_it_takes_one_project(tmp_path: Path) -> None:
    Path("other.yml").write_text(FILE, encoding="utf-8")
    with pytest.raises(UsageError, match="several projects are named"):
        wait(WaitOptions(check=CheckOptions(files=("compose.yml", "other.yml"), isolated=True)))
