"""Podman in the lab: what netdiag says of it, of its pods and of the networks that it creates itself."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.deployment.model.verdict import Address
from netdiag.errors import NotThere
from netdiag.io.engine.address import find_engine
from netdiag.io.engine.docker_sdk import connect
from netdiag.io.engine.reader import engine_reader
from tests.lab.containers import inspect
from tests.lab.image_set import APACHE_3, CLIENT
from tests.lab.lab import Lab
from tests.lab.listening import listening
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.live.runs import measured
from tests.live.stacks import SCENARIOS, check

_BROKER = {
    "CLUSTER_ID": "pod3nShTQ-eMCtK--X86sw",
    "KAFKA_NODE_ID": "7",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "7@localhost:9093",
    "KAFKA_LISTENERS": "IN://:9092,POD://:19092,OUT://:29092,CONTROLLER://localhost:9093",
    "KAFKA_ADVERTISED_LISTENERS": "IN://shop:9092,POD://broker:19092,OUT://localhost:29092",
    "KAFKA_INTER_BROKER_LISTENER_NAME": "IN",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "IN:PLAINTEXT,POD:PLAINTEXT,OUT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
    "KAFKA_HEAP_OPTS": "-Xmx350m",
}

_ASKED = (
    Address(host="shop", port=9092),
    Address(host="broker", port=19092),
    Address(host="localhost", port=29092),
    Address(host="192.168.8.133", port=29092),
    Address(host="host.containers.internal", port=29092),
)
# Until it is ended, so that the capture gets what it waits for.
_CONNECTING = """
import socket, time
while True:
    socket.create_connection(("192.168.8.133", 9092)).close()
    time.sleep(0.2)
