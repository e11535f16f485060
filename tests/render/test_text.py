"""The whole text, compared with kept files; order, grouping and harmlessness apart from them."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.causes import Cause, Certainty, Explanation
from netdiag.deployment.model.verdict import Address, Mechanism
from netdiag.findings import FileLocation, Finding, Severity
from netdiag.render.formats.text import render
from netdiag.render.report import Input, Matrix, Problem, Report, Skipped
from netdiag.render.screen import Screen
from tests.render.golden import assert_golden
from tests.render.literals import HOST, address, answered, failed, five_brokers, matrix
from tests.render.reports import COMPOSE, EVERYTHING, loopback

HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202e\x00\r\x9bA"


@pytest.mark.parametrize(
    ("name", "screen"),
    [
        ("everything.txt", Screen()),
        ("everything.ansi", Screen(colour=True)),
        ("everything.cp1252.txt", Screen(encoding="cp1252")),
        ("everything.60.txt", Screen(width=60)),
    ],
)
def test_everything(name: str, screen: Screen) -> None:
    assert_golden(name, render(EVERYTHING, screen))


def test_five_brokers() -> None:
    report = Report(inputs=(Input(name="compose.yml", brokers=("broker-1",)),), matrices=(five_brokers(),))
    assert_golden("five-brokers.txt", render(report, Screen()))


def test_lines_fit_the_screen() -> None:
    for line in render(EVERYTHING, Screen(width=100)).splitlines():
        assert len(line) <= 100 or line.lstrip().startswith(("compose.yml:", "gone.yml:")), line


def test_the_order_does_not_depend_on_that_of_the_findings() -> None:
    backwards = replace(EVERYTHING, findings=EVERYTHING.findings[::-1])
    assert render(backwards, Screen()) == render(EVERYTHING, Screen())


def test_where_no_broker_runs_why_does_not_repeat_it_for_every_connection() -> None:
    cause = Cause(mechanism=Mechanism.NOT_RUNNING, certainty=Certainty.PREDICTED, because="kafka is not running")
    explained = Explanation(vantage="docker host", address=Address(host="a", port=1), causes=(cause,))
    running = replace(matrix([HOST], {"a:1": [failed("refused")]}), causes=(explained,))
    stopped = replace(running, not_running={"kafka": "exited"})
    assert "why docker host" in render(Report(matrices=(running,)), Screen())
    text = render(Report(matrices=(stopped,)), Screen())
    assert "nowhere: no broker is running" in text
    assert "why" not in text


def test_findings_alike_are_drawn_once_unless_asked_for() -> None:
    report = Report(findings=(loopback("broker-1"), loopback("broker-2")), sources={"compose.yml": COMPOSE})
    assert render(report, Screen()).count("  why: ") == 1
    assert "  likewise:\n    compose.yml:11:35: broker-2\n" in render(report, Screen())
    assert render(report, Screen(), full=True).count("  why: ") == 2


def test_findings_that_differ_in_more_than_names_and_numbers_are_drawn_each() -> None:
    other = replace(loopback("broker-2"), hint="do something else")
    report = Report(findings=(loopback("broker-1"), other), sources={"compose.yml": COMPOSE})
    assert render(report, Screen()).count("  why: ") == 2


def test_nothing_foreign_reaches_the_terminal_raw() -> None:
    place = FileLocation(path=HOSTILE, line=1, column=1, end_line=1, end_column=5, start=0, end=4)
    finding = Finding(
        rule="r",
        severity=Severity.ERROR,
        message=HOSTILE,
        location=place,
        why=HOSTILE,
        hint=HOSTILE,
        broker_prints=HOSTILE,
        service=HOSTILE,
    )
    hostile_cells = matrix(
        [HOST],
        {f"{HOSTILE}:1": [answered(f"1 evil{HOSTILE.replace(chr(13), '')}:1 refused", because=HOSTILE)]},
        HOSTILE,
    )
    report = Report(
        inputs=(Input(name=HOSTILE, error=Problem(message=HOSTILE, where=HOSTILE, hint=HOSTILE)), Input(name="b")),
        findings=(finding,),
        matrices=(
            hostile_cells,
            replace(matrix([HOST], {"a:1": [failed(because=HOSTILE)]}), not_running={HOSTILE: HOSTILE}),
        ),
        skipped=(Skipped(vantage=HOSTILE, reason=HOSTILE, command=HOSTILE),),
        sources={HOSTILE: HOSTILE.encode()},
    )
    shown = render(report, Screen())
    assert not {c for c in shown if ord(c) < 32 and c != "\n"}
    assert not {"\x7f", "\x9b", "\u202e"} & set(shown)


def test_secrets_are_not_printed_even_where_a_finding_points_at_them() -> None:
    data = b'K_JAAS: x required password="hunter2";\n'
    finding = Finding(
        rule="r",
        severity=Severity.ERROR,
        message='cannot read x required password="hunter2";',
        location=FileLocation(path="c.yml", line=1, column=9, end_line=1, end_column=39, start=8, end=38),
        why="password=hunter2 is short",
        hint="not password=hunter2",
    )
    report = Report(findings=(finding,), sources={"c.yml": data})
    assert "hunter2" not in render(report, Screen())


def test_a_source_that_is_not_at_hand_leaves_the_places() -> None:
    shown = render(Report(findings=(loopback("broker-1"),)), Screen())
    assert "compose.yml:6:35: error: " in shown
    assert "compose.yml:7:46: where others are sent" in shown


def test_no_input_is_no_text() -> None:
    assert render(Report(), Screen()) == ""


def test_the_matrix_can_be_left_out() -> None:
    assert "clients can connect" not in render(EVERYTHING, Screen(), matrix=False)


def test_a_matrix_of_hostile_length_stays_on_the_screen() -> None:
    long = Matrix(
        input="x",
        vantages=(HOST,),
        cells=matrix([HOST], {f"{'h' * 250}{n}.example:9092": [failed()] for n in range(3)}).cells,
    )
    for line in render(Report(matrices=(long,)), Screen(width=80)).splitlines():
        assert len(line) <= 80 or "h" * 200 in line
    assert str(address("[::1]:9092")) == "[::1]:9092"
