"""Playbooks beside real brokers: what a broken stack's programs write leads to its cause, a repaired stack to none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netdiag.io.playbooks import shipped
from netdiag.playbook.recognise import recognised
from tests.cli.shell import netdiag
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import Cell
from tests.lab.stack import Stack
from tests.live.stacks import SCENARIOS
from tests.playbook.test_scenarios import PAIRS
from tests.scenarios.standing import stand

BOOKS = shipped()
SHORT = {"S07-single-listener-container-name/kraft", "S04-bind-foreign-address/kraft"}
# Brokers of these end, so that there is no waiting for them to be ready.
ENDING = ("S04", "S05", "S10a")
STACKS = sorted({(folder, stack) for folder, stack, _, _ in PAIRS})


def ran(stack: Stack, book: str, cwd: Path, *words: str) -> dict[str, Any]:
    """The run of a playbook over what runs."""
    done = netdiag(
        "playbook", "run", book, "--live", "--host", stack.engine.docker_host, "--format", "json", *words, cwd=cwd
    )
    assert done.returncode in (0, 1, 3), done
    found: dict[str, Any] = json.loads(done.stdout)["runs"][0]
    return found


def meant(folder: str, stack: str) -> list[tuple[str, str]]:
    """The playbooks of a stack, each with its conclusion."""
    return [(book, conclusion) for f, s, book, conclusion in PAIRS if (f, s) == (folder, stack)]


def _proved(lab: Lab, folder: str, name: str, tmp_path: Path, figure: Report) -> None:
    path = SCENARIOS / folder / f"{name}.broken.yml"
    slowest = 0.0
    with lab.up(path, wait="settled") as stack:
        for book, conclusion in meant(folder, name):
            # Nothing but what runs is there to see: the folder holds no file.
            found = ran(stack, book, tmp_path)
            assert conclusion in [one["name"] for one in found["conclusions"]], found
            assert found["end"] == "cause"
            slowest = max(slowest, sum(step["seconds"] for step in found["steps"]))
    with lab.up(path.with_name(f"{name}.repaired.yml"), wait="settled") as stack:
        for book, _ in meant(folder, name):
            found = ran(stack, book, tmp_path)
            assert found["end"] == "nothing wrong", found
    figure(f"playbooks proven on {folder[:3]} {name}", len(meant(folder, name)))
    figure(f"slowest of them to its cause, {folder[:3]} {name}", round(slowest, 1), "s")


@pytest.mark.bar("playbooks")
@pytest.mark.parametrize(("folder", "name"), [pair for pair in STACKS if "/".join(pair) in SHORT])
def test_a_stack_leads_to_its_cause_and_its_twin_to_none(
    lab: Lab, folder: str, name: str, tmp_path: Path, figure: Report
) -> None:
    _proved(lab, folder, name, tmp_path, figure)


@pytest.mark.bar("playbooks", long=True)
@pytest.mark.parametrize(("folder", "name"), [pair for pair in STACKS if "/".join(pair) not in SHORT])
def test_every_other_stack_leads_to_its_cause(lab: Lab, folder: str, name: str, tmp_path: Path, figure: Report) -> None:
    _proved(lab, folder, name, tmp_path, figure)


def test_what_librdkafka_really_prints_is_recognised(lab: Lab) -> None:
    with lab.up(SCENARIOS / "S07-single-listener-container-name" / "kraft.broken.yml", wait="settled") as stack:
        topic, host = lead_topics(stack), stand(stack, "H")
        said = lab.oracles.kcat_prints(Cell(vantage=host, bootstrap="localhost:9092", topic=topic))
        refused = lab.oracles.kcat_prints(Cell(vantage=host, bootstrap="localhost:29092", topic=topic))
        logs = [line for broker in stack.brokers() for line in stack.logs(broker.service).splitlines()]
    assert [one.playbook.name for one in recognised(said.splitlines(), BOOKS)] == ["advertised-unresolved"], said
    assert [one.playbook.name for one in recognised(refused.splitlines(), BOOKS)] == ["bootstrap-refused"], refused
    assert len(logs) > 100
    assert recognised(logs, BOOKS) == ()


@pytest.mark.bar("playbooks", long=True)
@pytest.mark.parametrize("form", ["kraft", "zookeeper"])
def test_what_a_healthy_cluster_writes_is_no_symptom(lab: Lab, form: str, figure: Report) -> None:
    with lab.up(SCENARIOS / "S01-reference" / f"{form}.yml", wait="ready") as stack:
        logs = {broker.service: stack.logs(broker.service).splitlines() for broker in stack.brokers()}
    lines = sum(map(len, logs.values()))
    found = [(one.playbook.name, one.times, one.line) for log in logs.values() for one in recognised(log, BOOKS)]
    figure(f"lines of a healthy cluster, {form}", f"{lines}, {len(found)} recognised")
    assert lines > 500
    assert found == []
