"""Findings about what runs: several defects at once, each told once; the repaired stack is silent.

The observation is recorded while the defects are there, and judged again when the stack is gone.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from netdiag.app.live_check import deployment_of
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.observation.recording import from_json
from netdiag.io.engine.live_deployment import read_live
from tests.cli.shell import environment
from tests.lab.lab import Lab
from tests.lab.stack import Stack

FILE = Path(__file__).with_name("observed.yml")
# What the containers themselves show: every one of these would be found in the file as well.
DECLARED = {
    "advertised-port-differs-from-published",
    "advertised-wildcard",
    "dependent-bootstrap-external-listener",
    "listener-bound-to-loopback",
}
# From the file as it is to the file as it should be, in the order of its lines.
REPAIRS = (
    ("LOOP://127.0.0.1:9095", "LOOP://0.0.0.0:9095"),
    ("HOST://localhost:9094", "HOST://localhost:9092"),
    ("INTERNAL://0.0.0.0:29092\n", "INTERNAL://second:29092\n"),
    ("KAFKA_BOOTSTRAP_SERVERS: kafka:9092", "KAFKA_BOOTSTRAP_SERVERS: kafka:29092"),
)


def check(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "netdiag", "check-listeners", *words],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The findings of the four states of the stack by name, and of the recording."""

    broken: dict[str, Any]
    replayed: dict[str, Any]
    edited: dict[str, Any]
    repaired: dict[str, Any]
    recording: str
    same_deployment: bool


def shape(deployment: Deployment) -> tuple[object, ...]:
    """A deployment as values that can be compared, without the variables, of which a recording hides some."""
    return (
        deployment.name,
        deployment.networks,
        deployment.platform,
        deployment.host_addresses,
        [replace(member, variables={}, sockets=member.sockets and ()) for member in deployment.members],
        [_bound(broker) for broker in deployment.brokers],
        [(broker.config.listeners, broker.config.advertised_listeners) for broker in deployment.brokers],
        [(client.member.name, client.setting, client.bootstraps) for client in deployment.clients],
    )


def _bound(broker: Broker) -> set[tuple[str, int]]:
    """Its sockets at the ports of its listeners; others come and go."""
    ports = {entry.endpoint.port for entry in broker.config.listeners}
    return {(address, port) for address, port in broker.member.sockets or () if port in ports}


@pytest.fixture(scope="module")
def seen(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder = tmp_path_factory.mktemp("observed")
    file, recording = folder / "stack.yml", folder / "seen.json"
    text = FILE.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")

    def live(stack: Stack, *words: str | Path) -> dict[str, Any]:
        words = ("--live", "--host", stack.engine.docker_host, "--format", "json", *words, file)
        found: dict[str, Any] = json.loads(check(*words, cwd=folder).stdout)
        return found

    with lab.up(file, wait="none") as stack:
        stack.wait_settled(still=2)
        broken = live(stack, "--record", recording)
        (recorded,) = from_json(recording.read_bytes())
        now = read_live(host=stack.engine.docker_host, project=stack.project).deployment
        same = shape(deployment_of(recorded)) == shape(now)
        for before, after in REPAIRS:
            text = text.replace(before, after)
        file.write_text(text, encoding="utf-8")
        edited = live(stack, "--no-matrix")
        stack.run_compose("up", "-d", "--pull", "never")
        stack.wait_settled(still=2)
        repaired = live(stack)
    replayed = json.loads(check("--replay", recording, "--format", "json", cwd=folder).stdout)
    return Seen(
        broken=broken,
        replayed=replayed,
        edited=edited,
        repaired=repaired,
        recording=recording.read_text(encoding="utf-8"),
        same_deployment=same,
    )


def of(document: dict[str, Any], *rules: str) -> list[dict[str, Any]]:
    return [finding for finding in document["findings"] if finding["rule"] in rules]


def test_each_defect_is_told_once(seen: Seen) -> None:
    rules = [finding["rule"] for finding in seen.broken["findings"] if finding["rule"] not in DECLARED]
    assert sorted(rules) == ["live-accept-then-close", "live-dependent-cannot-connect", "live-not-kafka"]
    assert {finding["rule"] for finding in seen.broken["findings"]} - set(rules) == DECLARED


def test_the_words(seen: Seen) -> None:
    (stranger,) = of(seen.broken, "live-not-kafka")
    assert stranger["message"] == (
        'from docker host: no Kafka broker answers at "localhost:9094", which kafka advertises for listener HOST'
    )
    assert "HTTP" in stranger["why"]
    (closed,) = of(seen.broken, "live-accept-then-close")
    assert closed["listener"] == "LOOP"
    (client,) = of(seen.broken, "live-dependent-cannot-connect")
    assert client["message"] == 'app cannot use Kafka: "kafka:9092" (advertised: refused)'


def test_the_log_of_what_ended_leads_to_the_line_of_the_file(seen: Seen) -> None:
    (crash,) = of(seen.broken, "advertised-wildcard")
    lines = FILE.read_text(encoding="utf-8").splitlines()
    line = 1 + lines.index("      KAFKA_ADVERTISED_LISTENERS: INTERNAL://0.0.0.0:29092")
    places = [related["location"] for related in crash["related"] if "line" in related["location"]]
    assert [(Path(place["path"]).name, place["line"]) for place in places] == [("stack.yml", line)]
    said = next(
        related["message"] for related in crash["related"] if related["message"].startswith("the log confirms it")
    )
    assert said.endswith(
        "requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
        "Use a routable IP address."
    )


def test_a_recording_gives_the_same_without_the_engine(seen: Seen) -> None:
    assert seen.replayed == seen.broken
    assert seen.same_deployment
    assert "hunter2" not in seen.recording


def test_a_repair_that_was_not_brought_up_is_drift(seen: Seen) -> None:
    drift = of(seen.edited, "live-file-drift")
    found = {(finding["service"], finding["message"].split(": ", 1)[1].split(" ")[0]) for finding in drift}
    assert found == {
        ("kafka", "KAFKA_LISTENERS"),
        ("kafka", "KAFKA_ADVERTISED_LISTENERS"),
        ("second", "KAFKA_ADVERTISED_LISTENERS"),
        ("app", "KAFKA_BOOTSTRAP_SERVERS"),
    }
    assert len(drift) == 4


def test_the_repaired_stack_is_silent(seen: Seen) -> None:
    assert [finding["rule"] for finding in seen.repaired["findings"]] == []
