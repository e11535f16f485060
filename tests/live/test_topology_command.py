"""`netdiag topology` on a running broker: what it shows, and what it says changed when the broker was restarted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.shell import ROOT, process
from tests.lab.lab import Lab
from tests.lab.stack import Stack
from tests.live.stacks import SCENARIOS

_SCHEMA = ROOT / "netdiag" / "render" / "schema" / "topology.v1.json"
# What the rules say of other namespaces of this machine is not known.
DONE = (0, 1)


@pytest.fixture(scope="module")
def stack(lab: Lab) -> Iterator[Stack]:
    with lab.up(SCENARIOS / "S07-single-listener-container-name" / "kraft.repaired.yml") as up:
        up.wait_ready()
        yield up


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
    jsonschema.Draft202012Validator(json.loads(_SCHEMA.read_text(encoding="utf-8"))).validate(value)
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
