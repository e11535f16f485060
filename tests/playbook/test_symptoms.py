"""Lines are recognised as what says most of them; general symptoms do not hide special ones."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from confluent_kafka import Producer

from netdiag.io.files.playbooks import shipped
from netdiag.playbook.document import MOST_LINES, recognised
from tests.figures import Report
from tests.house.tree import ROOT
from tests.playbook.examples import TEXT, playbook
from tests.tools import tool

_KCAT_COMMON = ("-q", "-t", "orders", "-d", "all", "-X", "broker.version.fallback=2.0.0")
_KAFKA_PYTHON = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from kafka import KafkaConsumer, KafkaProducer
producer = KafkaProducer(bootstrap_servers=sys.argv[1], enable_idempotence=False, api_version=(2, 0))
for number in range(200):
    producer.send("orders", str(number).encode()).get(60)
producer.close()
consumer = KafkaConsumer("orders", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest", api_version=(2, 0))
print(len([message for message, _ in zip(consumer, range(200))]), "consumed")
consumer.close()
"""
_AIOKAFKA = """
import asyncio, logging, sys
logging.basicConfig(level=logging.DEBUG)
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
async def main():
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for number in range(200):
            await producer.send_and_wait("orders", str(number).encode())
    async with AIOKafkaConsumer("orders", bootstrap_servers=sys.argv[1], auto_offset_reset="earliest") as consumer:
        print(len([await consumer.getone() for _ in range(200)]), "consumed")
asyncio.run(asyncio.wait_for(main(), 100))
"""


@contextmanager
def mock_cluster() -> Iterator[str]:
    """Three brokers of librdkafka's own making, in this process; gives their bootstrap list."""
    producer = Producer({"bootstrap.servers": "localhost", "test.mock.num.brokers": 3})
    metadata = producer.list_topics("orders", timeout=60)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in metadata.brokers.values())
    producer.flush(10)


def logs_of_clients(bootstrap: str) -> Mapping[str, list[str]]:
    """What each client logs while it produces, and consumes what was produced."""
    kcat = [tool("kcat"), "-b", bootstrap]
    produced = _said([*kcat, "-P", *_KCAT_COMMON], "".join(f"{number}\n" for number in range(50)))
    consumed = _said([*kcat, "-C", *_KCAT_COMMON, "-o", "beginning", "-c", "50"])
    listed = _said([*kcat, "-L", "-d", "all"])
    return {
        "librdkafka": produced + consumed + listed,
        "kafka-python": _said([sys.executable, "-c", _KAFKA_PYTHON, bootstrap]),
        "aiokafka": _said([sys.executable, "-c", _AIOKAFKA, bootstrap]),
    }


