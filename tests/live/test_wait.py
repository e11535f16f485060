"""`netdiag wait` as a script would use it: it ends when kcat works in the client's container, and not before."""

import json
from pathlib import Path

from tests.lab.image_set import CLIENT
from tests.lab.lab import Lab
from tests.live.runs import Run, measured

_CLIENT = {"image": "example/app", "environment": {"BOOTSTRAP_SERVERS": "kafka:9092"}}


def _project(folder: Path, advertised: str) -> Path:
    """A broker and its client."""
    broker = {
        "image": "${KAFKA_IMAGE:-apache/kafka:3.9.1}",
        "ports": ["9092:9092"],
        "environment": {
            "KAFKA_NODE_ID": "1",
            "KAFKA_PROCESS_ROLES": "broker,controller",
            "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
            "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
            "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://{advertised}:9092",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
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


def _wait(lab: Lab, path: Path, project: str, *words: str) -> Run:
    return measured("wait", str(path), "-p", project, "--host", lab.engine.docker_host, *words, limit=180)


def test_it_ends_when_the_client_works(lab: Lab, tmp_path: Path) -> None:
    path = _project(tmp_path, "kafka")
    absent = _wait(lab, path, "waited", "--timeout", "1")
    assert absent.status == 1
    assert absent.out == "not ready: app: the engine has no container of this compose project\n"
    with lab.up(path, project="waited", override_files=_stays(tmp_path), wait="none") as stack:
        words = ("check-listeners", "--live", "-p", "waited", "--host", lab.engine.docker_host, "--format", "json")
        early = json.loads(measured(*words, limit=60).out)
        assert {one["rule"] for one in early["findings"] if one["rule"].startswith("live-")} == {"live-broker-starting"}
        ready = _wait(lab, path, "waited", "--timeout", "150")
        docker = stack.engine.docker
        kcat = docker("exec", stack.container("app"), "kcat", "-L", "-b", "kafka:9092", "-m", "5", "-t", "orders")
        assert ready.status == 0, ready
        assert ready.errors.startswith("netdiag: waiting for app: kafka:9092: ")
        assert "is starting: it was started less than 60 seconds ago" in ready.errors.partition("\n")[0]
        assert ready.out.startswith("ready after ")
        assert ready.out.endswith(" s: app\n")
        assert "broker 1 at kafka:9092" in kcat
        assert "orders" in kcat

        host = _wait(lab, path, "waited", "--timeout", "1", "--bootstrap", "localhost:9092")
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


def test_a_client_that_is_sent_astray_never_works(lab: Lab, tmp_path: Path) -> None:
    path = _project(tmp_path, "localhost")
    with lab.up(path, project="astray", override_files=_stays(tmp_path)) as stack:
        result = _wait(lab, path, "astray", "--timeout", "2")
        assert stack.state("app").is_running
    assert result.status == 1
    assert result.out.startswith("not ready: app: kafka:9092: broker 1 at localhost:9092: ")
