"""`netdiag wait` as a script would use it: it ends when kcat works in the client's container, and not before."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.lab.engine import HOST_ADDRESS
from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live.runs import Run, measured

_GO = "/tmp/go"
_CLIENT = {"image": "example/app", "environment": {"BOOTSTRAP_SERVERS": "kafka:9092"}}


def _project(folder: Path, advertised: str) -> Path:
    """A broker and its client."""
    broker = {
        "image": "${KAFKA_IMAGE:-apache/kafka:3.9.1}",
        "ports": ["9092:9092", "9094:9094"],
        "environment": {
            "KAFKA_NODE_ID": "1",
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
            "KAFKA_LISTENERS": "PLAINTEXT://:9092,LAN://:9094,CONTROLLER://:9093",
            "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://{advertised}:9092,LAN://{HOST_ADDRESS}:9094",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,LAN:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
            "KAFKA_HEAP_OPTS": "-Xmx350m -Xms350m",
        },
    }
    path = folder / "compose.json"
    path.write_text(json.dumps({"services": {"kafka": broker, "app": _CLIENT}}), encoding="utf-8")
    return path


def _stays(folder: Path) -> tuple[Path, ...]:
    """A file to lay over the project: no image of the client can be had here, and what counts is where it stands."""
    path = folder / "stays.json"
    app = {"image": CLIENT, "entrypoint": ["sleep", "infinity"]}
    path.write_text(json.dumps({"services": {"app": app}}), encoding="utf-8")
    return (path,)


def _held(folder: Path) -> Path:
    """A file to lay over it: the container of the broker runs, the broker itself starts when `_GO` is there."""
    path = folder / "held.json"
    script = f"until [ -e {_GO} ]; do sleep 0.1; done; exec /etc/kafka/docker/run"
    path.write_text(json.dumps({"services": {"kafka": {"entrypoint": ["sh", "-c", script]}}}), encoding="utf-8")
    return path


def _wait(lab: Lab, path: Path, project: str, *words: str) -> Run:
    return measured("wait", str(path), "-p", project, "--host", lab.engine.docker_host, *words, limit=180)


def test_it_ends_when_the_client_works(lab: Lab, tmp_path: Path) -> None:
    path = _project(tmp_path, "kafka")
    absent = _wait(lab, path, "waited", "--timeout", "1")
    assert absent.status == 1
    assert absent.out == "not ready: app: the engine has no container of this compose project\n"
    overrides = (*_stays(tmp_path), _held(tmp_path))
    with lab.up(path, project="waited", override_files=overrides, wait="none") as stack:
        docker = stack.engine.docker
        words = ("check-listeners", "--live", "-p", "waited", "--host", lab.engine.docker_host, "--format", "json")
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(_wait, lab, path, "waited", "--timeout", "150")
            early = json.loads(measured(*words, limit=60).out)
            docker("exec", stack.container("kafka"), "touch", _GO)
            ready = waiting.result()
        assert {one["rule"] for one in early["findings"] if one["rule"].startswith("live-")} == {"live-broker-starting"}
        kcat = docker("exec", stack.container("app"), "kcat", "-L", "-b", "kafka:9092", "-m", "5", "-t", "orders")
        assert ready.status == 0, ready
        assert ready.errors.startswith("netdiag: waiting for app: kafka:9092: ")
        assert "is starting: it was started less than 60 seconds ago" in ready.errors.partition("\n")[0]
        assert ready.out.startswith("ready after ")
        assert ready.out.endswith(" s: app\n")
        assert "broker 1 at kafka:9092" in kcat
        assert "orders" in kcat

        _large_packets_get_lost(lab, stack)

        host = _wait(lab, path, "waited", "--timeout", "4", "--bootstrap", "localhost:9092")
        assert host.status == 1
        assert host.out.startswith("not ready: docker host: localhost:9092: broker 1 at kafka:9092: ")

        docker("stop", "-t", "0", stack.container("kafka"))
        stopped = _wait(lab, path, "waited", "--timeout", "1")
        assert stopped.status == 1
        assert stopped.out.startswith("not ready: app: kafka:9092: ")

        docker("rm", "-f", stack.container("app"))
        docker("start", stack.container("kafka"))
        gone = _wait(lab, path, "waited", "--timeout", "60")
        assert gone.status == 3
        assert gone.out.startswith("unknown: app: has no container: ")


def _large_packets_get_lost(lab: Lab, stack: Stack) -> None:
    """A machine of the LAN sends 1,500 bytes, the bridge takes 1,400, and nobody hears of it."""
    inside = ["nsenter", f"--net=/run/netns/{lab.engine.record.host_netns}"]
    address = f"{HOST_ADDRESS}:9094"
    words = ("check-listeners", "--live", "-p", "waited", "--host", lab.engine.docker_host, "--format", "json", "--why")

    def from_lan(*more: str) -> tuple[str, list[dict[str, Any]]]:
        found = json.loads(measured(*words, "--netns", lab.engine.record.lan_netns, *more, limit=60).out)
        (cell,) = (
            one for one in found["matrix"] if one["vantage"].startswith("netns:") and one["bootstrap"] == address
        )
        causes = [one for one in found["causes"] if [one["host"], str(one["port"])] == address.split(":")]
        verdict = cell["observed"]
        return f"{verdict['verdict']}: {verdict['reason']}", [
            one["causes"][0] for one in causes if one["vantage"].startswith("netns:")
        ]

    def produced(count: int, seconds: int = 30) -> int:
        kcat = ["kcat", "-P", "-b", address, "-t", "orders", "-X", f"message.timeout.ms={seconds}000"]
        place = stack.engine.lan.argv_in_root(lab.client_root, kcat)
        return subprocess.run(place, input=b"x" * count, capture_output=True, check=False, timeout=60).returncode

    assert from_lan("--timeout", "20") == ("ok: None", [])
    assert produced(20_000) == 0
    silence = ["iptables", "-w", "-I", "OUTPUT", "-p", "icmp", "--icmp-type", "fragmentation-needed", "-j", "DROP"]
    network = stack.engine.docker("network", "inspect", "-f", "{{.Id}}", "waited_default").strip()[:12]
    for done in (["ip", "link", "set", f"br-{network}", "mtu", "1400"], silence):
        subprocess.run([*inside, *done], check=True, timeout=20)
    try:
        verdict, causes = from_lan()
        assert verdict == "bootstrap: timeout"
        assert [one["mechanism"] for one in causes] == ["path-mtu"]
        assert f"br-{network}" in causes[0]["evidence"][0]
        assert "1400" in causes[0]["evidence"][0]
        assert [produced(100), produced(20_000, 6)] == [0, 1]
    finally:
        for undone in (["ip", "link", "set", f"br-{network}", "mtu", "1500"], [*silence[:2], "-D", *silence[3:]]):
            subprocess.run([*inside, *undone], check=True, timeout=20)


def test_a_client_that_is_sent_astray_never_works(lab: Lab, tmp_path: Path) -> None:
    path = _project(tmp_path, "localhost")
    with lab.up(path, project="astray", override_files=_stays(tmp_path)) as stack:
        result = _wait(lab, path, "astray", "--timeout", "2")
        assert stack.state("app").is_running
    assert result.status == 1
    assert result.out.startswith("not ready: app: kafka:9092: broker 1 at localhost:9092: ")