"""


@pytest.fixture(scope="module")
def stack(podman_lab: Lab) -> Iterator[Stack]:
    """A broker with a listener for each side."""
    with podman_lab.up(SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml") as running:
        yield running


@pytest.mark.lab
def test_a_pod_is_one_namespace_with_its_own_names(podman_lab: Lab) -> None:
    # First of all, while nothing else runs there.
    engine = podman_lab.engine
    assert engine.docker("ps", "-q") == ""
    engine.podman("network", "create", "plain")
    engine.podman("pod", "create", "--name", "shop", "--network", "plain", "-p", "29092:29092")
    try:
        said = [f"--env={name}={value}" for name, value in _BROKER.items()]
        broker = engine.podman("run", "-d", "--pod", "shop", "--name", "broker", *said, APACHE_3).strip()
        engine.podman("run", "-d", "--pod", "shop", "--name", "beside", CLIENT)
        engine.docker("run", "-d", "--name", "outside", "--network", "plain", CLIENT)
        engine.docker("run", "-d", "--name", "elsewhere", CLIENT)
        stack = Stack(engine=engine, project="shop", compose=podman_lab.compose, files=())
        _wait_for_broker(podman_lab, broker)
        seen = check(stack, addresses=_ASKED, names=("broker", "beside", "outside", "elsewhere"))
        assert seen.disagreements == []
        assert seen.words("container beside")["broker:19092"] == "ok"
        assert seen.words("container outside")["shop:9092"] == "ok"
        assert seen.words("container outside")["broker:19092"] == "bootstrap: unresolved"
        assert seen.words("docker host")["localhost:29092"] == "ok"
    finally:
        engine.podman("pod", "rm", "-f", "-t", "0", "shop")
        for name in ("outside", "elsewhere"):
            engine.docker("rm", "-f", name, check=False)
        engine.podman("network", "rm", "plain")


@pytest.mark.lab
def test_networks_of_podman_compose_let_one_another_in(podman_lab: Lab, tmp_path: Path) -> None:
    # Before the stack takes the port.
    engine = podman_lab.engine
    client = {"image": f"docker.io/{CLIENT}"}
    services = {
        "kafka": {
            "image": f"docker.io/{APACHE_3}",
            "networks": ["front"],
            "ports": ["9092:9092"],
            "environment": {
                **_BROKER,
                "KAFKA_LISTENERS": "IN://:29092,OUT://:9092,CONTROLLER://localhost:9093",
                "KAFKA_ADVERTISED_LISTENERS": "IN://kafka:29092,OUT://192.168.8.133:9092",
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "IN:PLAINTEXT,OUT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            },
        },
        "inside": {**client, "networks": ["front"]},
        "outside": {**client, "networks": ["back"]},
    }
    file, podman = tmp_path / "compose.yml", tmp_path / "podman"
    file.write_text(json.dumps({"services": services, "networks": {"front": {}, "back": {}}}))
    podman.write_text(f'#!/bin/sh\nexec podman --url {engine.docker_host} "$@"\n')
    podman.chmod(0o755)
    compose = ["podman-compose", "--podman-path", str(podman), "-f", str(file), "-p", "shop"]
    try:
        run([*compose, "up", "-d"], timeout=120)
        stack = Stack(engine=engine, project="shop", compose=podman_lab.compose, files=(file,))
        (broker,) = stack.brokers()
        _wait_for_broker(podman_lab, broker.id)
        seen = check(stack)
        assert seen.disagreements == []
        assert seen.words("container inside")["kafka:29092"] == "ok"
        assert seen.words("container outside")["192.168.8.133:9092"] == "ok"
    finally:
        run([*compose, "down"], timeout=120)


@pytest.mark.lab
def test_doctor_recognizes_it(stack: Stack) -> None:
    done = measured("doctor", "--host", stack.engine.docker_host)
    assert "Podman 4.3.1, API 1.41" in done.out, done.errors


@pytest.mark.lab
def test_docker_s_library_and_the_socket_read_the_same(stack: Stack) -> None:
    address = find_engine(stack.engine.docker_host, {}, Path("/"))
    with engine_reader(address) as quick, connect(address) as library:
        assert quick.release() == library.release() == "Podman 4.3.1"
        assert quick.networks() == library.networks()
        assert [one.name for one in quick.networks() if one.bridge_name == "podman0"] == ["podman"]
        assert quick.containers() == library.containers()
        assert library.containers()
        with pytest.raises(NotThere):
            list(library.archive(library.containers()[0], "/nowhere"))


@pytest.mark.lab
def test_topology_finds_everything_in_the_kernel(stack: Stack) -> None:
    done = measured("topology", "--host", stack.engine.docker_host, "-f", "json")
    found = done.document
    assert found["unmatched"] == [], done.out
    text = measured("topology", "--host", stack.engine.docker_host).out
    assert "by DNAT" in text
    assert "published 0.0.0.0:9092" in text


@pytest.mark.lab
def test_trace_agrees_with_a_real_connection(stack: Stack) -> None:
    broker = stack.brokers()[0]
    name = str(stack.engine.ask(f"/containers/{broker.id}/json")["Name"]).lstrip("/")
    for source, target in (("host", "localhost:9092"), (name, "kafka:29092"), (name, "kafka.dns.podman:29092")):
        done = measured("trace", "--host", stack.engine.docker_host, source, target, "--prove")
        assert (done.status, "agrees" in done.out) == (0, True), done.out + done.errors
    done = measured("trace", "--host", stack.engine.docker_host, name, "192.168.8.133:9092")
    assert (done.status, "connected" in done.out.splitlines()[0]) == (1, False), done.out


@pytest.mark.lab
def test_capture_sees_what_arrives(stack: Stack, tmp_path: Path) -> None:
    broker = stack.brokers()[0]
    name = str(stack.engine.ask(f"/containers/{broker.id}/json")["Name"]).lstrip("/")
    out = tmp_path / "seen.pcapng"
    words = ["capture", "--host", stack.engine.docker_host, "--from", f"container:{name}", "--port", "9092"]
    with subprocess.Popen(stack.engine.host.argv([sys.executable, "-c", _CONNECTING])) as client:
        try:
            done = measured(*words, "-o", str(out), "--count", "6", "--duration", "60s")
        finally:
            client.kill()
    assert done.status == 0, done.errors
    assert out.stat().st_size > 500


def _wait_for_broker(lab: Lab, identifier: str) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        (container,) = inspect(lab.engine, identifier)
        if {29092, 9092} <= {port for _, port in listening(container.pid)}:
            return
        time.sleep(0.5)
    raise AssertionError(lab.engine.docker("logs", identifier))
