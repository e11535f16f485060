"""`netdiag registry` without an engine: who is asked for what, and what is made of the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.app import registry as registry_module
from netdiag.app.configuration import CheckOptions
from netdiag.app.registry import RegistryOptions, cluster_readings, read_registry
from netdiag.app.storage import StorageQuery
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Answered, Contact, Failed, Reason
from netdiag.deployment.observation.live_view import LiveVantage, SkippedVantage, StoppedContainer, docker_host_vantage
from netdiag.deployment.observation.registered import Registered
from netdiag.deployment.scope import Scope
from netdiag.errors import InputError
from netdiag.io.engine import live_deployment as live_module
from netdiag.io.engine.address import EngineAddress
from netdiag.io.engine.live_deployment import Live
from netdiag.io.network import registry as asking_module
from netdiag.io.network.registry import (
    BrokerAnswer,
    BrokerQuestion,
    RegistryAnswers,
    RegistryQuestions,
    ZookeeperAnswer,
    ZookeeperQuestion,
)
from netdiag.kafka import questions
from netdiag.kafka.cluster_questions import ClusterTold, Quorum
from netdiag.kafka.questions import ApiVersion, NodeEndpoint, Setting
from netdiag.kafka.registry import RegistryKind
from netdiag.kafka.storage import DataDirectory, MetaProperties
from netdiag.kafka.stored_state import NOTHING_STORED, Registration, StoredState
from netdiag.kafka.zookeeper import NotRead, Znode, ZookeeperRead
from netdiag.linux.netns import ProcessNamespace
from netdiag.linux.sockets import ListeningSocket
from tests.deployment.stacks import deployment_of

ZOOKEEPER = """\
services:
  zookeeper: {image: confluentinc/cp-zookeeper:7.9.2}
  one:
    image: confluentinc/cp-kafka:7.9.2
    environment: &settings
      KAFKA_ZOOKEEPER_CONNECT: "a:2181,b/path"
      KAFKA_BROKER_ID: 1
      KAFKA_LISTENERS: INTERNAL://0.0.0.0:29092,EXTERNAL://one:9091
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://one:29092,EXTERNAL://localhost:9091
  two:
    image: confluentinc/cp-kafka:7.9.2
    environment: {<<: *settings, KAFKA_BROKER_ID: 2, KAFKA_ADVERTISED_LISTENERS: "INTERNAL://two:29092"}
