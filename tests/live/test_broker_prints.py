"""What a rule says the broker will print is what the real broker prints: every such Bad example is started.

`printed.json` names the examples that were started, each with a digest of its text and of its sentences. `make test`
starts what has changed since, one example of each kind of image, and everything when the images change. `make bars
BARS=broker-prints` starts all; with GOLDEN=write it records them.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tests.deployment.stacks import files_beside
from tests.figures import Report
from tests.house.tree import ROOT
from tests.lab.cache import digest
from tests.lab.jars import KAFKA_3, KAFKA_4
from tests.lab.lab import Lab
from tests.live.examples import compose_of, images, is_alone_on_the_host
from tests.live.print_cases import PrintCase, of_examples, of_mutants, predicting
from tests.live.proofs import NOT_PRINTED
from tests.live.side_by_side import SideBySide

EXAMPLES = of_examples()
# By the kinds of images: the first example of each is always started.
FIRST = {frozenset(images(case.text)): case.name for case in reversed(EXAMPLES) if case.name == case.rule}
RECORD = Path(__file__).with_name("printed.json")
# What decides the log of a broker that refuses to start: the scripts and properties of its image, and the release.
_OF_BROKERS = ("apache", "cp")
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


@cache
def broker_images() -> str:
    """Changes whenever an image of a broker does."""
    return digest(*(ROOT / "tests" / "lab" / "images" / name for name in _OF_BROKERS), KAFKA_3, KAFKA_4)


@cache
def recorded() -> Mapping[str, str]:
    """The examples that brokers of these images were started with, by name."""
    record: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record["examples"] if record["images"] == broker_images() else {}


def told(case: PrintCase) -> str:
    """Changes whenever the file changes, or what a rule predicts of it."""
    return digest(case.text, json.dumps(case.predicted))


def is_recorded(case: PrintCase) -> bool:
    """Whether a broker of these images has printed these sentences for this very file."""
    return recorded().get(case.name) == told(case)


def record(case: PrintCase) -> None:
    """Keep that a broker printed it."""
    now = {"images": broker_images(), "examples": dict(sorted({**recorded(), case.name: told(case)}.items()))}
    RECORD.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    recorded.cache_clear()


def test_what_is_recorded_holds_for_the_very_text_and_sentences() -> None:
    assert recorded().keys() <= {case.name for case in EXAMPLES}
    case = next(filter(is_recorded, EXAMPLES), None)
    if case is not None:
        assert not is_recorded(replace(case, text=f"{case.text}\n"))
        assert not is_recorded(replace(case, predicted=(("kafka", "another sentence"),)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The mutants of correct stacks take seconds to make, and only the bar asks for them."""
    if "case" in metafunc.fixturenames:
        mutants = of_mutants() if metafunc.config.getoption("--bar") == "broker-prints" else ()
        metafunc.parametrize("case", [*map(_param, EXAMPLES), *(_param(case) for case in mutants)])


def _param(case: PrintCase) -> object:
    # What a rule predicts of the next major version, too, and what of mutants, is for make bars.
    is_short = case.name == case.rule and (case.name in FIRST.values() or not is_recorded(case))
    marks = pytest.mark.bar("broker-prints", long=not is_short)
    return pytest.param(case, id=case.name.replace(" ", "-"), marks=marks)


def test_the_real_broker_prints_it(printed: Printed, case: PrintCase, figure: Report) -> None:
    found = printed(case)
    for service, sentence in case.predicted:
        assert found[service].is_ended, f"{service} still runs: {found[service].log[-2000:]}"
        assert sentence in found[service].log, found[service].log[-3000:]
    figure(f"{case.name}: sentences found in the log of a real broker", len(case.predicted))
    if os.environ.get("GOLDEN") == "write" and case in EXAMPLES:
        record(case)
