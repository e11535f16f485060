"""A client fails where a rule says so, and works where its Good example says so: kcat asks real brokers.

Examples that differ in their clients only share one stack: its brokers are started once, with the clients of all.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from netdiag.rules.declared import DECLARED
from netdiag.rules.rule import rule_page
from tests.deployment.stacks import deployment_of
from tests.each import each
from tests.figures import Report
from tests.lab import vantages
from tests.lab.answers import Answer
from tests.lab.errors import LabError
from tests.lab.lab import Lab
from tests.lab.lead_topics import Topic, lead_topics
from tests.lab.oracles import Cell
from tests.lab.processes import run
from tests.lab.stack import Stack
from tests.lab.vantages import Vantage
from tests.live.certificates import SECRETS, kcat_with_tls, write_secrets
from tests.live.client_cases import CLIENT_CASES, ENGINE_CASES, Ask, ClientCase, EngineCase
from tests.live.examples import Compose, clients, is_alone_on_the_host, start_last, startable, text_of
from tests.live.side_by_side import SideBySide

Side = Literal["bad", "good"]
RULES = {rule.ID: rule for rule in DECLARED}
# A good stack is up long before: the lab gives each at most 150 s, and needs a tenth of that.
_STUCK_AFTER = 45.0
_STILL = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAnswers:
    """What a stand gave: the words of each question, and what its brokers logged."""

    words: Mapping[tuple[str, Side], tuple[str, ...]]
    raw: Mapping[tuple[str, Side], str]
    log: str


@dataclass(slots=True, kw_only=True)
class ClientStack:
    """One compose file to start, and the questions put to it: the case and side, and the question."""

    compose: Compose
    is_good: bool = False
    is_stuck: bool = False
    asks: dict[tuple[str, Side], Ask] = field(default_factory=dict)

    @property
    def is_alone(self) -> bool:
        """Whether no other stack that takes ports of the docker host may run beside it."""
        return is_alone_on_the_host(self.compose)

    def tell(self, lab: Lab, folder: Path) -> ClientAnswers:
        """Start it, wait for it, ask from everywhere."""
        file = folder / "compose.yml"
        file.write_text(text_of(self.compose), encoding="utf-8")
        if SECRETS in text_of(self.compose):
            write_secrets(lab, folder / "secrets")
        with lab.up(file, wait="none") as stack:
            topic = self._at_rest(stack)
            found = {key: _answers(lab, stack, one, topic) for key, one in self.asks.items()}
            log = "\n".join(logs_of(stack, one.id) for one in stack.brokers())
        return ClientAnswers(
            words={key: tuple(sorted(word for word, _ in some)) for key, some in found.items()},
            raw={key: "\n".join(raw for _, raw in some) for key, some in found.items()},
            log=log,
        )

    def _at_rest(self, stack: Stack) -> Topic | None:
        """Wait as long as this kind of stand needs; the topic that tells its brokers apart, where one can be made."""
        if self.is_good:
            stack.wait_ready(180)
            return lead_topics(stack)
        try:
            stack.wait_settled(_STUCK_AFTER if self.is_stuck else 180, still=_STILL)
        except LabError:
            if not self.is_stuck:
                raise
        try:
            return lead_topics(stack)
        except LabError:
            return broken_topic(stack)


def broken_topic(stack: Stack) -> Topic | None:
    """The topic that was asked for where it could not be made whole: what of it works tells brokers apart as well."""
    nodes = [one.node_id for one in stack.brokers() if one.is_running]
    leaders = tuple(sorted({node for node in nodes if node is not None}))
    return Topic(name=f"nd-{stack.project}", leaders=leaders) if leaders else None


def _answers(lab: Lab, stack: Stack, ask: Ask, topic: Topic | None) -> list[tuple[str, str]]:
    """The word of each address asked, and all that kcat printed."""
    vantage = vantage_of(stack, ask.vantage)
    addresses = [address.format(project=stack.project) for address in ask.bootstraps]
    if ask.tls:
        return [kcat_with_tls(lab, vantage, address) for address in addresses]
    cells = [Cell(vantage=vantage, bootstrap=address, topic=topic) for address in addresses]
    answers = lab.oracles.ask_all(cells, ("kcat",))
    return [(word(answers[cell, "kcat"], topic), answers[cell, "kcat"].raw) for cell in cells]


def example(case: ClientCase, side: Side) -> Compose:
    """The bad or the good example of the case's rule, as the lab starts it."""
    compose = startable_example(case.rule, side, case.replaced)
    if case.is_late:
        start_last(compose, "kafka")
    return compose


