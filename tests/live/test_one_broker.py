"""One real broker, started once: a capture in it and on its host, a look with fewer rights, `netdiag topology`."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.shell import NETDIAG, ROOT, environment, process
from tests.io.packets.traffic import fields
from tests.lab.lab import Lab
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.live.stacks import SCENARIOS
from tests.render.schemas import strict_schema

ASK = """
from confluent_kafka.admin import AdminClient
print(AdminClient({"bootstrap.servers": "localhost:9092"}).list_topics(timeout=20).brokers)
"""
_LOOK = """
import json, sys
from netdiag.deployment.model.verdict import Address
from netdiag.io.engine.live_deployment import read_live
from netdiag.io.network.observation import observe

live = read_live(host=sys.argv[1], project=sys.argv[2])
observed = observe(live.vantages, [Address(host="localhost", port=9092)])
skipped = (*live.skipped, *observed.skipped)
print(json.dumps({
    "cells": {cell.vantage: str(cell.observed) for cell in observed.cells},
    "skipped": {s.vantage.label: [s.rights, s.because] for s in skipped},
    "sockets": sorted(socket.port for socket in live.sockets["kafka"] if socket.on_all_addresses),
    "addresses": live.deployment.host_addresses,
}))
"""
_SCHEMA = strict_schema("topology.v1.json")
# What the rules say of other namespaces of this machine is not known.
DONE = (0, 1)


@pytest.fixture(scope="module")
def stack(lab: Lab) -> Iterator[Stack]:
    with lab.up(SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml") as up:
        yield up


def test_the_same_conversation_in_the_container_and_on_its_host(stack: Stack, tmp_path: Path) -> None:
    host = stack.engine.record.host_netns
    places = ("--from", "container:kafka", "--from", f"netns:{host}")
    command = [*NETDIAG, "capture", "--host", stack.engine.docker_host, *places, "-o", "x.pcapng"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as capturing:
        assert capturing.stderr is not None
        first = capturing.stderr.readline()
        assert first.startswith("netdiag: capturing TCP 9092")
        assert f"from kafka, {host}" in first
        capturing.stderr.readline()
        time.sleep(0.5)
        run(["nsenter", f"--net=/run/netns/{host}", sys.executable, "-c", ASK])
        time.sleep(0.5)
        capturing.terminate()
        said = capturing.communicate(timeout=30)[1]
    assert capturing.returncode == 0, said
    assert ", 0 lost" in said
    rows = fields(tmp_path / "x.pcapng", "frame.interface_name", "tcp.port", "frame.time_epoch")
    inside = [row for row in rows if row[0] == "kafka:eth0"]
    outside = [row for row in rows if row[0].startswith(f"{host}:")]
    assert inside
    assert outside
    assert all("9092" in row[1] for row in inside)
    assert [row[2] for row in rows] == sorted(row[2] for row in rows)
    # The published port is served by the host, the container's by the container: both belong to the same talk.
    assert len(outside) >= len(inside)


def looked(stack: Stack, *prefix: str) -> dict[str, Any]:
    argv = [*prefix, sys.executable, "-c", _LOOK, stack.engine.docker_host, stack.project]
    found: dict[str, Any] = json.loads(run(argv, cwd=ROOT).stdout)
    return found


FEWER = ("setpriv", "--bounding-set", "-sys_admin,-sys_ptrace")


@pytest.mark.bar("rights")
def test_on_the_docker_host_itself_that_vantage_needs_no_rights(stack: Stack) -> None:
    found = looked(stack, "nsenter", f"--net=/run/netns/{stack.engine.record.host_netns}", *FEWER)
    assert found["cells"] == {"docker host": "ok"}
    needs = "entering its network needs CAP_SYS_ADMIN and CAP_SYS_PTRACE"
    (label,) = found["skipped"]
    assert label == "inside kafka"
    assert needs in str(found["skipped"][label])
    assert 9092 in found["sockets"]
    assert found["addresses"] == ["192.168.8.133"]


@pytest.mark.bar("rights")
def test_elsewhere_nothing_is_taken_for_the_docker_host(stack: Stack) -> None:
    found = looked(stack, *FEWER)
    assert found["cells"] == {}
    assert sorted(found["skipped"]) == ["docker host", "inside kafka"]


@pytest.mark.bar("rights")
def test_with_all_rights_every_vantage(stack: Stack) -> None:
    found = looked(stack)
    assert sorted(found["cells"]) == ["docker host", "inside kafka"]
    assert found["skipped"] == {}


def topology(stack: Stack, folder: Path, *words: str) -> bytes:
    done = process("topology", "--host", stack.engine.docker_host, "--service", "kafka", *words, cwd=folder)
    assert (done.returncode in DONE, done.stderr) == (True, b"")
    return done.stdout


@pytest.fixture(scope="module")
def before(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document of the broker as it started, in a folder of its own."""
    folder = tmp_path_factory.mktemp("topology")
    topology(stack, folder, "--format", "json", "--out", "before.json")
    return folder / "before.json"


def test_the_document_of_a_real_engine_keeps_the_schema(before: Path) -> None:
    value: Any = json.loads(before.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(_SCHEMA).validate(value)
    assert {reach["path"]["end"] for reach in value["reach"] if reach["source"] == "host"} >= {"connected"}
    assert all(listener["bound"] for listener in value["kafka_listeners"])


def test_no_environment_of_a_container_is_in_it(stack: Stack, before: Path) -> None:
    text = before.read_text(encoding="utf-8")
    environment = stack.engine.docker("inspect", "--format", "{{json .Config.Env}}", stack.container("kafka"))
    long_values = [each.partition("=")[2] for each in json.loads(environment) if len(each.partition("=")[2]) > 40]
    assert long_values
    assert not [value for value in long_values if value in text]


def test_the_tree_tells_who_reaches_the_broker(stack: Stack, tmp_path: Path) -> None:
    lines = topology(stack, tmp_path).decode().splitlines()
    assert lines[0] == "Who reaches which broker, by which address"
    assert any("reached from" in line and "host" in line for line in lines)
    assert sum(line.strip("|`- ").startswith("published ") for line in lines) >= 1


def test_a_restart_changes_nothing_but_what_it_says(stack: Stack, before: Path) -> None:
    """New processes, devices and namespaces under the same names are no change."""
    stack.engine.docker("restart", "--time", "20", stack.container("kafka"))
    stack.wait_ready()
    value = json.loads(topology(stack, before.parent, "--diff", "before.json", "--format", "json"))
    ours = [change for change in value["changes"] if "kafka" in change["name"] or change["kind"] == "filter rule"]
    assert ours == []


def test_what_really_changed_is_told(stack: Stack, before: Path) -> None:
    stack.engine.docker("stop", "--time", "20", stack.container("kafka"))
    try:
        text = topology(stack, before.parent, "--diff", "before.json").decode()
    finally:
        stack.engine.docker("start", stack.container("kafka"))
        stack.wait_ready()
    assert "~ container " in text
    assert "running -> exited" in text
