"""Relays on a real engine: a stopped one is told alike everywhere, and the repair that netdiag makes works."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from netdiag.deployment.model.verdict import Address, parse_address
from netdiag.io.engine.live_deployment import read_peers
from tests.figures import Report
from tests.lab.image_set import APACHE_3, CLIENT
from tests.lab.lab import Lab
from tests.lab.relay_images import SOCAT_IMAGE
from tests.lab.stack import Stack
from tests.lab.vantages import docker_host
from tests.live.stacks import check
from tests.scenarios.comparison import Source, compare
from tests.scenarios.expectations import SCENARIOS, stacks
from tests.scenarios.predicted import USUAL
from tests.scenarios.real_clients import clients, filled
from tests.scenarios.running_stack import started_stack

S21 = SCENARIOS / "S21-relays"
_STACK = f"""\
services:
  kafka:
    image: {APACHE_3}
    environment:
      CLUSTER_ID: 5L6g3nShT-eMCtK--X86sw
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:19093
      KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092,CONTROLLER://:19093
      KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: 1
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_HEAP_OPTS: -Xmx350m -Xms350m
  relay:
    image: {SOCAT_IMAGE}
    ports: ["9092:9092"]
    # There is no such program.
    entrypoint: [sh, -c, "exec tcp-relay 9092 kafka:9092"]
  app:
    image: {CLIENT}
    environment: {{KAFKA_BOOTSTRAP_SERVERS: "relay:9092"}}
"""
_TOXICS: tuple[tuple[dict[str, object], str], ...] = (
    ({"type": "latency", "attributes": {"latency": 300}}, "ok"),
    ({"type": "latency", "attributes": {"latency": 60_000}}, "bootstrap: timeout"),
    ({"type": "timeout", "attributes": {"timeout": 1}}, "bootstrap: closed"),
    ({"type": "reset_peer", "attributes": {"timeout": 0}}, "bootstrap: closed"),
)
_LOG = (
    "%3|1767607872.345|FAIL|rdkafka#producer-1| [thrd:relay:9092/bootstrap]: relay:9092/bootstrap: "
    "Failed to resolve 'relay:9092': Name or service not known (after 1ms in state CONNECT)\n"
)


def netdiag(*words: str, said: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "netdiag", *words]
    return subprocess.run(command, input=said, capture_output=True, text=True, check=False, timeout=120, cwd=folder)


@pytest.fixture(scope="module")
def stopped(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A broker and its client, whose relay has ended with exit code 127."""
    file = tmp_path_factory.mktemp("relay") / "compose.yml"
    file.write_text(_STACK, encoding="utf-8")
    with lab.up(file) as running:
        yield running


@pytest.mark.bar("relays")
def test_a_stopped_relay_is_told_alike(lab: Lab, stopped: Stack, figure: Report) -> None:
    host = ("--host", lab.engine.docker_host)
    live = ("check-listeners", "--live", *host, "--format", "json")
    told: dict[str, set[tuple[str, str]]] = {}
    for words in (live, (*live, "--why")):
        value = json.loads(netdiag(*words).stdout)
        (found,) = (one for one in value["findings"] if one["rule"] == "live-dependent-cannot-connect")
        told.setdefault("findings", set()).add((found["why"].partition(";")[0], found["hint"]))
    causes = [one for one in value["causes"] if (one["host"], one["port"]) == ("relay", 9092)]
    told["--why"] = {(one["causes"][0]["because"], one["causes"][0]["repairs"][0]["text"]) for one in causes}
    diagnosed = json.loads(netdiag("diagnose", "--live", *host, "--format", "json", "-", said=_LOG).stdout)
    reached = [one for run in diagnosed["runs"] for one in run["conclusions"]]
    told["diagnose"] = {(reached[0]["cause"].partition(";")[0], reached[0]["repair"])}
    name = lab.engine.docker("inspect", "-f", "{{.Name}}", stopped.container("relay")).strip().lstrip("/")
    cause = ('the container named "relay" is not running (exit code 127)', f"start {name}; its log says why it ended")
    assert told == {view: {cause} for view in ("findings", "--why", "diagnose")}
    figure("a stopped relay is told alike by", ", ".join(told))


