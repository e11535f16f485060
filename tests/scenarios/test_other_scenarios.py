"""The scenarios about networks, published ports, starts and dependents on a real engine, cell by cell.

predicted = observed = what real clients get. `make test` starts one stack of most scenarios: netdiag says every cell,
kcat one of each kind, the Java tools and kafka-python one that works. `make bars BARS=scenarios` starts all, and asks
every client for every cell.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.figures import Report
from tests.lab.image_set import APACHE_4
from tests.lab.lab import Lab
from tests.lab.stack import Stack as Running
from tests.scenarios.comparison import compare
from tests.scenarios.expectations import Engine, Stack, stacks
from tests.scenarios.netdiag_cells import client_rows, netdiag_says
from tests.scenarios.predicted import prediction
from tests.scenarios.real_clients import clients
from tests.scenarios.running_stack import asked, started_stack

ENGINE = Engine(version="20.10", proxy=True)
QUICK = (
    "S06/kraft.gateway",
    "S09/kraft.broken",
    "S11/kraft.broken",
    "S12/kraft.broken",
    "S13/kraft.repaired",
    "S14/kraft.broken",
    "S15/kraft.broken",
    "S16/kraft.broken",
    "S20/kraft.broken",
    "S21/kraft.broken",
    "S22/kraft.broken",
)
ELSEWHERE = ("S01", "S02", "S03", "S04", "S07", "S08")
STACKS = [stack for stack in stacks() if stack.scenario not in ELSEWHERE]


def _parameter(stack: Stack) -> object:
    marks = () if stack.name in QUICK else (pytest.mark.bar("scenarios", long=True),)
    return pytest.param(stack, marks=marks, id=stack.name)


@pytest.fixture(scope="module", params=[_parameter(stack) for stack in STACKS])
def stack(request: pytest.FixtureRequest) -> Stack:
    """Each stack in turn."""
    chosen: Stack = request.param
    return chosen


@pytest.fixture(scope="module")
def running(lab: Lab, stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The stack on the engine, at rest; gone before the next comes up."""
    with started_stack(lab, stack, tmp_path_factory.mktemp("over")) as up:
        yield up


@pytest.mark.bar("scenarios")
def test_brokers_and_engine_say_why_not(stack: Stack, running: Running) -> None:
    ended = {**stack.broker_prints, **stack.exits}
    if stack.settled != "refused":
        assert {one.service for one in running.brokers() if not one.is_running} == ended.keys()
    assert [service for service, said in ended.items() if said not in running.logs(service)] == []
    refusal = stack.refusal(ENGINE)
    if refusal is not None:
        assert refusal.says in running.run_compose("up", "-d", "--pull", "never", check=False)


@pytest.mark.bar("scenarios", long=True)
def test_the_next_major_version_prints_what_is_predicted_of_it(lab: Lab) -> None:
    (stack,) = (one for one in STACKS if one.name == "S10a/kraft.broken")
    version = {"KAFKA_IMAGE": APACHE_4}
    predicted = {
        f.service: f.broker_prints for f in prediction(stack, version).findings if f.service and f.broker_prints
    }
    assert predicted.keys() == stack.broker_prints.keys()
    with lab.up(stack.file, env=version, wait="settled") as running:
        silent = {service: said for service, said in predicted.items() if said not in running.logs(service)}
    assert silent == {}


@pytest.mark.bar("scenarios")
def test_netdiag_and_real_clients_say_what_is_expected(
    lab: Lab, stack: Stack, running: Running, figure: Report, pytestconfig: pytest.Config
) -> None:
    began = time.monotonic()
    sources = {**clients(lab, running, stack), **netdiag_says(running, stack)}
    everything = pytestconfig.getoption("--bar") == "scenarios"
    result = compare(stack, sources, engine=ENGINE, asks=asked(stack, ENGINE, everything=everything), at_once=12)
    figure(f"{stack.name}: cells", len(result.rows))
    figure(f"{stack.name}: answers of netdiag and of real clients", sum(len(row.said) for row in result.rows))
    figure(f"{stack.name}: answers asked for again", result.asked_again)
    figure(f"{stack.name}: clients", time.monotonic() - began, "s")
    assert [str(row) for row in result.disagreements()] == []
    declared = client_rows(running, stack, sources)
    figure(f"{stack.name}: rows of declared clients", len(declared))
    assert {pair: words for pair, words in declared.items() if len(words) > 1} == {}
