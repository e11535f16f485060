"""What is registered, made of what sources say."""

import json

import pytest

from netdiag.kafka.cluster_questions import ClusterConversation, ClusterTold, Quorum
from netdiag.kafka.listeners import Endpoint
from netdiag.kafka.questions import Answered, ApiVersion, NodeEndpoint, Setting
from netdiag.kafka.registry import UNNAMED, RegisteredNode, from_listener, from_stored_state, from_zookeeper
from netdiag.kafka.stored_state import Registration, StoredState
from netdiag.kafka.zookeeper import Znode, ZookeeperRead, ZookeeperReading
from tests.kafka.registry_answers import CLUSTER, ZOOKEEPER

OFFERED = (
    ApiVersion(api_key=60, min_version=0, max_version=2),
    ApiVersion(api_key=55, min_version=0, max_version=2),
)


def zookeeper(**nodes: object) -> ZookeeperRead:
    """Nodes by the ends of their paths, as JSON or as bytes."""
    paths = {"id": "/cluster/id", "controller": "/controller"}
    return ZookeeperRead(
        nodes={
            paths.get(name, f"/brokers/ids/{name.removeprefix('b')}"): Znode(
                data=value if isinstance(value, bytes) else json.dumps(value).encode(), czxid=7, ctime=0
            )
            for name, value in nodes.items()
        }
    )


def test_a_real_zookeeper() -> None:
    talk = ZookeeperReading(chroot="/kafka")
    talk.receive(ZOOKEEPER)
    assert isinstance(talk.outcome, ZookeeperRead)
    found = from_zookeeper(talk.outcome, "there")
    assert (found.cluster_id, found.controller_id, found.problems) == ("D3u-YjCPSHefPgUPtJNIFg", 3, ())
    assert [str(end) for broker in found.brokers for end in broker.endpoints] == [
        "INTERNAL://broker-1:29092",
        "EXTERNAL://localhost:9091",
        "INTERNAL://broker-2:29092",
        "EXTERNAL://localhost:9092",
        "INTERNAL://broker-3:29092",
        "EXTERNAL://localhost:9093",
    ]
    assert found.broker(1) == RegisteredNode(
        node_id=1, endpoints=found.brokers[0].endpoints, epoch=65, since=1795733508820
    )


def test_the_first_version_has_a_host_and_a_port() -> None:
    found = from_zookeeper(zookeeper(b4={"version": 1, "host": "old", "port": 9092, "jmx_port": -1}), "")
    assert found.brokers == (
        RegisteredNode(node_id=4, endpoints=(Endpoint(listener="PLAINTEXT", host="old", port=9092),), epoch=7),
    )


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"null",
        b"[" * 40_000,
        b'{"endpoints": ["PLAINTEXT://a:1"], "x": "' + b"x" * 70_000 + b'"}',
        {"endpoints": ["no endpoint"]},
        {"endpoints": [7]},
        {"endpoints": ["PLAINTEXT://a:1,PLAINTEXT://b:2"]},
        {"endpoints": ["PLAINTEXT://a:1"] * 200},
        {"host": "a", "port": True},
        {"host": "a", "port": 70_000},
    ],
)
def test_a_registration_that_is_none(value: object) -> None:
    found = from_zookeeper(zookeeper(b1=value), "")
    assert found.brokers == ()
    assert found.problems == ("/brokers/ids/1 cannot be read",)


def test_nobody_is_controller() -> None:
    found = from_zookeeper(zookeeper(id={"id": "abc"}, controller={"brokerid": -1}), "")
    assert (found.cluster_id, found.controller_id, found.tells_controller) == ("abc", None, True)
    refused = from_zookeeper(ZookeeperRead(refused=("/controller",)), "")
    assert not refused.tells_controller
    assert refused.problems == ("/controller may not be read without authentication",)


def test_an_empty_path() -> None:
    assert from_zookeeper(ZookeeperRead(), "").problems == ("no Kafka broker has ever registered there",)


