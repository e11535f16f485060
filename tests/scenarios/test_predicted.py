"""The static half of every scenario: findings exactly as expected, and every predicted cell."""

import pytest

from netdiag.deployment.clients import attempts, health_check_attempts
from netdiag.deployment.prediction.reachability import predict
from netdiag.findings import FileLocation
from tests.each import each
from tests.figures import Report
from tests.scenarios.expectations import Engine, Stack, stacks
from tests.scenarios.predicted import prediction

STACKS = stacks()
ENGINES = [Engine(version=version, proxy=proxy) for version in ("20.10", "28", "29") for proxy in (True, False)]


@pytest.mark.bar("static")
@each("stack", STACKS, ids=lambda stack: stack.name)
def test_findings_are_exactly_those_expected(stack: Stack) -> None:
    assert sorted(map(str, prediction(stack).serious())) == sorted(map(str, stack.findings))


@pytest.mark.bar("broker-prints")
@each("stack", STACKS, ids=lambda stack: stack.name)
def test_a_broker_that_is_to_refuse_is_predicted_with_its_sentence(stack: Stack) -> None:
    said = {f.service: f.broker_prints for f in prediction(stack).findings if f.broker_prints}
    assert said.keys() == stack.broker_prints.keys()
    for broker, sentence in stack.broker_prints.items():
        assert said[broker] in sentence


@each("engine", ENGINES, ids=lambda one: f"{one.version}-{'on' if one.proxy else 'off'}")
@each("stack", STACKS, ids=lambda stack: stack.name)
def test_every_cell_is_predicted_on_every_engine(stack: Stack, engine: Engine) -> None:
    made = prediction(stack, engine=engine)
    wrong = {
        f"{cell.vantage} {cell.bootstrap}": (cell.from_file(engine), said)
        for cell in stack.cells
        if (said := made.cell(cell.vantage, cell.bootstrap)) != cell.from_file(engine)
    }
    assert wrong == {}


@pytest.mark.bar("scenarios")
@pytest.mark.parametrize("stack", [one for one in STACKS if one.scenario == "S19"], ids=lambda stack: stack.name)
def test_every_cell_is_predicted_on_a_desktop(stack: Stack, figure: Report) -> None:
    desktop = Engine(version="28", proxy=True, platform="desktop")
    made = prediction(stack, engine=desktop)
    said = {(cell.vantage, cell.bootstrap): made.cell(cell.vantage, cell.bootstrap) for cell in stack.cells}
    figure(f"{stack.name}: cells on a desktop, by the model", len(said))
    assert said == {(cell.vantage, cell.bootstrap): cell.from_file(desktop) for cell in stack.cells}
    assert any(cell.on(desktop) != cell.on(ENGINES[0]) for cell in stack.cells)


@pytest.mark.bar("static")
@each("stack", STACKS, ids=lambda stack: stack.name)
def test_a_client_has_a_finding_on_its_line_exactly_where_its_cell_is_not_ok(stack: Stack) -> None:
    made = prediction(stack)
    judged = {f.location.line for f in made.findings if isinstance(f.location, FileLocation)}
    for attempt in (*attempts(made.deployment), *health_check_attempts(made.deployment)):
        (cell,) = predict(made.deployment, [attempt.vantage], [attempt.address])
        if not attempt.client.active or str(cell.predicted) == "unknown":
            continue
        assert isinstance(attempt.where, FileLocation)
        assert (str(cell.predicted) == "ok") is (attempt.where.line not in judged), attempt.where


@each("stack", [stack for stack in stacks() if stack.jmx], ids=lambda stack: stack.name)
def test_every_cell_of_jmx_is_predicted(stack: Stack) -> None:
    said = prediction(stack)
    assert {pair: said.jmx_cell(*pair) for pair in stack.jmx} == dict(stack.jmx)
