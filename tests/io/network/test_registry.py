"""Asking for registrations: honest and hostile servers on loopback, within time."""

import socket
import struct
import threading
import time

import pytest

from netdiag.deployment.model.verdict import Address, Answered, Failed
from netdiag.deployment.observation.live_view import docker_host_vantage, netns_vantage
from netdiag.io.network.registry import (
    BrokerQuestion,
    RegistryAnswers,
    RegistryQuestions,
    ZookeeperQuestion,
    ask_registries,
)
from netdiag.kafka.protocol import encode_response
from netdiag.kafka.questions import Setting
from netdiag.kafka.zookeeper import NotRead, ZookeeperRead
from tests.io.network import hostile
from tests.io.network.hostile import Behaviour, ScriptedBroker, serving
from tests.kafka.registry_answers import ZOOKEEPER

TIMEOUT = 1.0
# Three steps, and what a busy machine adds.
BOUND = 3 * TIMEOUT + 3
EVERYTHING = [
    hostile.garbage,
    hostile.two_gigabytes,
    hostile.announced_and_withheld,
    hostile.one_byte_a_second,
    hostile.immediate_close,
    hostile.reset,
    hostile.silence,
    hostile.tls_alert,
    hostile.http,
    hostile.endless_frames,
    hostile.negative_size,
    hostile.escapes,
    hostile.endless_line,
]


def recorded(channel: socket.socket, over: threading.Event) -> None:
    """The real ZooKeeper of the recording."""
    channel.sendall(ZOOKEEPER)
    while channel.recv(4096):
        pass


def flood_of_nodes(channel: socket.socket, over: threading.Event) -> None:
    """A ZooKeeper whose every node is as large as it may be."""
    channel.recv(4096)
    channel.sendall(struct.pack(">iiiqi", 36, 0, 10_000, 77, 16) + bytes(16))
    number = 0
    names = b"".join(struct.pack(">i4s", 4, b"%04d" % name) for name in range(5000))
    while channel.recv(4096) and not over.is_set():
        number += 1
        body = struct.pack(">i", 5000) + names if number == 3 else struct.pack(">i", 900_000) + bytes(900_068)
        channel.sendall(struct.pack(">iiqi", 16 + len(body), number, 5, 0) + body)


class Telling(ScriptedBroker):
    """A broker that offers DescribeCluster and DescribeQuorum; it never answers the latter, where it is `lost`."""

    def __init__(self, *, lost: bool = False) -> None:
        super().__init__(node_id=1, brokers=[(1, "one", 9092)])
        self._lost = lost

    def answer(self, api_key: int, api_version: int, correlation_id: int) -> bytes:
        """The framed answer; nothing where there is none."""
        if api_key == 18 and api_version == 0:
            keys = [{"api_key": key, "min_version": 0, "max_version": 2} for key in (3, 18, 32, 55, 60)]
            return encode_response(18, 0, correlation_id, {"error_code": 0, "api_keys": keys})
        if api_key == 60:
            brokers = [
                {"broker_id": 1, "host": "one", "port": 9092, "rack": None},
                {"broker_id": 2, "host": "two", "port": 9092, "rack": "r"},
            ]
            # Whoever offers no version 2 for fenced brokers does not have the field.
            if api_version == 2:
                brokers = [{**broker, "is_fenced": broker["broker_id"] == 2} for broker in brokers]
            body = {"cluster_id": "abc", "controller_id": 1, "brokers": brokers}
            return encode_response(60, api_version, correlation_id, body)
        if api_key == 55:
            partition = {"partition_index": 0, "leader_id": 10, "leader_epoch": 1, "high_watermark": 5}
            topics = [{"topic_name": "__cluster_metadata", "partitions": [partition]}]
            return b"" if self._lost else encode_response(55, api_version, correlation_id, {"topics": topics})
        return super().answer(api_key, api_version, correlation_id)


def ask_zookeeper(port: int, chroot: str = "") -> ZookeeperRead | NotRead:
    """What is read from our own namespace."""
    servers = (Address(host="127.0.0.1", port=port),)
    question = ZookeeperQuestion(servers=servers, chroot=chroot, vantages=(docker_host_vantage(),))
    (answer,) = ask_registries(RegistryQuestions(zookeepers=(question,)), timeout=TIMEOUT).zookeepers
    assert answer.vantage == "docker host"
    return answer.outcome


def ask_broker(port: int) -> RegistryAnswers:
    """What a broker says."""
    where = (Address(host="127.0.0.1", port=port),)
    asked = BrokerQuestion(member="one", vantage=docker_host_vantage(), addresses=where)
    return ask_registries(RegistryQuestions(brokers=(asked,)), timeout=TIMEOUT)


def test_what_zookeeper_has() -> None:
    with serving(recorded) as port:
        found = ask_zookeeper(port, "/kafka")
    assert isinstance(found, ZookeeperRead)
    assert len(found.nodes) == 5


def test_the_first_server_that_answers_counts() -> None:
    with serving(hostile.immediate_close) as dead, serving(recorded) as port:
        servers = tuple(Address(host="127.0.0.1", port=one) for one in (1, dead, port))
        vantages = (netns_vantage("not-there"), docker_host_vantage())
        question = ZookeeperQuestion(servers=servers, chroot="", vantages=vantages)
        found = ask_registries(RegistryQuestions(zookeepers=(question,)), timeout=TIMEOUT)
    (answer,) = found.zookeepers
    assert answer.server.port == port
    assert isinstance(answer.outcome, ZookeeperRead)
    assert list(found.skipped) == ["netns:not-there"]


@pytest.mark.parametrize("behaviour", [*EVERYTHING, flood_of_nodes], ids=lambda one: one.__name__)
def test_a_hostile_zookeeper_is_left(behaviour: Behaviour) -> None:
    begin = time.perf_counter()
    with serving(behaviour) as port:
        found = ask_zookeeper(port)
        taken = time.perf_counter() - begin
    assert isinstance(found, NotRead)
    assert found.because
    assert len(found.because) < 200
    assert taken < BOUND


def test_what_a_broker_tells() -> None:
    with serving(Telling()) as port:
        (found,) = ask_broker(port).brokers
    assert isinstance(found.contact, Answered)
    assert found.answered is not None
    assert found.answered.settings == (Setting(name="node.id", value="1"),)
    assert found.cluster is not None
    assert [(one.endpoint.host, one.is_fenced) for one in found.cluster.brokers] == [("one", False), ("two", True)]
    assert found.cluster.quorum is not None
    assert found.cluster.quorum.leader_id == 10


def test_a_broker_that_waits_for_its_controller() -> None:
    begin = time.perf_counter()
    with serving(Telling(lost=True)) as port:
        (found,) = ask_broker(port).brokers
        taken = time.perf_counter() - begin
    assert found.cluster is not None
    assert [one.endpoint.node_id for one in found.cluster.brokers] == [1, 2]
    assert (found.cluster.quorum, found.cluster.quorum_is_silent) == (None, True)
    assert taken < BOUND


@pytest.mark.parametrize("behaviour", EVERYTHING, ids=lambda one: one.__name__)
def test_a_hostile_broker_is_left(behaviour: Behaviour) -> None:
    begin = time.perf_counter()
    with serving(behaviour) as port:
        (found,) = ask_broker(port).brokers
        taken = time.perf_counter() - begin
    assert isinstance(found.contact, Failed)
    assert (found.answered, found.cluster) == (None, None)
    assert taken < BOUND
