"""A client fails where a rule says so, and works where its Good example says so: kcat asks real brokers."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.deployment.stacks import deployment_of
from tests.each import each
from tests.figures import Report
from tests.lab.lab import Lab
from tests.live.client_cases import CLIENT_CASES, ENGINE_CASES, ClientCase, EngineCase
from tests.live.examples import text_of
from tests.live.side_by_side import SideBySide
from tests.live.stands import RULES, Side, Stand, Told, engine_says, example, key_of, stands, startable_example

Tell = Callable[[ClientCase, Side], Told]


@pytest.fixture(scope="module")
def tell(lab: Lab, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tell]:
    """What the stand of a case and side told; all stands of the chosen tests are started, some at a time."""
    chosen = [one for one in request.session.items if isinstance(one, pytest.Function) and "tell" in one.fixturenames]
    cases: list[ClientCase] = [item.callspec.params["case"] for item in chosen]  # type: ignore[misc]
    jobs: SideBySide[Told] = SideBySide()
    for key, stand in stands(cases).items():
        jobs.start(key, partial(stand.tell, lab, tmp_path_factory.mktemp("stand")), is_alone=stand.is_alone)
    yield lambda case, side: jobs.result(key_of(example(case, side)))
    jobs.close()


@each("case", CLIENT_CASES, ids=lambda case: case.rule)
def test_what_is_started_is_what_the_rule_judges(case: ClientCase) -> None:
    check = RULES[case.rule].check
    assert list(check(deployment_of(text_of(example(case, "bad")))))
    assert not list(check(deployment_of(text_of(example(case, "good")))))


CASES = [
    pytest.param(case, id=case.rule, marks=pytest.mark.bar("client-fails", long=not case.is_quick))
    for case in CLIENT_CASES
]


@pytest.mark.parametrize("case", CASES)
def test_a_client_fails_where_the_rule_says_so_and_works_where_it_is_mended(
    tell: Tell, case: ClientCase, figure: Report
) -> None:
    bad, good = tell(case, "bad"), tell(case, "good")
    assert bad.words[case.rule, "bad"] == case.words, bad.raw[case.rule, "bad"] + bad.log[-3000:]
    assert case.log in bad.log, bad.log[-3000:]
    assert set(good.words[case.rule, "good"]) == {"ok"}, good.raw[case.rule, "good"] + good.log[-3000:]
    figure(f"{case.rule}: what kcat gets", " ".join(bad.words[case.rule, "bad"]))


@pytest.mark.bar("client-fails", long=True)
@pytest.mark.parametrize("case", ENGINE_CASES, ids=lambda case: case.rule)
def test_the_engine_refuses_what_the_rule_says_it_refuses(
    lab: Lab, tmp_path: Path, case: EngineCase, figure: Report
) -> None:
    bad, good = (startable_example(case.rule, side, case.replaced) for side in ("bad", "good"))
    check = RULES[case.rule].check
    assert list(check(deployment_of(text_of(bad))))
    assert not list(check(deployment_of(text_of(good))))
    said = engine_says(lab, bad, tmp_path)
    assert case.says in said, said
    stand = Stand(compose=good, is_good=True, asks={(case.rule, "good"): case.good})
    told = stand.tell(lab, tmp_path)
    assert told.words[case.rule, "good"] == ("ok",), told.raw[case.rule, "good"] + told.log[-3000:]
    figure(f"{case.rule}: what the engine says", case.says)
