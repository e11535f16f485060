"""Live reports as metrics, from literals."""

from dataclasses import replace

from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import (
    Address,
    Answered,
    Cell,
    EndpointOutcome,
    Failed,
    Mechanism,
    NodeEndpoint,
    Reason,
    Unknown,
    Verdict,
    Word,
    refused,
)
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.render.metrics import MOST_ADDRESSES, MOST_CELLS, Metric, metrics
from netdiag.render.report import Input, Matrix, Problem, Report

HOST = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
ADDRESS = Address(host="localhost", port=9092)
ANSWER = Answered(node_id=1, cluster_id="c")
ONE = EndpointOutcome(endpoint=NodeEndpoint(node_id=1, host="kafka", port=9092), contact=ANSWER, outcome="ok")
TWO = EndpointOutcome(
    endpoint=NodeEndpoint(node_id=2, host="kafka-2", port=9092),
    contact=refused(Mechanism.NOBODY_LISTENS, "closed"),
    outcome="refused",
)
PARTIAL = Verdict(word=Word.PARTIAL, reached=1, advertised=2, bootstrap=ANSWER, endpoints=(ONE, TWO, ONE))
UNKNOWN = Verdict(word=Word.UNKNOWN, bootstrap=Unknown(because="?"))


def report_of(*verdicts: Verdict, vantage: Vantage = HOST) -> Report:
    cells = tuple(
        Cell(vantage=vantage.label, bootstrap=replace(ADDRESS, port=number), observed=verdict)
        for number, verdict in enumerate(verdicts, 1)
    )
    return Report(matrices=(Matrix(input="p", vantages=(vantage,), cells=cells),))


def of(report: Report) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics(report, rounds=3, seconds=1.5, ended=10.0)}


def test_a_cell_has_its_state_and_its_brokers() -> None:
    found = of(report_of(PARTIAL))
    place = {"input": "p", "vantage": "docker host", "bootstrap": "localhost:1"}
    assert [(s.labels, s.value) for s in found["netdiag_cell_usable"].samples] == [(place, False)]
    assert [(s.labels, s.state) for s in found["netdiag_cell_state"].samples] == [(place, "partial")]
    assert set(found["netdiag_cell_state"].states) == {word.value for word in Word}
    brokers = [(s.labels["broker"], s.labels["advertised"], s.value) for s in found["netdiag_broker_usable"].samples]
    assert brokers == [("1", "kafka:9092", True), ("2", "kafka-2:9092", False)]


def test_what_fails_has_its_mechanism_and_every_probe_its_time() -> None:
    report = report_of(PARTIAL)
    (matrix,) = report.matrices
    cells = tuple(replace(cell, seconds=0.25) for cell in matrix.cells)
    found = of(replace(report, matrices=(replace(matrix, cells=cells),)))
    assert [sample.value for sample in found["netdiag_probe_seconds"].samples] == [0.25]
    (failure,) = found["netdiag_failure"].samples
    assert (failure.labels["address"], failure.labels["mechanism"]) == ("kafka-2:9092", "nobody-listens")


def test_a_failure_without_a_cause_has_the_reason() -> None:
    silent = Failed(reason=Reason.TIMEOUT, because="silent")
    found = of(report_of(Verdict(word=Word.BOOTSTRAP, reason="timeout", bootstrap=silent)))
    assert [sample.labels["mechanism"] for sample in found["netdiag_failure"].samples] == ["timeout"]


def test_what_is_unknown_is_neither_one_nor_zero() -> None:
    found = of(report_of(UNKNOWN))
    assert found["netdiag_cell_usable"].samples == ()
    assert [sample.state for sample in found["netdiag_cell_state"].samples] == ["unknown"]


def test_cells_are_bounded_and_the_rest_is_counted() -> None:
    found = of(report_of(*[PARTIAL] * (MOST_CELLS + 7)))
    assert len(found["netdiag_cell_state"].samples) == MOST_CELLS
    assert [sample.value for sample in found["netdiag_cells_left_out"].samples] == [7]


def test_brokers_that_an_answer_names_are_bounded() -> None:
    many = tuple(replace(ONE, endpoint=replace(ONE.endpoint, node_id=number)) for number in range(12_000))
    found = of(report_of(*[replace(PARTIAL, endpoints=many)] * 3))
    assert len(found["netdiag_broker_usable"].samples) == MOST_ADDRESSES


def test_an_address_is_told_once_whichever_cells_lead_there() -> None:
    found = of(report_of(PARTIAL, PARTIAL))
    assert len(found["netdiag_broker_usable"].samples) == 2
    assert len(found["netdiag_failure"].samples) == 1


def test_an_address_that_leads_elsewhere_for_one_cell_is_not_usable() -> None:
    elsewhere = replace(PARTIAL, endpoints=(replace(ONE, outcome="wrong-broker"),))
    for verdicts in ((PARTIAL, elsewhere), (elsewhere, PARTIAL)):
        brokers = of(report_of(*verdicts))["netdiag_broker_usable"].samples
        assert {s.labels["broker"]: s.value for s in brokers}["1"] is False


def test_findings_are_counted_by_rule() -> None:
    finding = Finding(
        rule="live-broker-fenced", severity=Severity.ERROR, message="m", location=ContainerLocation(container="c")
    )
    error = Input(name="x", error=Problem(message="gone"))
    found = of(Report(findings=(finding, finding), inputs=(error,)))
    assert [(s.labels, s.value) for s in found["netdiag_findings"].samples] == [
        ({"rule": "live-broker-fenced", "severity": "error"}, 2)
    ]
    values = {name: [s.value for s in metric.samples] for name, metric in found.items() if not metric.labels}
    assert values == {
        "netdiag_inputs_unread": [1],
        "netdiag_cells_left_out": [0],
        "netdiag_look_seconds": [1.5],
        "netdiag_look_timestamp_seconds": [10.0],
        "netdiag_looks": [3],
    }


def test_names_have_no_control_characters_and_are_bounded() -> None:
    vantage = replace(HOST, label="a\x1b[2J\n" + "x" * 500)
    (sample,) = of(report_of(PARTIAL, vantage=vantage))["netdiag_cell_state"].samples
    assert "\x1b" not in sample.labels["vantage"]
    assert len(sample.labels["vantage"]) == 200
