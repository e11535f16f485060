"""Every image makes a broker that gets ready, logs its start, and answers every client."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from netdiag.app.configuration import CheckOptions
from netdiag.app.registry import RegistryOptions, read_registry
from netdiag.app.storage import StorageQuery, read_storage
from netdiag.errors import InputError
from netdiag.io.files.projects import ReadOptions
from netdiag.kafka.registry import RegistryKind
from netdiag.kafka.storage import DataDirectory, MetaProperties
from tests.lab import vantages
from tests.lab.errors import LabError
from tests.lab.image_set import APACHE_3, APACHE_4, CLIENT
from tests.lab.lab import Lab
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import ORACLES, Cell
from tests.lab.stack import Stack

_DATA = Path(__file__).parent / "data"
# What the scenarios show of these images, too, cell by cell.
REST = pytest.mark.bar("cells", long=True)


@pytest.mark.parametrize(
    ("file", "image"),
    [
        ("one-cp.yml", ""),
        pytest.param("one-apache.yml", APACHE_3, marks=REST),
        pytest.param("one-apache.yml", APACHE_4, marks=REST),
    ],
    ids=["cp with ZooKeeper", APACHE_3, APACHE_4],
)
def test_one_broker(lab: Lab, file: str, image: str) -> None:
    # A test before this one on the same engine may have left an anonymous volume of a container that it removed.
    before = lab.engine.docker("volume", "ls", "-q")
    with lab.up(_DATA / file, env={"KAFKA_IMAGE": image} if image else {}) as stack:
        assert "started (kafka.server.Kafka" in stack.logs("broker-1")
        topic = lead_topics(stack)
        host = vantages.docker_host(stack)
        door = Cell(vantage=host, bootstrap="localhost:9091", topic=topic)
        dead = Cell(vantage=host, bootstrap="localhost:9099", topic=topic)
        answers = lab.oracles.ask_all([door, dead])
        for oracle in ORACLES:
            assert answers[door, oracle].verdict() == "ok", answers[door, oracle].raw
            assert answers[dead, oracle].verdict() == "bootstrap", answers[dead, oracle].raw
        _what_is_registered(stack, with_zookeeper=not image)
        if not image:
            _its_volumes_hold_its_data(
                stack, topic.name, set(lab.engine.docker("volume", "ls", "-q").split()) - set(before.split())
            )
        project = stack.project
    assert project not in lab.engine.docker("ps", "-a", "--format", "{{.Names}}")
    assert project not in lab.engine.docker("network", "ls", "--format", "{{.Name}}")
    assert lab.engine.docker("volume", "ls", "-q") == before


def test_what_profiles_start_goes_too(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "compose.json"
    path.write_text(json.dumps({"services": {"app": {"image": CLIENT}, "late": {"image": CLIENT, "profiles": ["x"]}}}))
    with lab.up(path, wait="none") as stack:
        stack.run_compose("up", "-d", "late")
        assert [one.service for one in stack.containers()] == ["app", "late"]
    assert stack.containers() == []
    assert stack.project not in lab.engine.docker("network", "ls", "--format", "{{.Name}}")


def _what_is_registered(stack: Stack, *, with_zookeeper: bool) -> None:
    """All sources have the endpoints that the broker declares; tests/live/test_registry.py asks Kafka's own tools."""
    project = ReadOptions(project_name=stack.project, environ={})
    report = read_registry(RegistryOptions(check=CheckOptions(read=project), host=stack.engine.docker_host))
    (cluster,) = report.clusters
    (node,) = cluster.nodes
    best = RegistryKind.ZOOKEEPER if with_zookeeper else RegistryKind.METADATA_LOG
    assert [one.kind for one in cluster.registries] == [best, *[RegistryKind.LISTENER] * len(node.declared)]
    assert cluster.registries[0].brokers[0].endpoints == node.declared != ()
    assert {end for one in cluster.listeners for end in one.brokers[0].endpoints} == set(node.declared)
    assert node.now is not None
    assert node.now.advertised == node.declared
    assert cluster.controller_id == 1
    assert report.findings == ()


def _its_volumes_hold_its_data(stack: Stack, topic: str, volumes: set[str]) -> None:
    """cp-kafka has a volume for its data and one for secrets, which is empty; this file names no directory."""
    host = stack.engine.docker_host
    (found,) = read_storage(StorageQuery(names=(f"container:{stack.container('broker-1')}",), host=host))
    assert isinstance(found.meta, MetaProperties)
    assert found.meta.node_id == 1
    assert found.logs is not None
    assert f"{topic}-0" in found.logs
    assert not found.is_cut
    same: list[DataDirectory] = []
    for volume in volumes:
        with suppress(InputError):
            same += read_storage(StorageQuery(names=(f"volume:{volume}",), host=host), reads_logs=False)
    assert [one.meta for one in same] == [found.meta]


