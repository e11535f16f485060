"""`netdiag registry` without an engine: its options, its text and its JSON; tests/live has real clusters."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import jsonschema
import pytest

from netdiag import read_registry
from netdiag.render.registry import registry_json, registry_text
from netdiag.render.screen import Screen
from netdiag.rules.observed import check_registered
from tests.cli.shell import netdiag
from tests.kafka.registry_answers import ZOOKEEPER
from tests.render.schemas import strict_schema
from tests.rules.recorded import view_of

SCHEMA = strict_schema("registry.v1.json")
TWO = """\
services:
  kafka-1:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
  kafka-2:
    image: confluentinc/cp-kafka:7.9.2
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_BROKER_ID: 2
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092,EXTERNAL://localhost:9094
x-observed:
  registered:
"""


def shown(registered: str) -> tuple[list[str], list[str], Mapping[str, object]]:
    """The lines of the text, the IDs of the findings, and the JSON, of what is registered by two brokers."""
    text = TWO + "".join(f"    {line}\n" for line in registered.strip().splitlines())
    view = view_of(text)
    assert view.registered is not None
    findings = check_registered(view)
    document = json.loads(registry_json([view.registered], findings))
    jsonschema.validate(document, SCHEMA)
    lines = registry_text([view.registered], findings, Screen(width=120)).splitlines()
    return lines, [finding.rule for finding in findings], document["clusters"][0]


def test_all_is_well() -> None:
    lines, findings, cluster = shown(
        """
zookeeper:
  cluster: abc
  controller: 2
  brokers:
    1: {at: ["PLAINTEXT://kafka-1:9092"]}
    2: {at: ["PLAINTEXT://kafka-2:9092", "EXTERNAL://localhost:9094"]}
listener: {cluster: abc, brokers: {1: {at: ["PLAINTEXT://kafka-1:9092"]}}}
nodes:
  kafka-1: {now: {node: 1, cluster: abc, at: ["PLAINTEXT://kafka-1:9092"]}}
"""
    )
    assert lines == [
        "recorded: cluster abc, 2 registered brokers, controller 2 (kafka-2)",
        "  read from ZooKeeper at zookeeper:2181",
        "  asked what listeners tell",
        "",
        "  node  member   listener   registered      declared  now   Metadata",
        "  1     kafka-1  PLAINTEXT  kafka-1:9092    same      same  same",
        "  2     kafka-2  PLAINTEXT  kafka-2:9092    same      ?     ?",
        "                 EXTERNAL   localhost:9094  same      ?     ?",
    ]
    assert findings == []
    assert cluster["controller_id"] == 2


def test_differences_in_the_table() -> None:
    lines, findings, _ = shown(
        """
zookeeper:
  controller: 1
  brokers:
    1: {at: ["PLAINTEXT://old:9092", "GONE://old:1"]}
nodes:
  kafka-1: {now: {node: 1, at: ["PLAINTEXT://new:9092"]}, file: ["PLAINTEXT://new:9092"]}
  kafka-2: {stopped: "not running, exit code 1"}
