"""Recorded once, judged again: the same report, from a file alone."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from netdiag.app.live_check import judged, record, replayed
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Address, Answered, Cell, Failed, NodeEndpoint, Reason, judge
from netdiag.deployment.observation.recording import Failure, Look, seen_cells
from netdiag.engine.container import parse_container, parse_network
from netdiag.errors import InputError
from netdiag.linux.sockets import ListeningSocket
from tests.cli.shell import netdiag

ENV = {
    "KAFKA_ZOOKEEPER_CONNECT": "zookeeper:2181",
    "KAFKA_BROKER_ID": "1",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://localhost:9092",
    "KAFKA_SSL_KEY_PASSWORD": "hunter2",
}
CONTAINER = parse_container(
    {
        "Id": "a" * 64,
        "Name": "/kafka",
        "State": {"Status": "running", "Pid": 7},
        "Config": {
            "Image": "confluentinc/cp-kafka:7.9.2",
            "Cmd": ["/etc/confluent/docker/run"],
            "Env": [f"{name}={value}" for name, value in ENV.items()],
        },
        "HostConfig": {"NetworkMode": "shop", "PortBindings": {"9092/tcp": [{"HostIp": "", "HostPort": "9092"}]}},
        "NetworkSettings": {
            "Ports": {"9092/tcp": [{"HostIp": "0.0.0.0", "HostPort": "9092"}]},
            "Networks": {"shop": {"NetworkID": "n", "Aliases": ["kafka"], "IPAddress": "172.18.0.2"}},
        },
    }
)
NETWORK = parse_network({"Id": "n" * 64, "Name": "shop", "Driver": "bridge"})
ADDRESS = Address(host="localhost", port=9092)
TOLD = NodeEndpoint(node_id=1, host="localhost", port=9092)
ANSWER = Answered(node_id=1, cluster_id="c", brokers=(TOLD,), listener="PLAINTEXT")
SILENT = Failed(reason=Reason.TIMEOUT, because="127.0.0.1:9092 did not answer")
LOOK = Look(
    name="docker engine",
    kind="engine",
    containers=(CONTAINER,),
    networks=(NETWORK,),
    sockets={"kafka": (ListeningSocket(address="0.0.0.0", port=9092),)},
    vantages=(Vantage(kind=VantageKind.DOCKER_HOST, label="docker host"),),
    addresses=(ADDRESS,),
    cells=seen_cells([Cell(vantage="docker host", bootstrap=ADDRESS, observed=judge(ANSWER, lambda _: SILENT))]),
)


def test_what_is_seen_is_judged() -> None:
    report = judged(LOOK)
    assert "live-advertised-unreachable" in {finding.rule for finding in report.findings}
    (matrix,) = report.matrices
    assert [(str(cell.predicted), str(cell.observed)) for cell in matrix.cells] == [("ok", "advertised: timeout")]


def test_a_recording_is_judged_as_it_was_seen(tmp_path: Path) -> None:
    path = str(tmp_path / "seen.json")
    failed = Look(name="other", kind="engine", failure=Failure(message="no engine answers", hint="start it"))
    report = record([LOOK, failed], path)
    assert report == replayed(path)
    assert report.findings == judged(LOOK).findings
    assert report.matrices == judged(LOOK).matrices
    assert report.inputs[1].error is not None
    assert "hunter2" not in Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_a_replay_takes_the_file_alone(tmp_path: Path, form: str) -> None:
    record([LOOK], str(tmp_path / "seen.json"))
    first = netdiag("check-listeners", "--replay", "seen.json", "--format", form, cwd=tmp_path)
    second = netdiag("check-listeners", "--replay", "seen.json", "--format", form, cwd=tmp_path)
    assert first.returncode == 1
    assert b"live-advertised-unreachable" in first.stdout
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)


@pytest.mark.parametrize("text", ["", "[]", '{"format": "netdiag live recording", "version": 1, "looks": [7]}'])
def test_what_is_no_recording_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "seen.json").write_text(text, encoding="utf-8")
    done = netdiag("check-listeners", "--replay", "seen.json", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) <= 2
    assert b"Traceback" not in done.stderr
    assert done.stderr.startswith(b"netdiag: seen.json: ")


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*way, key)
        yield from _places(item, (*way, key))


_STRANGE: tuple[Any, ...] = (
    "",
    "\x1b[2J",
    "0.0.0.0",
    "-1",
    "a" * 5000,
    0,
    -1,
    2**62,
    None,
    True,
    [],
    {},
    1.5,
    "10.0.0.0/99",
    "::",
    "running",
)


def test_whatever_a_stranger_writes_is_a_report_or_one_line(tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    record([LOOK], str(path))
    whole = json.loads(path.read_text(encoding="utf-8"))
    chance, ways, outcomes = random.Random(6), list(_places(whole)), Counter[str]()
    for _ in range(400):
        document = json.loads(json.dumps(whole))
        *way, last = chance.choice(ways)
        reduce(lambda value, key: value[key], way, document)[last] = chance.choice(_STRANGE)
        path.write_text(json.dumps(document), encoding="utf-8")
        outcomes[_outcome(str(path))] += 1
    assert set(outcomes) == {"report", "refused"}
    assert min(outcomes.values()) > 50


def _outcome(path: str) -> str:
    try:
        replayed(path)
    except InputError as error:
        return "refused" if len(str(error).splitlines()) == 1 else str(error)
    return "report"
