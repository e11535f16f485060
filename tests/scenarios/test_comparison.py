"""What compares the sources of a cell: words of clients, which are asked for what, and that a difference is seen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab.answers import Answer
from tests.scenarios.comparison import compare, markdown
from tests.scenarios.expectations import Case, Engine, ExpectedCell, Stack
from tests.scenarios.netdiag_cells import OBSERVED, PREDICTED, PREDICTED_LIVE
from tests.scenarios.real_clients import word
from tests.scenarios.running_stack import asked, stand_ins

ENGINE = Engine(version="20.10", proxy=True)


def stack(*cells: tuple[str, str, str]) -> Stack:
    return Stack(
        scenario="S00",
        file=Path("kraft.yml"),
        findings=(),
        broker_prints={},
        settled="ready",
        cells=tuple(ExpectedCell(vantage=v, bootstrap=b, cases=(Case(cell=c),)) for v, b, c in cells),
    )


def test_a_source_that_says_something_else_is_seen() -> None:
    one = stack(("H", "localhost:9092", "ok"), ("C", "localhost:9092", "bootstrap: refused"))
    result = compare(one, {"always-ok": lambda vantage, bootstrap: "ok"}, engine=ENGINE)
    assert [str(row) for row in result.disagreements()] == [
        "C localhost:9092: expected 'bootstrap: refused', always-ok 'ok'"
    ]
    assert (
        "2 cells in 1 stacks, 2 answers (1 with the reason, where there is one), "
        "1 asked again, 1 cells with a disagreement" in markdown([result])
    )
    assert "| C | `localhost:9092` | bootstrap: refused | ok | **differs** |" in markdown([result])


@pytest.mark.parametrize(
    ("word", "agrees"),
    [
        ("bootstrap: refused", True),
        ("bootstrap", True),
        ("bootstrap: unresolved", False),
        ("advertised", False),
        ("ok", False),
    ],
)
def test_a_source_may_leave_the_reason_out_but_not_give_another(word: str, agrees: bool) -> None:
    result = compare(stack(("H", "h:1", "bootstrap: refused")), {"it": lambda vantage, bootstrap: word}, engine=ENGINE)
    assert result.rows[0].agrees is agrees


def test_an_answer_that_does_not_fit_is_asked_for_once_more() -> None:
    late = iter(["advertised: no-brokers", "ok"])
    result = compare(stack(("H", "h:1", "ok")), {"slow": lambda vantage, bootstrap: next(late)}, engine=ENGINE)
    assert (result.disagreements(), result.asked_again) == ((), 1)


def test_a_source_is_asked_only_for_the_cells_chosen_for_it() -> None:
    one = stack(("H", "h:1", "ok"), ("H", "h:2", "ok"))
    result = compare(one, {"it": lambda v, b: "ok"}, engine=ENGINE, asks=lambda source, cell: cell.bootstrap == "h:1")
    assert [dict(row.said) for row in result.rows] == [{"it": "ok"}, {}]


def test_a_cell_needs_exactly_one_case_for_an_engine() -> None:
    cell = ExpectedCell(vantage="O", bootstrap="h:1", cases=(Case(cell="ok", proxies=(False,)),))
    with pytest.raises(ValueError, match="0 cases hold"):
        cell.on(ENGINE)


def test_kcat_may_say_what_it_is_known_to_say_and_nobody_else() -> None:
    cell = ExpectedCell(vantage="H", bootstrap="h:1", cases=(Case(cell="partial 1/3", kcat="wrong-broker"),))
    one = replace(stack(), cells=(cell,))
    assert compare(one, {"kcat": lambda v, b: "wrong-broker"}, engine=ENGINE).disagreements() == ()
    assert len(compare(one, {"java": lambda v, b: "wrong-broker"}, engine=ENGINE).disagreements()) == 1


@pytest.mark.parametrize(("word", "agrees"), [("bootstrap: closed", True), ("not-kafka", True), ("ok", False)])
def test_no_client_knows_that_what_answers_is_not_for_it(word: str, agrees: bool) -> None:
    result = compare(stack(("H", "h:1", "not-kafka")), {"it": lambda vantage, bootstrap: word}, engine=ENGINE)
    assert result.rows[0].agrees is agrees


def answer(oracle: str, raw: str, *, advertised: tuple[int, ...] = (), reached: frozenset[int] = frozenset()) -> Answer:
    return Answer(
        oracle=oracle,
        bootstrap_ok=bool(advertised),
        advertised=advertised,
        reached=reached,
        wrong=frozenset(),
        error="",
        raw=raw,
    )


@pytest.mark.parametrize(
    ("oracle", "raw", "expected"),
    [
        ("kcat", "broker-1:29092/bootstrap: Failed to resolve 'broker-1:29092': Name or service", "unresolved"),
        ("kcat", "Connect to ipv4#127.0.0.1:29092 failed: Connection refused (after 0ms in state CONNECT)", "refused"),
        ("java", "WARN Couldn't resolve server broker-1:29092 as DNS resolution failed for broker-1", "unresolved"),
        ("java", "Connection to node -1 (localhost/127.0.0.1:29092) could not be established.", ""),
        ("kafka-python", "DNS lookup failed for broker-1:29092, gaierror(-2, 'Name or service')", "unresolved"),
        ("kafka-python", "Connection failed: KafkaConnectionError: 111 ECONNREFUSED", "refused"),
        ("kafka-python", "Connection failed: KafkaConnectionError: 99 EADDRNOTAVAIL", ""),
    ],
)
def test_a_reason_is_told_where_the_client_names_it(oracle: str, raw: str, expected: str) -> None:
    suffix = f": {expected}" if expected else ""
    assert word(answer(oracle, raw)) == f"bootstrap{suffix}"
    assert word(answer(oracle, raw, advertised=(1, 2))) == f"advertised{suffix}"


def test_brokers_that_answered_decide_before_any_text() -> None:
    raw = "localhost:9094/4: Connect to ipv4#127.0.0.1:9094 failed: Connection refused"
    assert word(answer("kcat", raw, advertised=(1, 2), reached=frozenset({1}))) == "partial 1/2"
    assert word(answer("kcat", raw, advertised=(1,), reached=frozenset({1}))) == "ok"


def test_two_reasons_are_none() -> None:
    raw = "failed: Connection refused\nFailed to resolve 'kafka:9092'"
    assert word(answer("kcat", raw, advertised=(1, 2))) == "advertised"


KAFKA = "${KAFKA_IMAGE:-apache/kafka:3.9.1}"


def replaced(folder: Path, *services: dict[str, str]) -> list[str]:
    file = folder / "compose.yml"
    file.write_text(json.dumps({"services": {f"s{number}": service for number, service in enumerate(services)}}))
    return [name for over in stand_ins(file, folder) for name in json.loads(over.read_text())["services"]]


def test_brokers_stay_as_they_are(tmp_path: Path) -> None:
    assert replaced(tmp_path, {"image": KAFKA}, {"image": "confluentinc/cp-zookeeper:7.9.2"}) == []


def test_clients_and_jobs_of_a_broker_image_are_replaced(tmp_path: Path) -> None:
    ui, job = {"image": "${KAFKA_UI_IMAGE:-example/ui:1}"}, {"image": KAFKA, "command": "kafka-topics.sh --list"}
    assert replaced(tmp_path, {"image": KAFKA}, ui, job) == ["s1", "s2"]


def cell(bootstrap: str, *, from_file: str | None = None, predicted: str | None = None) -> ExpectedCell:
    case = Case(cell="ok", from_file=from_file, predicted=predicted)
    return ExpectedCell(vantage="H", bootstrap=bootstrap, cases=(case,))


CELLS = (cell("h:1"), cell("h:2", from_file="unknown"), cell("h:3", predicted="unknown"))


STACK = Stack(scenario="S00", file=Path("kraft.yml"), findings=(), broker_prints={}, settled="ready", cells=CELLS)


@pytest.mark.parametrize(
    ("source", "answers"),
    [
        (PREDICTED, [True, False, False]),
        (PREDICTED_LIVE, [True, True, False]),
        (OBSERVED, [True, True, True]),
        ("kcat", [True, False, False]),
        ("java", [True, False, False]),
    ],
)
def test_a_source_is_asked_for_what_it_can_know(source: str, answers: list[bool]) -> None:
    asks = asked(STACK, ENGINE, everything=False)
    assert [asks(source, one) for one in CELLS] == answers


def test_every_client_is_asked_for_everything_where_that_is_wanted() -> None:
    asks = asked(STACK, ENGINE, everything=True)
    assert all(asks(source, one) for source in ("kcat", "java", "kafka-python") for one in CELLS)