"""
    )
    assert lines[4:9] == [
        "  1     kafka-1  PLAINTEXT  old:9092    kafka-1:9092  new:9092  ?",
        "                 GONE       old:1       -             -         ?",
        "",
        "  kafka-2: node 2, not running, exit code 1",
        "",
    ]
    assert findings == ["live-registered-endpoint", "live-registered-endpoint"]
    assert (
        "kafka-1 is registered as node 1 with PLAINTEXT://old:9092, but its file has PLAINTEXT://new:9092, its "
        "container has PLAINTEXT://kafka-1:9092 and it now advertises PLAINTEXT://new:9092"
    ) in "\n".join(lines)


@pytest.mark.parametrize(
    ("registered", "rule", "message"),
    [
        (
            "zookeeper: {controller: 1, brokers: {1: {at: ['PLAINTEXT://kafka-2:9092']}}}\n"
            "nodes: {kafka-1: {stopped: ended}, kafka-2: {now: {node: 1}}}",
            "live-duplicate-registration",
            "kafka-1 is node 1, which kafka-2 has registered with PLAINTEXT://kafka-2:9092",
        ),
        (
            "listener: {lost: no answer in time, brokers: {1: {at: ['PLAINTEXT://kafka-1:9092'], fenced: true}}}",
            "live-broker-fenced",
            "kafka-1 (node 1) is registered, but fenced: it leads no partition, and no client is told of it",
        ),
        (
            "listener: {lost: no answer in time, brokers: {1: {at: ['PLAINTEXT://kafka-1:9092']}}}",
            "live-controller-lost",
            "no broker gets an answer from the controller of recorded",
        ),
        (
            "zookeeper: {controller: 2, brokers: {1: {at: ['PLAINTEXT://kafka-1:9092']}}}\n"
            "nodes: {kafka-1: {now: {node: 1}}, kafka-2: {silent: no answer}}",
            "live-controller-lost",
            "kafka-2 (node 2) is controller of recorded, and does not answer",
        ),
        (
            "zookeeper: {cluster: abc}\nnodes: {kafka-1: {now: {node: 1, cluster: xyz}}}",
            "live-cluster-id-differs",
            "kafka-1 answers for cluster xyz, but abc is registered",
        ),
    ],
)
def test_findings(registered: str, rule: str, message: str) -> None:
    lines, findings, _ = shown(registered)
    assert rule in findings
    assert message in "\n".join(lines)


def test_a_dead_broker_that_was_controller_is_told_once() -> None:
    _, findings, _ = shown(
        "zookeeper: {controller: 1, brokers: {1: {at: ['PLAINTEXT://stranger:9092']}}}\nnodes: {kafka-1: {silent: no}}"
    )
    assert findings == ["live-duplicate-registration"]


def test_what_a_broker_chooses_itself_is_no_difference() -> None:
    """An empty host is the container's own; a controller's listener is advertised, and not registered."""
    _, findings, _ = shown(
        "zookeeper: {controller: 1, brokers: {1: {at: ['PLAINTEXT://kafka-1:9092', 'EXTERNAL://0f3a:9094']}}}\n"
        "nodes: {kafka-1: {now: {node: 1, at: ['PLAINTEXT://kafka-1:9092', 'EXTERNAL://:9094', 'CONTROLLER://:9093', "
        "'CONTROL://kafka-1:9095']}}}"
    )
    assert findings == []
    _, findings, _ = shown(
        "zookeeper: {controller: 2, brokers: {2: {at: ['PLAINTEXT://kafka-2:9092']}}}\n"
        "nodes: {kafka-2: {now: {node: 2}}}"
    )
    assert findings == ["live-registered-endpoint"]


def test_brokers_that_want_a_login_are_there() -> None:
    lines, findings, _ = shown(
        "zookeeper: {controller: 1, brokers: {1: {at: ['PLAINTEXT://new:9092']}}}\n"
        "nodes: {kafka-1: {guarded: it requires SASL}, kafka-2: {guarded: it requires SASL}}"
    )
    assert findings == ["live-registered-endpoint"]
    assert "  kafka-1: node 1, tells nothing without --client-properties that fit: it requires SASL" in lines


def test_nothing_is_known_of_a_registry_nobody_could_read() -> None:
    lines, findings, cluster = shown("nodes: {}")
    assert lines == ["recorded: no registry could be read"]
    assert findings == []
    assert cluster["registries"] == []


@contextmanager
def server(answer: bytes) -> Iterator[int]:
    """Accepts one connection, and answers as a recording does, whatever it is asked."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve() -> None:
            for _ in range(2):
                try:
                    channel, _ = listening.accept()
                except OSError:
                    return
                with channel:
                    channel.sendall(answer)
                    while channel.recv(4096):
                        pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]


def test_a_zookeeper_without_an_engine(tmp_path: Path) -> None:
    with server(ZOOKEEPER) as port:
        done = netdiag("registry", "--zookeeper", f"127.0.0.1:{port}/kafka", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    (cluster,) = document["clusters"]
    assert cluster["cluster_id"] == "D3u-YjCPSHefPgUPtJNIFg"
    assert [broker["node_id"] for broker in cluster["registries"][0]["brokers"]] == [1, 2, 3]


def test_the_same_from_python() -> None:
    with server(ZOOKEEPER) as port:
        report = read_registry(zookeeper=f"127.0.0.1:{port}/kafka")
    assert report.findings == ()
    assert report.to_dict()["clusters"][0]["controller_id"] == 3
    assert report.to_text().startswith(f"ZooKeeper at 127.0.0.1:{port}/kafka: cluster D3u-YjCPSHefPgUPtJNIFg, 3 reg")
    assert "broker-1:29092" in report._repr_html_()


def test_something_else_at_its_address(tmp_path: Path) -> None:
    with server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        done = netdiag("registry", "--zookeeper", f"127.0.0.1:{port}", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr.decode().splitlines()[0] == (
        f"netdiag: ZooKeeper at 127.0.0.1:{port}: cannot read it: 127.0.0.1:{port}: something other than ZooKeeper "
        'answers: "HTTP/1.1 400 Bad Request"'
    )


@pytest.mark.parametrize(
    ("arguments", "status", "line"),
    [
        (("--zookeeper", "x:y"), 2, '"x:y" is no address of ZooKeeper'),
        (("--zookeeper", "a:1", "-p", "shop"), 2, "--zookeeper asks no engine"),
        (("--zookeeper", "a:1", "--zookeeper-digest", "empty"), 3, "holds no line user:password"),
        (("--zookeeper", "a:1", "--zookeeper-digest", "gone"), 3, "gone"),
        (("nothing.yml",), 3, "nothing.yml"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, arguments: tuple[str, ...], status: int, line: str) -> None:
    (tmp_path / "empty").write_text("reader\n")
    done = netdiag("registry", *arguments, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert line in done.stderr.decode()
    assert b"Traceback" not in done.stderr
