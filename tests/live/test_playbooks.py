"""Playbooks beside real brokers: what a broken stack's programs write leads to its cause, a repaired stack to none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from netdiag.io.files.playbooks import shipped
from netdiag.playbook.document import recognised
from tests.cli.shell import process
from tests.figures import Report
from tests.lab.connect_image import load_connect_image, wait_for_workers
from tests.lab.lab import Lab
from tests.lab.lead_topics import lead_topics
from tests.lab.oracles import Cell
from tests.lab.stack import Stack
from tests.live.stacks import SCENARIOS
from tests.playbook.test_scenarios import FILES_ALONE, LIVE_ALONE, OWN, PAIRS
from tests.scenarios.real_clients import vantage_of
from tests.scenarios.running_stack import stand_ins

BOOKS = shipped()
SHORT = ("S07-single-listener-container-name", "kraft")
ALL = (*PAIRS, *LIVE_ALONE)
STACKS = sorted({(folder, stack) for folder, stack, _, _ in ALL})
WIRE = ("capture", "analyze")
# What only files prove, and what a playbook says of the same cause where it sees none.
WITHOUT_FILES = {"ids-in-the-files": "broker-does-not-run", "key-store-lacks-name": "name-missing"}
# Each worker that a stack has, started for real.
WORKERS = {"S23-connect-neighbours": ("connect-1", "connect-2")}
# The engine makes a container and does not start it: its port is taken, its address is refused.
KEPT_OUT = (f"{OWN[:3]} ports.broken.yml", "S05 kraft.broken.yml")


def ran(stack: Stack, book: str, cwd: Path, *words: str) -> dict[str, Any]:
    """The run of a playbook over what runs."""
    done = process(
        "playbook", "run", book, "--live", "--host", stack.engine.docker_host, "--format", "json", *words, cwd=cwd
    )
    assert done.returncode in (0, 1, 3), done
    found: dict[str, Any] = json.loads(done.stdout)["runs"][0]
    return found


def meant(folder: str, stack: str) -> list[tuple[str, str]]:
    """The playbooks of a stack, each with its conclusion."""
    named = [(book, conclusion) for f, s, book, conclusion in ALL if (f, s) == (folder, stack)]
    return [(book, WITHOUT_FILES.get(conclusion, conclusion)) for book, conclusion in named]


@contextmanager
def running(lab: Lab, folder: str, file: str, over: Path) -> Iterator[Stack]:
    """The stack of a file; clients whose images cannot be had only stay where they stand."""
    path = SCENARIOS / folder / file
    is_kept_out = f"{folder[:3]} {file}" in KEPT_OUT
    workers = WORKERS.get(folder, ())
    if workers:
        load_connect_image(lab.engine)
    files = () if workers or folder == OWN else stand_ins(path, over)
    with lab.up(path, wait="none" if is_kept_out else "settled", override_files=files) as stack:
        wait_for_workers(stack, dict.fromkeys(workers, 0))
        yield stack


def client_of(stack: Stack, folder: str, nowhere: Path) -> tuple[str, ...]:
    """Whom netdiag speaks for, where a stack makes settings for a client: only who trusts somebody can be content."""
    if not folder.startswith("S17"):
        return ()
    made = stack.container("certificates")
    for name in ("client.properties", "trust.p12"):
        stack.engine.docker("cp", f"{made}:/secrets/{name}", str(nowhere / name))
    return ("--client-properties", "client.properties", "--timeout", "20")


def _proved(
    lab: Lab, folder: str, name: str, tmp_path: Path, figure: Report, also: Callable[[Stack], None] = lambda _: None
) -> None:
    slowest = 0.0
    # Nothing but what runs is there to see: this folder holds no file.
    nowhere, over = tmp_path / "nowhere", tmp_path / "over"
    nowhere.mkdir()
    over.mkdir()
    with running(lab, folder, f"{name}.broken.yml", over) as stack:
        client = client_of(stack, folder, nowhere)
        for book, conclusion in meant(folder, name):
            found = ran(stack, book, nowhere, *client)
            assert conclusion in [one["name"] for one in found["conclusions"]], found
            assert found["end"] == "cause"
            slowest = max(slowest, sum(step["seconds"] for step in found["steps"] if step["action"] not in WIRE))
        also(stack)
    with running(lab, folder, f"{name}.repaired.yml", over) as stack:
        client = client_of(stack, folder, nowhere)
        for book, _ in meant(folder, name):
            found = ran(stack, book, nowhere, *client)
            assert found["end"] == "no cause", found
    label = f"{folder[:3]} {name}" if folder != OWN else name
    figure(f"playbooks proven on {label}", len(meant(folder, name)))
    figure(f"slowest of them to its cause without captures, {label}", round(slowest, 1), "s")
    assert slowest < 15


@pytest.mark.bar("playbooks")
def test_a_stack_leads_to_its_cause_and_its_twin_to_none(lab: Lab, tmp_path: Path, figure: Report) -> None:
    """And what librdkafka prints there is recognised, and nothing in the brokers' logs."""

    def recognises(stack: Stack) -> None:
        topic, host = lead_topics(stack), vantage_of(stack, "H")
        said = lab.oracles.kcat_prints(Cell(vantage=host, bootstrap="localhost:9092", topic=topic))
        refused = lab.oracles.kcat_prints(Cell(vantage=host, bootstrap="localhost:29092", topic=topic))
        logs = [line for broker in stack.brokers() for line in stack.logs(broker.service).splitlines()]
        assert [one.playbook.name for one in recognised(said.splitlines(), BOOKS)] == ["advertised-unresolved"], said
        assert [one.playbook.name for one in recognised(refused.splitlines(), BOOKS)] == ["bootstrap-refused"], refused
        assert len(logs) > 100
        assert recognised(logs, BOOKS) == ()

    _proved(lab, *SHORT, tmp_path, figure, also=recognises)


@pytest.mark.bar("playbooks", long=True)
@pytest.mark.parametrize(("folder", "name"), [pair for pair in STACKS if pair != SHORT])
def test_every_other_stack_leads_to_its_cause(lab: Lab, folder: str, name: str, tmp_path: Path, figure: Report) -> None:
    _proved(lab, folder, name, tmp_path, figure)


@pytest.mark.bar("playbooks", long=True)
def test_how_many_are_proven(figure: Report) -> None:
    live = {book for _, _, book, _ in ALL}
    alone = {book.name for book in BOOKS} - live
    figure("playbooks with a stack that proves them beside real brokers", f"{len(live)} of {len(BOOKS)}")
    figure("by their files alone, as their stacks cannot run", ", ".join(sorted(alone)))
    assert alone == {book for _, _, book, _ in FILES_ALONE} - live


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
