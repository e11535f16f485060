"""From tables to answers: names resolved first, topics chosen, answers written."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from netdiag.io.spark.analysis import Wanted, analysed, called_by_name, charts_of, of_topics, once, resolved, wire_view
from netdiag.io.spark.extraction import Extract
from netdiag.rules.wire import check_wire
from netdiag.traffic.aggregates.connections import WORST
from netdiag.traffic.aggregates.questions import CHARTS
from netdiag.traffic.analysis import MOST_BUCKETS, Analysis, Charts, Seen
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.facts import Coverage, WireView
from netdiag.traffic.tables import NAMES, aggregate, aggregate_names
from tests.traffic.aggregates.frames import MS, T0, S, frame
from tests.traffic.insights.literal_tables import tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ID = "AAAAAAAAAAAAAAAAAAAAAA"
SAID = {"digest": 77, "client_bytes": 70, "broker_bytes": 500}
ROWS: dict[str, list[dict[str, Any]]] = {
    "exchanges": [
        {
            "connection": 1,
            "correlation_id": number,
            "time": T0 + number * MS,
            "api_key": 1,
            "api_name": "Fetch",
            "api_version": 17,
            "client_id": "app",
            "request_bytes": 10,
            "response_bytes": 100,
            "latency_ms": 1.5,
            "topics": (topic,),
        }
        for number, topic in enumerate((ID, "plain"))
    ],
    "partitions": [
        {"connection": 1, "time": T0, "api_key": 1, "topic_id": ID, "partition": 0, "records": 5, "record_bytes": 90},
        {"connection": 1, "correlation_id": 1, "time": T0 + MS, "api_key": 1, "topic": "plain", "partition": 0},
    ],
    "leaders": [{"topic": "orders", "topic_id": ID, "partition": 0, "time": T0 + 9 * MS}],
    "connections": [{"connection": 1}, {"connection": 2, "protocol": "tls"}],
}


@pytest.fixture(scope="module")
def extract(spark: SparkSession) -> Extract:
    tables = {name: frame(spark, name, *ROWS.get(name, [])) for name in NAMES}
    return Extract(tables=tables, rows={name: len(ROWS.get(name, [])) for name in NAMES}, seen=Seen(packets=7))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def analysis(extract: Extract, out: Path) -> Analysis:
    return analysed(extract, Wanted(out=str(out)))


def test_every_question_is_answered(analysis: Analysis) -> None:
    assert set(analysis.answers) == set(aggregate_names())
    assert (analysis.connections, analysis.protocols, analysis.exchanges) == (2, {"kafka": 1, "tls": 1}, 2)
    assert analysis.seen.packets == 7


def test_topics_have_the_name_that_the_capture_tells(analysis: Analysis) -> None:
    assert [row["topic"] for row in analysis.rows("topics")] == ["orders", "plain"]


def test_times_are_nanoseconds(analysis: Analysis) -> None:
    assert [row["time"] for row in analysis.rows("timeline")] == [T0]


def test_answers_are_written_with_their_schema(analysis: Analysis, out: Path) -> None:
    assert sorted(entry.name for entry in out.iterdir()) == sorted(analysis.answers)
    for name, answer in analysis.answers.items():
        written = pq.read_table(out / name / "part-00000.parquet")
        assert written.schema.equals(schema_of(aggregate(name), unit="us"))
        assert written.num_rows == answer.total == len(answer.rows)


def test_topics_are_chosen_by_the_name(extract: Extract) -> None:
    tables = of_topics(resolved(extract.tables), frozenset({"orders"}))
    assert [row.topics for row in tables["exchanges"].collect()] == [["orders"]]
    assert [row.topic for row in tables["partitions"].collect()] == ["orders"]
    assert tables["connections"].count() == 2


def test_what_a_proxy_relayed_is_said_once(spark: SparkSession) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "connections": [
            {**SAID, "connection": 1, "client": "127.0.0.1:49264", "broker": "127.0.0.1:9092", "first_time": T0},
            {**SAID, "connection": 2, "client": "172.18.0.1:1", "broker": "172.18.0.5:9092", "first_time": T0 + MS},
        ],
        "exchanges": [{"connection": 1}, {"connection": 2}],
        "endpoints": [{"connection": 2}],
    }
    tables = once({name: frame(spark, name, *rows.get(name, [])) for name in NAMES})
    assert [row["connection"] for row in tables["exchanges"].collect()] == [1]
    assert tables["endpoints"].count() == 0
    assert {row["connection"]: row["relay_of"] for row in tables["connections"].collect()} == {1: None, 2: 1}


def test_without_a_relay_nothing_changes(extract: Extract) -> None:
    assert once(extract.tables) == extract.tables


def test_who_has_a_name_is_called_by_it(spark: SparkSession) -> None:
    known = {"client_name": "app-1", "broker_name": "kafka", "listener": "INTERNAL"}
    exchanges = frame(spark, "exchanges", known, {"broker_name": "kafka"}, {})
    connections = frame(spark, "connections")
    named = called_by_name({"exchanges": exchanges, "connections": connections})["exchanges"]
    ends = sorted((row["client"], row["broker"]) for row in named.select("client", "broker").collect())
    assert ends == [
        ("10.0.0.2:40000", "10.0.0.9:9092"),
        ("10.0.0.2:40000", "kafka"),
        ("app-1:40000", "kafka INTERNAL"),
    ]


def charts(spark: SparkSession, rows: dict[str, list[dict[str, Any]]]) -> Charts | None:
    tables = {name: frame(spark, name, *rows.get(name, [])) for name in NAMES}
    with ThreadPoolExecutor(2) as pool:
        return charts_of(tables, {name: len(rows.get(name, [])) for name in NAMES}, pool.submit)


def test_there_are_no_more_rows_than_buckets_and_what_is_cut_is_counted(spark: SparkSession) -> None:
    exchanges = [{"time": T0 + number * 7 * S, "connection": number, "request_bytes": 10} for number in range(900)]
    connections = [{"connection": number, "first_time": T0, "last_time": T0 + S} for number in range(WORST + 9)]
    found = charts(spark, {"exchanges": exchanges, "connections": connections})
    assert found is not None
    assert found.span.count <= MOST_BUCKETS
    assert len(found.rows("traffic_over_time")) <= found.span.count
    assert sum(row["requests"] for row in found.rows("traffic_over_time")) == 900
    assert len(found.rows("worst_connections")) == WORST
    assert found.answers["worst_connections"].total == WORST + 9
    assert set(found.answers) == {name for name, chart in CHARTS.items() if chart.of in ("exchanges", "connections")}


def test_without_a_moment_there_is_nothing_to_draw(spark: SparkSession) -> None:
    assert charts(spark, {}) is None


ENDS: dict[str, Any] = {"client": "10.0.0.9:40000", "broker": "10.0.0.2:9092", "client_id": "app", "connection": 1}


def test_an_empty_capture_is_an_empty_view(spark: "SparkSession") -> None:
    assert wire_view(tables(spark)) == WireView(coverage=Coverage())


def test_a_view_is_made_of_facts_that_rules_judge(spark: "SparkSession") -> None:
    view = wire_view(
        tables(
            spark,
            connections=[ENDS],
            exchanges=[
                {**ENDS, "api_key": 36, "api_version": 2, "error_code": 58, "time": at, "response_packet": 10 + at}
                for at in range(5)
            ],
        )
    )
    assert [(each.times, each.mechanism, each.topic) for each in view.errors] == [(5, None, None)]
    assert [(finding.rule, finding.service) for finding in check_wire(view)] == [("wire-authentication-failing", "app")]