def _said(argv: list[str], given: str = "") -> list[str]:
    done = subprocess.run(argv, input=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (argv[:4], done.stderr[-2000:])
    return (done.stdout + done.stderr).splitlines()


QUOTED = [
    (
        1,
        "bootstrap-refused",
        "Connection to node -1 (localhost/127.0.0.1:9092) could not be established. Broker may not be available.",
    ),
    (2, "advertised-unresolved", "java.net.UnknownHostException: kafka"),
    (2, "advertised-unresolved", "Failed to resolve 'kafka:9092'"),
    (2, "advertised-unresolved", "lookup kafka: no such host"),
    (3, "container-id-advertised", "java.net.UnknownHostException: 5c1a0d9be2f4"),
    (6, "bootstrap-refused", "Connect to ipv4#127.0.0.1:9092 failed: Connection refused"),
    (7, "listener-unmapped", "No security protocol defined for listener PLAINTEXT"),
    (7, "listener-unmapped", "No security protocol defined for listener CONTROLLER"),
    (7, "listener-unmapped", "No security protocol defined for listener TCP"),
    (
        8,
        "inter-broker-listener-missing",
        "inter.broker.listener.name must be a listener name defined in advertised.listeners. "
        "The valid options based on currently configured listeners are INTERNAL,EXTERNAL",
    ),
    (9, "broker-refuses-wildcard", "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0"),
    (10, "listeners-collide", "Each listener must have a different port"),
    (11, "listener-unparsable", "Unable to parse PLAINTEXT://${KAFKA_POD_IP}:9092 to a broker endpoint"),
    (
        12,
        "endpoint-registered-twice",
        "Configured end points localhost:9092 in advertised listeners are already registered by broker 1",
    ),
    (14, "controller-advertised", "advertised.listeners config must not contain KRaft controller listeners"),
    (
        14,
        "controller-advertised",
        "There must be at least one advertised listener. Perhaps all listeners appear in controller.listener.names?",
    ),
    (15, "controller-advertised", "advertised.listeners config must be empty when process.roles=controller"),
    (15, "controller-advertised", "KAFKA_ADVERTISED_LISTENERS is not supported on a KRaft controller."),
    (
        16,
        "controller-listener-missing",
        "controller.listener.names must contain at least one value appearing in the 'listeners'",
    ),
    (17, "mode-lost", 'Missing required configuration "zookeeper.connect" which has no default value.'),
    (17, "mode-lost", "haven't been configured to work in either Raft or Zookeper mode"),
    (
        18,
        "quorum-unreachable",
        "[RaftManager id=1] Error connecting to node kafka-1:9093 (id: 1 rack: null) java.net.UnknownHostException",
    ),
    (19, "invalid-receive-size", "Invalid receive (size = 369295617 larger than 104857600)"),
    (19, "invalid-receive-size", "Invalid receive (size = 1195725856 larger than 104857600)"),
    (20, "sasl-expected", "Unexpected Kafka request of type METADATA during SASL handshake"),
    (21, "tls-name-not-covered", "No subject alternative DNS name matching kafka found"),
    (21, "tls-name-not-covered", "No name matching localhost found"),
    (22, "schema-registry-endpoints", "No supported Kafka endpoints are configured"),
    (
        22,
        "schema-registry-endpoints",
        "Ignoring Kafka broker endpoint INSIDE://foo:29092 that does not match the setting for "
        "kafkastore.security.protocol=PLAINTEXT",
    ),
    (23, "port-already-allocated", "port is already allocated"),
    (25, "leader-without-listener", "1 partitions have leader brokers without a matching listener"),
    (
        25,
        "leader-without-listener",
        "There is no listener on the leader broker that matches the listener on which metadata request was processed",
    ),
    (25, "leader-without-listener", "LEADER_NOT_AVAILABLE"),
    (26, "kafka-port-variable", "port is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead."),
    (
        27,
        "coordinator-unavailable",
        "Group coordinator localhost:9092 (id: 2147483646 rack: null) is unavailable or invalid",
    ),
    (29, "bootstrap-refused", "Connect to ipv6#[::1]:9092 failed: Connection refused"),
    (30, "image-gone", "manifest for bitnami/kafka:3.6.2 not found"),
]


GENERAL = playbook()
LONGER = TEXT.replace('{host}:{port}"', '{host}:{port} for ever"', 1).replace("kafka:9092", "kafka:9092 for ever", 1)
SPECIAL = playbook(LONGER, "for-ever")
BOOKS = (GENERAL, SPECIAL)


def test_the_special_one_comes_first() -> None:
    lines = ["nothing", "cannot connect to a:1", "cannot connect to b:2 for ever", "cannot connect to c:3"]
    found = recognised(lines, BOOKS)
    assert [(one.playbook.name, one.number, one.times) for one in found] == [("for-ever", 3, 1), ("closed-port", 2, 2)]
    assert found[0].values == {"host": "b", "port": "2"}


def test_nothing() -> None:
    assert recognised(["all is well"], BOOKS) == ()
    assert recognised([], BOOKS) == ()


def test_only_so_many_lines_are_read() -> None:
    lines = ["x"] * MOST_LINES + ["cannot connect to a:1"]
    assert recognised(iter(lines), BOOKS) == ()


def test_what_programs_that_are_well_write_too_counts_when_it_comes_often() -> None:
    book = playbook(TEXT.replace('kafka:9092"\n', 'kafka:9092"\n    often: 5\n', 1))
    line = "cannot connect to a:1"
    assert [one.times for one in recognised([line], [book])] == [1]
    quiet = ["all is well"] * 30
    assert recognised([*quiet, *[line] * 4], [book]) == ()
    assert [one.times for one in recognised([*quiet, *[line] * 5], [book])] == [5]


SYMPTOMS_BOOKS = shipped()
AT_FAULT = ROOT / "tests" / "data" / "clients_at_fault.json"
# A client that is hung up on sees the same whoever does so, and why: the playbooks for it look for all of these causes.
_HUNG_UP = ("accepted-then-closed", "tls-against-plaintext")
FIT = {
    "bootstrap-refused": ("bootstrap-refused",),
    "bootstrap-unresolved": ("bootstrap-unresolved", "advertised-unresolved"),
    "advertised-refused": ("advertised-refused",),
    "advertised-unresolved": ("advertised-unresolved",),
    "accepted-then-closed": _HUNG_UP,
    "invalid-receive-size": ("invalid-receive-size", *_HUNG_UP),
    "tls-against-plaintext": _HUNG_UP,
    "plaintext-against-tls": _HUNG_UP,
}


def first(line: str) -> str:
    """The playbook that comes first."""
    found = recognised([line], SYMPTOMS_BOOKS)
    return found[0].playbook.name if found else ""


@pytest.mark.bar("playbooks")
def test_what_users_quoted(figure: Report) -> None:
    wrong = [(number, line, first(line)) for number, book, line in QUOTED if first(line) != book]
    figure("quoted lines of the symptom table, right playbook first", f"{len(QUOTED) - len(wrong)} of {len(QUOTED)}")
    assert len(wrong) * 20 <= len(QUOTED), wrong


@pytest.mark.bar("playbooks")
def test_what_clients_that_are_well_log_is_no_symptom(figure: Report) -> None:
    with mock_cluster() as bootstrap:
        logs = logs_of_clients(bootstrap)
    lines = sum(map(len, logs.values()))
    found = [
        (name, one.playbook.name, one.line)
        for name, log in logs.items()
        for one in (
            *recognised(log, SYMPTOMS_BOOKS),
            *(one for line in log for one in recognised([line], SYMPTOMS_BOOKS)),
        )
    ]
    figure("lines of clients that are well, at their most talkative", f"{lines}, {len(found)} recognised")
    assert all(len(log) > 200 for log in logs.values()), {name: len(log) for name, log in logs.items()}
    assert found == []


@pytest.mark.bar("playbooks")
def test_what_clients_print_at_a_fault(figure: Report) -> None:
    said: dict[str, dict[str, list[str]]] = json.loads(AT_FAULT.read_text("utf-8"))
    sessions = [(fault, client, log) for fault, clients in said.items() for client, log in clients.items()]
    assert len(sessions) == 72
    found = [
        (fault, client, [one.playbook.name for one in recognised(log, SYMPTOMS_BOOKS)])
        for fault, client, log in sessions
    ]
    wrong = [
        (fault, client, names) for fault, client, names in found if names[:1] not in [[each] for each in FIT[fault]]
    ]
    figure("sessions of nine clients at eight faults, right playbook first", f"{72 - len(wrong)} of 72")
    assert len(wrong) * 20 <= 72, wrong