def test_the_metadata_log() -> None:
    state = StoredState(
        brokers=(Registration(node_id=1, endpoints=("A://a:1", "B://[::1]:2"), epoch=9, is_fenced=True, rack="r"),),
        controllers=(Registration(node_id=10, endpoints=("C://c:9093",)),),
        unread=2,
    )
    found = from_stored_state(state, "the log", "abc")
    a, b = Endpoint(listener="A", host="a", port=1), Endpoint(listener="B", host="::1", port=2)
    assert found.brokers == (RegisteredNode(node_id=1, endpoints=(a, b), epoch=9, is_fenced=True, rack="r"),)
    assert [str(end) for end in found.controllers[0].endpoints] == ["C://c:9093"]
    assert found.problems == ("2 records cannot be decoded",)
    assert not found.tells_controller


def told(data: bytes, offered: tuple[ApiVersion, ...] = OFFERED, *, size: int | None = None) -> ClusterTold:
    """What a broker tells that sends these bytes."""
    talk = ClusterConversation(offered)
    talk.start()
    for at in range(0, len(data), size or len(data) or 1):
        talk.receive(data[at : at + (size or len(data))])
    talk.ended("no answer in time")
    assert talk.outcome is not None
    return talk.outcome


def answered(**changes: object) -> Answered:
    """A broker at its listener INTERNAL."""
    values: dict[str, object] = {
        "cluster_id": "MkU3OEVBNTcwNTJENDM2Qk",
        "node_id": 1,
        "controller_id": 2,
        "brokers": (NodeEndpoint(node_id=1, host="broker-1", port=29092),),
        "api_versions": OFFERED,
        "settings": (
            Setting(name="advertised.listeners", value="INTERNAL://broker-1:29092,EXTERNAL://localhost:9091"),
        ),
        "identity_unknown": None,
    }
    return Answered(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 10, None])
def test_a_real_broker_tells_of_its_cluster(size: int | None) -> None:
    found = told(CLUSTER, size=size)
    assert [(one.endpoint.node_id, one.endpoint.host, one.is_fenced) for one in found.brokers] == [
        (1, "broker-1", False),
        (2, "broker-2", False),
        (3, "broker-3", False),
    ]
    assert found.quorum == Quorum(
        leader_id=10,
        voters=(10,),
        observers=(1, 2, 3),
        endpoints={10: (Endpoint(listener="CONTROLLER", host="controller", port=9093),)},
    )
    registry = from_listener(answered(), found, "broker-1")
    assert (registry.controller_id, registry.tells_controller, registry.controller_lost) == (10, True, "")
    assert [(node.node_id, str(node.endpoints[0]), node.is_fenced) for node in registry.brokers] == [
        (1, "INTERNAL://broker-1:29092", False),
        (2, "INTERNAL://broker-2:29092", False),
        (3, "INTERNAL://broker-3:29092", False),
    ]


def test_the_quorum_does_not_answer() -> None:
    first = int.from_bytes(CLUSTER[:4]) + 4
    found = told(CLUSTER[:first])
    assert (found.quorum, found.quorum_refused, found.quorum_is_silent) == (None, "no answer in time", True)
    registry = from_listener(answered(), found, "broker-1")
    assert (registry.controller_id, registry.tells_controller) == (None, False)
    assert registry.controller_lost == "no answer in time"
    assert registry.problems == ("DescribeQuorum: no answer in time",)


def test_a_broker_with_zookeeper_has_no_quorum() -> None:
    found = told(b"", ())
    assert found.cluster_refused == "it does not offer DescribeCluster"
    registry = from_listener(answered(api_versions=()), found, "broker-1")
    assert (registry.controller_id, registry.tells_controller, registry.controller_lost) == (2, True, "")


def test_a_listener_whose_name_is_not_told() -> None:
    registry = from_listener(answered(settings=()), None, "broker-1")
    assert registry.brokers[0].endpoints == (Endpoint(listener=UNNAMED, host="broker-1", port=29092),)


@pytest.mark.parametrize("at", range(0, len(CLUSTER), 13))
def test_any_damage(at: int) -> None:
    damaged = bytearray(CLUSTER)
    damaged[at] ^= 0xFF
    told(bytes(damaged))