"""
SERVERS = (Address(host="a", port=2181), Address(host="b", port=2181))
KRAFT = """\
services:
  controller:
    image: apache/kafka:4.3.1
    environment:
      KAFKA_NODE_ID: 10
      KAFKA_PROCESS_ROLES: controller
      KAFKA_LISTENERS: CONTROLLER://:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 10@controller:9093
  one:
    image: apache/kafka:4.3.1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker
      KAFKA_LISTENERS: PLAINTEXT://:9092
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://one:9092
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 10@controller:9093
"""


def inside(name: str, kind: VantageKind = VantageKind.BROKER) -> LiveVantage:
    """A place in a container."""
    label = f"inside {name}" if kind is VantageKind.BROKER else f"container {name}"
    return LiveVantage(
        vantage=Vantage(kind=kind, label=label, member=name), entrance=ProcessNamespace(pid=1, container_id=name)
    )


def answered(
    node_id: int, *ends: tuple[str, int], advertised: str = "", cluster_id: str = "abc", has_quorum: bool = False
) -> questions.Answered:
    """What a broker says of itself; the first end is its own."""
    return questions.Answered(
        cluster_id=cluster_id,
        node_id=node_id,
        controller_id=2,
        brokers=tuple(NodeEndpoint(node_id=node_id + n, host=host, port=port) for n, (host, port) in enumerate(ends)),
        api_versions=(ApiVersion(api_key=55, min_version=0, max_version=2),) if has_quorum else (),
        settings=(Setting(name="advertised.listeners", value=advertised),) if advertised else (),
        identity_unknown=None,
    )


class World:
    """What runs and what it says; `asked` and `stored` are what was asked for."""

    def __init__(self, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.live = Live(
            address=EngineAddress(url="unix:///x", said_by="DOCKER_HOST"),
            release="28",
            scope=Scope(asked=frozenset(), name="shop"),
            containers=(),
            deployment=deployment_of(text),
            vantages=(docker_host_vantage(), inside("zookeeper", VantageKind.CONTAINER), inside("one"), inside("two")),
            stopped={},
            sockets={},
        )
        self.answers = RegistryAnswers()
        self.directories: Mapping[str, DataDirectory] = {}
        self.zookeepers: Sequence[ZookeeperQuestion] = ()
        self.brokers: Sequence[BrokerQuestion] = ()
        monkeypatch.setattr(live_module, "read_live", lambda **_: self.live)
        monkeypatch.setattr(asking_module, "ask_registries", self._ask)
        monkeypatch.setattr(registry_module, "read_storage", self._read_storage)

    def _ask(self, asked: RegistryQuestions, **_: object) -> RegistryAnswers:
        self.zookeepers, self.brokers = asked.zookeepers, asked.brokers
        return self.answers

    def _read_storage(self, query: StorageQuery, **_: object) -> tuple[DataDirectory, ...]:
        (name,) = query.names
        assert query.only_metadata
        if name not in self.directories:
            raise InputError("it has none", where=name)
        return (self.directories[name],)

    def read(self, **options: str) -> Registered:
        """The one cluster that is read."""
        found = read_registry(RegistryOptions(check=CheckOptions(isolated=True), containers=("one",), **options))  # type: ignore[arg-type]
        (cluster,) = found.clusters
        return cluster

    def said(
        self, member: str, port: int, what: questions.Answered | Failed, told: ClusterTold | None = None
    ) -> BrokerAnswer:
        """The answer at one listener."""
        contact: Contact = what if isinstance(what, Failed) else Answered(node_id=what.node_id, cluster_id="abc")
        return BrokerAnswer(
            member=member,
            address=Address(host="localhost", port=port),
            contact=contact,
            answered=None if isinstance(what, Failed) else what,
            cluster=told,
        )


def directory(cluster_id: str, state: StoredState = NOTHING_STORED) -> DataDirectory:
    """What lies in a container."""
    meta = MetaProperties(version=1, cluster_id=cluster_id, node_id=1)
    return DataDirectory(
        path="", meta=meta, is_shut_down_cleanly=False, broker_epoch=None, checkpoints={}, partitions=(), state=state
    )


def test_zookeeper_is_asked_from_the_brokers_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = World(ZOOKEEPER, monkeypatch)
    login = tmp_path / "login"
    login.write_text("reader:secret\n")
    world.read(digest_file=str(login))
    (question,) = world.zookeepers
    assert question.servers == SERVERS
    assert question.chroot == "/path"
    assert question.digest == "reader:secret"
    assert "secret" not in repr(question)
    assert [each.vantage.label for each in question.vantages] == [
        "inside one",
        "inside two",
        "container zookeeper",
        "docker host",
    ]
    assert [(one.member, [str(address) for address in one.addresses]) for one in world.brokers] == [
        ("one", ["localhost:29092", "one:9091"]),
        ("two", ["localhost:29092", "one:9091"]),
    ]


def test_answers_and_what_could_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(ZOOKEEPER, monkeypatch)
    world.directories = {"container:one": directory("abc")}
    world.live = replace(
        world.live,
        skipped=(SkippedVantage(vantage=inside("two").vantage, because="takes root"),),
        stopped={
            "two": StoppedContainer(container="two", exit_code=1, oom_killed=False, crash_looping=False, line="why")
        },
    )
    question = ZookeeperQuestion(servers=SERVERS, chroot="/path", vantages=())
    failed = NotRead(because="a:2181 refuses connections")
    world.answers = RegistryAnswers(
        zookeepers=(
            ZookeeperAnswer(
                question=question, server=Address(host="a", port=2181), vantage="docker host", outcome=failed
            ),
        ),
        brokers=(
            world.said("one", 29092, answered(1, ("one", 29092), ("two", 29092), advertised="INTERNAL://one:29092")),
        ),
    )
    found = world.read()
    assert [one.kind for one in found.registries] == [RegistryKind.LISTENER]
    assert found.controller_id == 2
    assert found.notes == (
        "inside two cannot be entered: takes root",
        "the data directory of two cannot be read: it has none",
        "ZooKeeper at a:2181 cannot be read from the docker host: a:2181 refuses connections",
    )
    one, two = found.nodes
    assert one.stored is not None
    assert one.now is not None
    assert [str(end) for end in one.now.advertised or ()] == ["INTERNAL://one:29092"]
    assert two.stopped == "not running, exit code 1: why"
    assert not two.is_up
    assert str(found.told(2, "INTERNAL")) == "INTERNAL://two:29092"


@pytest.mark.parametrize(
    ("reasons", "silent", "guarded"),
    [
        ((Reason.REFUSED, Reason.TIMEOUT), "REFUSED", ""),
        ((Reason.SASL, Reason.REFUSED), "", "SASL"),
        ((Reason.REFUSED, Reason.CLOSED), "", "CLOSED"),
        ((Reason.REFUSED, None), "", ""),
        ((Reason.TLS, None), "", ""),
    ],
)
def test_a_broker_that_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, reasons: Sequence[Reason | None], silent: str, guarded: str
) -> None:
    world = World(ZOOKEEPER, monkeypatch)
    world.answers = RegistryAnswers(
        brokers=tuple(
            world.said("one", port, answered(1) if why is None else Failed(reason=why, because=why.name))
            for port, why in enumerate(reasons)
        )
    )
    node = world.read().nodes[0]
    assert (node.silent, node.guarded) == (silent, guarded)
    assert node.is_up is (not silent)


def test_a_real_zookeeper_comes_before_listeners(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(ZOOKEEPER, monkeypatch)
    node = Znode(data=b'{"endpoints": ["INTERNAL://one:29092"]}', czxid=1, ctime=0)
    question = ZookeeperQuestion(servers=SERVERS, chroot="/path", vantages=())
    read = ZookeeperRead(nodes={"/brokers/ids/1": node})
    world.answers = RegistryAnswers(
        zookeepers=(
            ZookeeperAnswer(question=question, server=Address(host="a", port=2181), vantage="inside one", outcome=read),
        ),
        brokers=(world.said("one", 29092, answered(1)),),
    )
    found = world.read()
    assert found.registry is not None
    assert found.registry.source == "ZooKeeper at a:2181/path, asked from inside one"


@pytest.mark.parametrize(
    ("told", "source"),
    [("abc", "the metadata log of one"), (None, "the metadata log of controller"), ("other", None)],
)
def test_the_metadata_log_of_the_cluster_that_answers(
    monkeypatch: pytest.MonkeyPatch, told: str | None, source: str | None
) -> None:
    """A volume of another cluster may have got further."""
    world = World(KRAFT, monkeypatch)
    registered = (Registration(node_id=1, endpoints=("PLAINTEXT://one:9092",), is_fenced=False),)
    world.directories = {
        "container:controller": directory("stale", StoredState(brokers=registered, metadata_offset=900)),
        "container:one": directory("abc", StoredState(brokers=registered, metadata_offset=7)),
    }
    quorum = ClusterTold(quorum=Quorum(leader_id=10, voters=(10,), observers=(1,)))
    if told:
        said = answered(1, ("one", 9092), cluster_id=told, has_quorum=True)
        world.answers = RegistryAnswers(brokers=(world.said("one", 9092, said, quorum),))
    found = world.read()
    logs = [one.source for one in found.registries if one.kind is RegistryKind.METADATA_LOG]
    assert logs == ([source] if source else [])
    assert found.controller_id == (10 if told else None)


TWINS = """\
services:
  one:
    image: apache/kafka:4.3.1
    networks: &networks {default: {aliases: [kafka]}}
    environment: &settings
      CLUSTER_ID: 4L6g3nShT-eMCtK--X86sw
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_LISTENERS: PLAINTEXT://:9092,TC-0://kafka:19092,CONTROLLER://:9094
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:32771,TC-0://kafka:19092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,TC-0:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9094
  two: {image: "apache/kafka:4.3.1", networks: *networks, environment: *settings}
