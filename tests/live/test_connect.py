"""Real Connect workers: what their files foretell equals what curl gets in the namespace of each."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

import pytest

from netdiag.deployment.neighbours import failing_forwards
from netdiag.rules.declared import check_deployment
from tests.deployment.stacks import deployment_of
from tests.figures import Report as Figure
from tests.lab.containers import Container
from tests.lab.engine import HOST_ADDRESS
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.live.connect_cases import ARRANGEMENTS, Arrangement, Worker, compose_text

_LIMIT = 120.0
_STATUS = "\n%{http_code}"
_NUMBERS = count()
FORWARD_FAILS = (500, 409)


def _curl(container: Container, url: str, *options: str) -> tuple[int, str]:
    """What curl gets in a container's namespace: the status, 0 for none, and the body."""
    words = ["curl", "-s", "-m", "30", "-w", _STATUS, *options, url]
    body, _, status = run(container.place.argv(words), check=False, timeout=60).stdout.rpartition("\n")
    return int(status or 0), body


def _create(container: Container, port: int) -> tuple[int, str]:
    config = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": "/etc/hostname",
        "topic": "lines",
    }
    body = json.dumps({"name": f"file-{next(_NUMBERS)}", "config": config})
    url = f"http://localhost:{port}/connectors"
    return _curl(container, url, "-X", "POST", "-H", "Content-Type: application/json", "-d", body)


def _start(stack: Stack, name: str, worker: Worker) -> Container:
    """The worker, when it is a member of its group."""
    stack.run_compose("up", "-d", "--no-deps", name)
    container = stack.state(name)
    deadline = time.monotonic() + _LIMIT
    while "Finished starting connectors and tasks" not in stack.logs(name):
        assert time.monotonic() < deadline, stack.logs(name)[-3000:]
        time.sleep(0.5)
    return container


def _answers(stack: Stack, workers: Mapping[str, Worker]) -> Iterator[tuple[str, str, int, str]]:
    """(worker, leader, status, body) of a connector that each worker is asked for, every worker leading once."""
    for leader in workers:
        # The coordinator makes the first that joins the leader, and Connect's leader is the group's.
        stack.run_compose("rm", "-s", "-f", *workers)
        running = {leader: _start(stack, leader, workers[leader])}
        for name in workers:
            if name != leader:
                running[name] = _start(stack, name, workers[name])
        for name, container in running.items():
            status, body = _create(container, workers[name].port)
            yield name, leader, status, body


@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=lambda one: one.name)
def test_files_foretell(arrangement: Arrangement) -> None:
    found = check_deployment(deployment_of(compose_text(arrangement.broken), host_addresses=(HOST_ADDRESS,)))
    assert sorted(f"{one.rule} {one.service}" for one in found) == sorted(arrangement.rules)
    assert not check_deployment(deployment_of(compose_text(arrangement.repaired), host_addresses=(HOST_ADDRESS,)))


def _is_cheap(arrangement: Arrangement, kind: str) -> bool:
    return arrangement.name == "unknown name" and kind == "broken"


FORWARDING = [one for one in ARRANGEMENTS if "clusters" not in one.name]


@pytest.mark.bar("connect", long=True)
@pytest.mark.parametrize("kind", ["broken", "repaired"])
@pytest.mark.parametrize("arrangement", FORWARDING, ids=lambda one: one.name)
def test_curl_gets_what_is_foretold(
    lab: Lab, arrangement: Arrangement, kind: str, tmp_path: Path, figure: Figure
) -> None:
    workers = arrangement.broken if kind == "broken" else arrangement.repaired
    text = compose_text(workers)
    deployment = deployment_of(text, host_addresses=(HOST_ADDRESS,))
    failing = {
        (one.source.name, one.target.name)
        for target in deployment.neighbours
        for one in failing_forwards(deployment, target)
    }
    path = tmp_path / "compose.yml"
    path.write_text(text)
    cells = 0
    with lab.up(path) as stack:
        for name, leader, status, body in _answers(stack, workers):
            cells += 1
            assert (status in FORWARD_FAILS) == ((name, leader) in failing), (name, leader, status, body)
            assert status in (201, *FORWARD_FAILS)
    figure("cells", cells)