def _five_broker_cells(stack: Stack) -> list[tuple[Cell, str]]:
    topic = lead_topics(stack)
    host, lan = vantages.docker_host(stack), vantages.lan_machine(stack)
    inside = vantages.inside(stack, "broker-2")
    near, far = vantages.same_network(stack), vantages.other_network(stack)
    bridge = vantages.default_bridge(stack)
    expected = [
        (host, "localhost:9093", "ok"),
        (host, "broker-1:29092", "bootstrap"),
        (near, "broker-5:29092", "ok"),
        (near, "localhost:9091", "bootstrap"),
        (near, "broker-1:9091", "advertised"),
        (inside, "localhost:29092", "ok"),
        (inside, "localhost:9092", "partial 1/5"),
        (inside, "localhost:9091", "bootstrap"),
        (lan, "192.168.8.133:9091", "advertised"),
        (far, "broker-1:29092", "bootstrap"),
        (bridge, "broker-1:29092", "bootstrap"),
    ]
    return [(Cell(vantage=vantage, bootstrap=bootstrap, topic=topic), word) for vantage, bootstrap, word in expected]


@REST
def test_five_brokers_and_every_vantage(lab: Lab) -> None:
    started = time.monotonic()
    with lab.up(_DATA / "five-cp.yml") as stack:
        print(f"five brokers ready in {time.monotonic() - started:.1f} s")
        cells = _five_broker_cells(stack)
        started = time.monotonic()
        answers = lab.oracles.ask_all([cell for cell, _ in cells])
        print(f"{len(answers)} answers in {time.monotonic() - started:.1f} s")
        seen = {
            (cell.vantage.name, cell.bootstrap, oracle): answers[cell, oracle].verdict()
            for cell, _ in cells
            for oracle in ORACLES
        }
        assert seen == {(cell.vantage.name, cell.bootstrap, oracle): word for cell, word in cells for oracle in ORACLES}


@REST
def test_clients_that_meet_the_wrong_broker(lab: Lab) -> None:
    with lab.up(_DATA / "same-door.yml") as stack:
        cell = Cell(
            vantage=vantages.docker_host(stack),
            bootstrap="localhost:9091",
            topic=lead_topics(stack),
        )
        answers = {oracle: lab.oracles.ask(oracle, cell) for oracle in ORACLES}
        for oracle in ("java", "kafka-python"):
            assert answers[oracle].verdict() == "partial 1/2", answers[oracle].raw
            assert answers[oracle].wrong == {2}, answers[oracle].raw
        # librdkafka has one broker per address: which of the two node ids it keeps is chance.
        assert 2 in answers["kcat"].wrong, answers["kcat"].raw


@REST
def test_brokers_whose_metadata_stays_empty(lab: Lab) -> None:
    with lab.up(_DATA / "deaf-inside.yml", wait="settled") as stack:
        with pytest.raises(LabError, match="no topic"):
            lead_topics(stack)
        cell = Cell(vantage=vantages.docker_host(stack), bootstrap="localhost:9091", topic=None)
        answers = lab.oracles.ask_all([cell])
        assert {answers[cell, oracle].verdict() for oracle in ORACLES} == {"no-brokers"}


@REST
@pytest.mark.parametrize(
    ("variable", "sentence"),
    [
        ("KAFKA_ADVERTISED_LISTENERS", "KAFKA_ADVERTISED_LISTENERS is required."),
        ("KAFKA_ZOOKEEPER_CONNECT", "KAFKA_ZOOKEEPER_CONNECT is required."),
    ],
)
def test_a_broker_that_refuses_to_start(lab: Lab, tmp_path: Path, variable: str, sentence: str) -> None:
    override = tmp_path / "override.yml"
    override.write_text(f'services: {{broker-1: {{environment: {{{variable}: ""}}}}}}\n')
    with lab.up(_DATA / "one-cp.yml", override_files=[override], wait="settled") as stack:
        assert stack.wait_settled(still=0)["broker-1"].exit_code == 1
        assert sentence in stack.logs("broker-1")
        assert f"dub ensure {variable}] FAILED !" in stack.logs("broker-1")