"""


def test_of_two_clusters_with_one_id_each_has_its_own_log_and_its_own_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(TWINS, monkeypatch)
    deployment = world.live.deployment
    numbers = {"one": "172.18.0.2", "two": "172.18.0.3"}
    members = {
        m.name: replace(m, attachments=tuple(replace(a, addresses=(numbers[m.name],)) for a in m.attachments))
        for m in deployment.members
    }
    world.live = replace(
        world.live,
        deployment=replace(
            deployment,
            brokers=tuple(replace(b, member=members[b.name]) for b in deployment.brokers),
        ),
    )
    logs = {
        name: directory(
            "4L6g3nShT-eMCtK--X86sw",
            StoredState(
                brokers=(Registration(node_id=1, endpoints=(f"PLAINTEXT://{name}:9092",), is_fenced=False),),
                metadata_offset=offset,
            ),
        )
        for name, offset in (("one", 900), ("two", 7))
    }
    readings = cluster_readings(world.live)
    assert [[broker.name for broker in reading.brokers] for reading in readings] == [["one"], ["two"]]
    joined = [reading.joined(RegistryAnswers(), logs) for reading in readings]
    assert [one.registry.source for one in joined if one.registry] == [
        "the metadata log of one",
        "the metadata log of two",
    ]
    asked = [str(address) for reading in readings for each in reading.questions().brokers for address in each.addresses]
    assert asked == ["localhost:9092", "172.18.0.2:19092", "localhost:9092", "172.18.0.3:19092"]


def test_a_broker_that_a_file_configures_is_asked_at_the_ports_that_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """\
services:
  one:
    image: apache/kafka:4.3.1
    volumes: ["./server.properties:/mnt/shared/config/server.properties"]
"""
    world = World(text, monkeypatch)
    ports = tuple(ListeningSocket(address="0.0.0.0", port=port) for port in (9092, 9094, 9092))
    world.live = replace(world.live, sockets={"one": ports})
    found = world.read()
    (question,) = world.brokers
    assert [str(address) for address in question.addresses] == ["localhost:9092", "localhost:9094"]
    assert found.nodes[0].declared == ()


@pytest.mark.parametrize("text", ["", "reader", "reader:", ":secret", "a:b\nc:d"])
def test_a_file_without_a_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    path = tmp_path / "login"
    path.write_text(text)
    with pytest.raises(InputError, match="no line user:password"):
        World(ZOOKEEPER, monkeypatch).read(digest_file=str(path))
