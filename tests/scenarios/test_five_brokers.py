"""The five-broker stacks on a real engine: predicted = observed = what each real client gets, in every cell.

kafka-ui's image cannot be had in the lab. A container stands in for it, for netdiag; the clients at C stand on the same
network and bootstrap on the address that its service is given.

`make test` starts each scenario in one form, ZooKeeper or KRaft, and broken where it can be (repairs start in
`test_repaired.py`); it asks netdiag and kcat for every cell, the slower two for one cell of each kind. `make bars
BARS=cells` starts all stacks, and asks every client for every cell, as `NETDIAG_ALL_CELLS=1` does.
`NETDIAG_CELLS_REPORT=FILE` writes the table.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from netdiag.deployment.model.deployment import State
from netdiag.io.kernel.inventory import read_inventory
from netdiag.topology.graph import PathEnd
from netdiag.topology.path.attempts import Agreement
from tests.cli.shell import process
from tests.figures import Report
from tests.lab.lab import Lab
from tests.lab.stack import Stack as Running
from tests.lab.stack import Wait
from tests.live.stacks import check
from tests.real_connections.comparing import misses, tally, unmoved
from tests.real_connections.in_lab import lab_cells, proofs
from tests.scenarios.comparison import Comparison, compare, markdown
from tests.scenarios.expectations import Engine, ExpectedCell, Stack, stacks
from tests.scenarios.netdiag_cells import NETDIAG, client_rows, netdiag_says
from tests.scenarios.real_clients import clients, vantage_of
from tests.scenarios.running_stack import stand_ins

ENGINE = Engine(version="20.10", proxy=True)
QUICK = ("kcat", *NETDIAG)
# The scenarios of the first listener problems; `test_other_scenarios.py` has the others.
STACKS = [stack for stack in stacks() if stack.scenario in ("S01", "S02", "S03", "S04", "S07", "S08")]
# What make test starts: what they are in the other form is predicted, in test_predicted.py, cell by cell as well.
STARTED = (
    *("S01/zookeeper", "S02/kraft.broken", "S03/kraft.own-name", "S04/kraft.broken", "S07/kraft.broken"),
    "S08/zookeeper.broken",
)
BOUND_ELSEWHERE = [stack for stack in STACKS if stack.name == "S04/kraft.broken"]
# One stack in `make test`, the others with `make bars BARS=trace-truth`.
TRACED, REST = STACKS[:1], STACKS[1:]


def _parameter(stack: Stack) -> object:
    marks = () if stack.name in STARTED else (pytest.mark.bar("cells", long=True),)
    return pytest.param(stack, marks=marks, id=stack.name)


@pytest.fixture(scope="module", params=[_parameter(stack) for stack in STACKS])
def stack(request: pytest.FixtureRequest) -> Stack:
    """Each stack in turn."""
    chosen: Stack = request.param
    return chosen


@pytest.fixture(scope="module")
def running(lab: Lab, stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The stack on the engine with a stand-in for kafka-ui, at rest; gone before the next comes up."""
    over = stand_ins(stack.file, tmp_path_factory.mktemp("over"))
    wait: Wait = "ready" if stack.settled == "ready" else "settled"
    with lab.up(stack.file, override_files=over, profiles=("ui",), wait=wait) as up:
        yield up


@pytest.fixture(scope="module")
def comparisons() -> Iterator[list[Comparison]]:
    """What was compared, written down at the end."""
    done: list[Comparison] = []
    yield done
    if done and (report := os.environ.get("NETDIAG_CELLS_REPORT")):
        Path(report).write_text(markdown(done) + "\n", encoding="utf-8")


def test_brokers_come_to_rest_as_expected(stack: Stack, running: Running) -> None:
    brokers = running.brokers()
    if stack.settled == "exited":
        assert {broker.service: broker.is_running for broker in brokers} == dict.fromkeys(stack.broker_prints, False)
    else:
        assert [broker.service for broker in brokers if not broker.is_running] == []


@pytest.mark.bar("broker-prints")
def test_brokers_print_why_they_do_not_start(stack: Stack, running: Running) -> None:
    for service, sentence in stack.broker_prints.items():
        assert sentence in running.logs(service)