def startable_example(rule: str, side: Side, replaced: tuple[str, str] | None) -> Compose:
    """An example of a rule, as the lab starts it."""
    page = rule_page(RULES[rule].__doc__ or "")
    return startable(page.bad if side == "bad" else page.good, replaced)


def engine_says(lab: Lab, compose: Compose, folder: Path) -> str:
    """What is printed when this is brought up, however that ends."""
    file = folder / "compose.yml"
    file.write_text(text_of(compose), encoding="utf-8")
    stack = Stack(engine=lab.engine, project=f"lab{secrets.token_hex(3)}", compose=lab.compose, files=(file,))
    try:
        return stack.run_compose("up", "-d", "--pull", "never", check=False)
    finally:
        stack.run_compose("down", "-v", "-t", "0", check=False)


def client_stacks(cases: Iterable[ClientCase]) -> dict[str, ClientStack]:
    """What to start for these cases, by what its brokers are."""
    made: dict[str, ClientStack] = {}
    for case in cases:
        for side in ("bad", "good"):
            compose = example(case, side)
            stand = made.setdefault(key_of(compose), ClientStack(compose=_without(compose, clients(compose))))
            for name in clients(compose):
                stand.compose["services"][_renamed(case, side, name)] = compose["services"][name]
            asked = case.bad if side == "bad" else case.good
            vantage = _renamed(case, side, asked.vantage) if asked.vantage in clients(compose) else asked.vantage
            stand.asks[case.rule, side] = replace(asked, vantage=vantage)
            stand.is_good |= side == "good"
            stand.is_stuck |= case.is_stuck
    return made


def key_of(compose: Compose) -> str:
    """The same for examples that differ in their clients only."""
    return json.dumps(_without(compose, clients(compose)), sort_keys=True)


def vantage_of(stack: Stack, named: str) -> Vantage:
    """The place that a case names."""
    what, _, network = named.partition(":")
    match what:
        case "H":
            return vantages.docker_host(stack)
        case "L":
            return vantages.lan_machine(stack)
        case "C":
            return vantages.same_network(stack, f"{stack.project}_{network}" if network else None)
    return vantages.inside(stack, named)


def word(answer: Answer, topic: Topic | None) -> str:
    """The verdict, without blanks; "incomplete" where what was named answers, but not all of the cluster."""
    verdict = answer.verdict().replace(" ", ":")
    everybody = set(topic.leaders) if topic else set()
    return "incomplete" if verdict == "ok" and not answer.reached >= everybody else verdict


def _without(compose: Compose, names: Iterable[str]) -> Compose:
    gone = set(names)
    return {**compose, "services": {name: one for name, one in compose["services"].items() if name not in gone}}


def _renamed(case: ClientCase, side: Side, name: str) -> str:
    return f"{name}-{side}-{case.rule}"


def logs_of(stack: Stack, container: str) -> str:
    """What one container of a stack has printed; a service may have several of them."""
    done = run(["docker", "logs", container], env=stack.engine.environment)
    return done.stdout + done.stderr


Tell = Callable[[ClientCase, Side], ClientAnswers]


@pytest.fixture(scope="module")
def tell(lab: Lab, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tell]:
    """What the stack of a case and side gives; all stacks of the chosen tests are started, some at a time."""
    chosen = [one for one in request.session.items if isinstance(one, pytest.Function) and "tell" in one.fixturenames]
    cases: list[ClientCase] = [item.callspec.params["case"] for item in chosen]  # type: ignore[misc]
    jobs: SideBySide[ClientAnswers] = SideBySide()
    for key, stand in client_stacks(cases).items():
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
    stand = ClientStack(compose=good, is_good=True, asks={(case.rule, "good"): case.good})
    told = stand.tell(lab, tmp_path)
    assert told.words[case.rule, "good"] == ("ok",), told.raw[case.rule, "good"] + told.log[-3000:]
    figure(f"{case.rule}: what the engine says", case.says)
