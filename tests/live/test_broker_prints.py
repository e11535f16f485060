"""What a rule says the broker will print is what the real broker prints: every such Bad example is started."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.deployment.stacks import files_beside
from tests.figures import Report
from tests.lab.lab import Lab
from tests.live.examples import compose_of, is_alone_on_the_host
from tests.live.print_cases import PrintCase, of_examples, of_mutants, predicting
from tests.live.proofs import NOT_PRINTED
from tests.live.side_by_side import SideBySide

EXAMPLES, MUTANTS = of_examples(), of_mutants()
_ENDS_WITHIN = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Whether a container ended, and what it had printed by then."""

    is_ended: bool
    log: str


Printed = Callable[[PrintCase], Mapping[str, Ended]]


def start(lab: Lab, case: PrintCase, folder: Path) -> Mapping[str, Ended]:
    """Start the file of a case, wait until the services that are to end have ended."""
    file = folder / "compose.yml"
    file.write_text(case.text, encoding="utf-8")
    for name, content in files_beside(case.text).items():
        beside = folder / name
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        # Whoever the image runs as may write here.
        beside.parent.chmod(0o777)
        beside.chmod(0o666)
    services = dict(case.predicted)
    with lab.up(file, wait="none") as stack:
        deadline = time.monotonic() + _ENDS_WITHIN
        while any(stack.state(name).is_running for name in services) and time.monotonic() < deadline:
            time.sleep(0.3)
        return {name: Ended(is_ended=not stack.state(name).is_running, log=stack.logs(name)) for name in services}


@pytest.fixture(scope="module")
def printed(lab: Lab, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Printed]:
    """What the stack of a case printed; the stacks of all chosen tests are started, some at a time."""
    chosen = [
        one for one in request.session.items if isinstance(one, pytest.Function) and "printed" in one.fixturenames
    ]
    cases: list[PrintCase] = [item.callspec.params["case"] for item in chosen]  # type: ignore[misc]
    jobs: SideBySide[Mapping[str, Ended]] = SideBySide()
    for case in cases:
        alone = is_alone_on_the_host(compose_of(case.text))
        jobs.start(case.name, partial(start, lab, case, tmp_path_factory.mktemp("prints")), is_alone=alone)
    yield lambda case: jobs.result(case.name)
    jobs.close()


def test_what_cannot_be_run_here_is_known() -> None:
    assert {rule.ID for rule in predicting()} - {case.rule for case in EXAMPLES} == set(NOT_PRINTED)
    assert len({case.rule for case in EXAMPLES}) >= 27


def _params(cases: tuple[PrintCase, ...], *, long: bool) -> list[object]:
    return [
        pytest.param(
            case,
            id=case.name.replace(" ", "-"),
            # What a rule predicts of the next major version, too, and what of mutants, is for make bars.
            marks=pytest.mark.bar("broker-prints", long=long or case.name != case.rule),
        )
        for case in cases
    ]


@pytest.mark.parametrize("case", [*_params(EXAMPLES, long=False), *_params(MUTANTS, long=True)])
def test_the_real_broker_prints_it(printed: Printed, case: PrintCase, figure: Report) -> None:
    found = printed(case)
    for service, sentence in case.predicted:
        assert found[service].is_ended, f"{service} still runs: {found[service].log[-2000:]}"
        assert sentence in found[service].log, found[service].log[-3000:]
    figure(f"{case.name}: sentences found in the log of a real broker", len(case.predicted))