def repaired(folder: Path) -> Path:
    """A copy of S21, broken, after netdiag has repaired it."""
    shutil.copytree(S21, folder, dirs_exist_ok=True)
    netdiag("check-listeners", "--fix", "--unsafe-fixes", "kraft.broken.yml", folder=folder)
    return folder


def test_the_repair_is_that_of_the_twin(tmp_path: Path) -> None:
    folder = repaired(tmp_path)
    for broken, twin in (("haproxy.broken.cfg", "haproxy.repaired.cfg"), ("envoy.broken.yaml", "envoy.repaired.yaml")):
        assert (folder / broken).read_text() == (S21 / twin).read_text()

    def lines(path: Path) -> list[str]:
        kept = (line for line in path.read_text().splitlines() if not line.startswith(("#", "name:")))
        return [line.replace(".broken.", ".repaired.") for line in kept]

    assert lines(folder / "kraft.broken.yml") == lines(S21 / "kraft.repaired.yml")


@pytest.mark.bar("relays", long=True)
@pytest.mark.parametrize("name", ["S21/kraft.broken", "S21/kraft.repaired"])
def test_two_clients_get_what_is_expected_of_every_relay(lab: Lab, name: str, tmp_path: Path, figure: Report) -> None:
    (stack,) = (one for one in stacks() if one.name == name)
    with started_stack(lab, stack, tmp_path) as running:
        everyone = clients(lab, running, stack)
        sources = {oracle: everyone[oracle] for oracle in ("kcat", "kafka-python")}
        result = compare(stack, sources, engine=USUAL, at_once=4)
        if name == "S21/kraft.repaired":
            connected_to_their_targets(running)
            figure("delays and cuts of toxiproxy that netdiag, kcat and kafka-python tell", harmed(running, sources))
    figure(f"{name}: cells", len(result.rows))
    figure(f"{name}: answers of kcat and kafka-python", sum(len(row.said) for row in result.rows))
    assert [str(row) for row in result.disagreements()] == []


def connected_to_their_targets(running: Stack) -> None:
    """The kernel's tables of connections tell the target that each relay is configured to have."""
    checked = check(running, addresses=tuple(Address(host="localhost", port=port) for port in range(9092, 9098)))
    peers = read_peers(checked.live, {member.name for member in checked.live.deployment.members})
    kafka = filled(running, "{kafka}")
    services = {member.name: member.service for member in checked.live.deployment.members}
    found = {services[name]: {one.port for one in all_of if one.address == kafka} for name, all_of in peers.items()}
    relays = ("socat", "haproxy", "nginx", "sshd", "envoy", "toxiproxy")
    assert {name: found.get(name) for name in relays} == {name: {9092 + n} for n, name in enumerate(relays)}


def harmed(running: Stack, sources: Mapping[str, Source]) -> int:
    """What a client on the docker host gets while toxiproxy delays or cuts; netdiag gives up after 4 seconds."""
    address = "localhost:9097"
    host = docker_host(running).place.netns
    url = f"http://{filled(running, '{toxiproxy}')}:8474/proxies/kafka/toxics"
    for toxic, expected in _TOXICS:
        words = ["curl", "-sSf", "-o", "/dev/null"]
        body = json.dumps({"name": "harm", "stream": "downstream", **toxic})
        subprocess.run(["nsenter", f"--net={host}", *words, "-d", body, url], check=True, timeout=20)
        (cell,) = (
            one for one in check(running, addresses=(parse_address(address),)).cells if one.vantage == "docker host"
        )
        clients_say = {name: ask("H", address) for name, ask in sources.items()}
        subprocess.run(["nsenter", f"--net={host}", *words, "-X", "DELETE", f"{url}/harm"], check=True, timeout=20)
        assert str(cell.observed) == expected, toxic
        # A client may give no reason, or another one, for what it did not get.
        assert {said.partition(":")[0] for said in clients_say.values()} == {expected.partition(":")[0]}, clients_say
    return len(_TOXICS)