@pytest.mark.bar("cells")
def test_netdiag_and_real_clients_say_what_is_expected(
    lab: Lab,
    stack: Stack,
    running: Running,
    comparisons: list[Comparison],
    figure: Report,
    pytestconfig: pytest.Config,
) -> None:
    began = time.monotonic()
    sources = {**clients(lab, running, stack), **netdiag_says(running, stack)}
    result = compare(
        stack, sources, engine=ENGINE, asks=_asked(stack, everything=pytestconfig.getoption("--bar") == "cells")
    )
    comparisons.append(result)
    figure(f"{stack.name}: cells", len(result.rows))
    figure(f"{stack.name}: answers of netdiag and of real clients", sum(len(row.said) for row in result.rows))
    figure(f"{stack.name}: answers asked for again", result.asked_again)
    figure(f"{stack.name}: clients", time.monotonic() - began, "s")
    assert [str(row) for row in result.disagreements()] == []
    declared = client_rows(running, stack, sources)
    figure(f"{stack.name}: rows of declared clients", len(declared))
    assert {pair: words for pair, words in declared.items() if len(words) > 1} == {}


@pytest.mark.parametrize("stack", BOUND_ELSEWHERE, ids=lambda stack: stack.name, indirect=True)
def test_a_live_check_tells_why_brokers_do_not_run(running: Running, stack: Stack) -> None:
    """Their state, the line that says why, and what is left of their vantages."""
    checked = check(running)
    assert sorted(checked.live.stopped) == [f"broker-{n}" for n in range(1, 6)]
    for number in range(1, 6):
        said = str(checked.live.stopped[f"broker-{number}"])
        expected = f"Socket server failed to bind to 192.168.8.133:909{number}: Cannot assign requested address."
        assert said.startswith("not running, exit code 1: ")
        assert expected in said
    brokers = [b for b in checked.live.deployment.brokers if b.config.is_broker]
    assert {b.member.state for b in brokers} == {State.STOPPED}
    assert not any(each.vantage.kind.value == "B" for each in checked.live.vantages)
    assert set(checked.words("docker host").values()) <= {"bootstrap: refused", "bootstrap: unresolved"}
    assert checked.disagreements == []


@pytest.mark.bar("trace-truth")
@pytest.mark.parametrize("stack", TRACED, ids=lambda stack: stack.name, indirect=True)
def test_walks_end_as_real_connections_do(running: Running, stack: Stack, figure: Report) -> None:
    _trace(running, stack, figure)


@pytest.mark.bar("trace-truth")
@pytest.mark.parametrize("stack", TRACED, ids=lambda stack: stack.name, indirect=True)
def test_real_connections_prove_walks_hop_by_hop(running: Running, stack: Stack, figure: Report) -> None:
    found = proofs(running.engine)
    figure(f"{stack.name}: ways proved by packets on every device and counters of rules", len(found))
    assert {proof.end for _, proof in found} >= {PathEnd.CONNECTED, PathEnd.REFUSED}
    assert [(name, proof.because) for name, proof in found if proof.agreement is not Agreement.AGREES] == []
    assert all(one.first for _, proof in found if proof.end is PathEnd.CONNECTED for one in proof.seen)


@pytest.mark.bar("trace-truth")
@pytest.mark.parametrize("stack", TRACED, ids=lambda stack: stack.name, indirect=True)
def test_the_command_says_the_same(running: Running, stack: Stack, tmp_path: Path) -> None:
    engine = ("--host", running.engine.docker_host)
    works = process("trace", "broker-1", "broker-2:29092", "--prove", *engine, cwd=tmp_path)
    assert (works.returncode, works.stderr) == (0, b"")
    assert b"a real connection: connected" in works.stdout
    own_loopback = process("trace", "broker-1", "localhost:9092", *engine, cwd=tmp_path)
    assert (own_loopback.returncode, own_loopback.stderr) == (1, b"")
    assert b"nothing listens on port 9092 there" in own_loopback.stdout


@pytest.mark.bar("trace-truth", long=True)
@pytest.mark.parametrize("stack", REST, ids=lambda stack: stack.name, indirect=True)
def test_walks_end_as_real_connections_do_everywhere(running: Running, stack: Stack, figure: Report) -> None:
    for vantage in ("O", "C", "D"):
        vantage_of(running, vantage)
    _trace(running, stack, figure)


def _trace(running: Running, stack: Stack, figure: Report) -> None:
    """From every namespace to every address of a listener; the rules that drop have counted it."""
    before = read_inventory()
    cells = lab_cells(running.engine)
    figure(f"{stack.name}: walks against real connections", tally(cells))
    assert misses(cells) == []
    assert unmoved(cells, before, read_inventory()) == []


def _asked(stack: Stack, *, everything: bool) -> Callable[[str, ExpectedCell], bool]:
    """Which client is asked for which cell."""
    if everything or os.environ.get("NETDIAG_ALL_CELLS") == "1":
        return lambda source, cell: True
    kinds: dict[str, ExpectedCell] = {}
    for cell in stack.cells:
        kinds.setdefault(cell.on(ENGINE), cell)
    return lambda source, cell: source in QUICK or cell in kinds.values()
