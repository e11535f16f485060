"""Every stack of every scenario on every engine of the lab, with the userland proxy and without: `make bars`.

predicted from the file, predicted from the engine = observed = kcat in every cell. What the Java tools and kafka-python
say is asked on the machine's own engine, in test_other_scenarios.py and test_five_brokers.py: no client can see which
engine there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.engine.live_deployment import read_live
from tests.figures import Report
from tests.lab.errors import LabImpossible
from tests.lab.lab import Lab, start_lab
from tests.lab.releases import NFTABLES, RELEASES
from tests.lab.stack import Stack as Running
from tests.scenarios.comparison import Source, compare
from tests.scenarios.expectations import Engine, Stack, stacks
from tests.scenarios.netdiag_cells import PREDICTED, netdiag_says
from tests.scenarios.predicted import prediction
from tests.scenarios.real_clients import clients
from tests.scenarios.running_stack import asked, started_stack

ENGINES = [
    Engine(version=release, proxy=proxy) for release in RELEASES if release != NFTABLES for proxy in (True, False)
]


def _name(engine: Engine) -> str:
    return f"{engine.version}-proxy-{'on' if engine.proxy else 'off'}"


@pytest.fixture(scope="module", params=ENGINES, ids=_name)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    chosen: Engine = request.param
    return chosen


@pytest.fixture(scope="module")
def lab_of(engine: Engine, compose_v2: Path) -> Iterator[Lab]:
    """A lab of that engine; gone before the next."""
    assert compose_v2.exists()
    try:
        with start_lab(release=engine.version, userland_proxy=engine.proxy) as running:
            yield running
    except LabImpossible as error:
        pytest.skip(str(error))


@pytest.mark.lab
@pytest.mark.bar("scenarios", long=True)
@pytest.mark.parametrize("stack", stacks(), ids=lambda stack: stack.name)
def test_predicted_is_observed_is_what_kcat_gets(
    lab_of: Lab, engine: Engine, stack: Stack, tmp_path: Path, figure: Report
) -> None:
    refusal = stack.refusal(engine)
    made = refusal is None or refusal.containers
    with started_stack(lab_of, stack, tmp_path, containers=made) as running:
        if refusal is not None:
            assert refusal.says in running.run_compose("up", "-d", "--pull", "never", check=False)
        kcat = {"kcat": clients(lab_of, running, stack)["kcat"]}
        sources = {
            **kcat,
            **(netdiag_says(running, stack, engine=engine) if made else _from_file(running, stack, engine)),
        }
        result = compare(stack, sources, engine=engine, asks=asked(stack, engine, everything=True), at_once=12)
    figure(f"{_name(engine)} {stack.name}: cells", len(result.rows))
    figure(f"{_name(engine)} {stack.name}: answers", sum(len(row.said) for row in result.rows))
    assert [str(row) for row in result.disagreements()] == []


def _from_file(running: Running, stack: Stack, engine: Engine) -> dict[str, Source]:
    """Where the engine made no container, netdiag has the file only, and says so."""
    with pytest.raises(InputError, match="the engine has no container of this compose project"):
        read_live(host=running.engine.docker_host, project=running.project)
    return {PREDICTED: prediction(stack, engine=engine).cell}
