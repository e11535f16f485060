"""Who connects how, from tables with known rows."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.connections import (
    api_versions,
    churn,
    software,
    tcp_health,
    told,
    without_relays,
)
from netdiag.traffic.aggregates.questions import drawn
from netdiag.traffic.analysis import Buckets
from tests.traffic.aggregates.frames import T0, S, frame, picked, rows_of


def test_openings_and_endings_are_counted(spark: SparkSession) -> None:
    connections = frame(
        spark,
        "connections",
        {"connection": 1, "client_id": "app", "first_time": T0, "last_time": T0 + 30 * S},
        {"connection": 2, "client_id": "app", "client": "10.0.0.2:2", "last_time": T0 + 60 * S, "ending": "open"},
        {"connection": 3, "client_id": "app", "last_time": T0, "opening": "refused", "ending": "reset-by-broker"},
    )
    (row,) = rows_of(churn(connections), "churn")
    assert {name: value for name, value in row.items() if value} == {
        "client": "10.0.0.2",
        "client_id": "app",
        "broker": "10.0.0.9:9092",
        "protocol": "kafka",
        "connections": 3,
        "complete": 2,
        "refused": 1,
        "fin": 1,
        "open": 1,
        "reset_by_broker": 1,
        "per_minute": 3.0,
        "seconds_p50": 30.0,
        "seconds_max": 60.0,
    }


def test_software_of_kafka_connections_only(spark: SparkSession) -> None:
    java = {"client_software": "apache-kafka-java 4.1.0", "client_id": "app"}
    connections = frame(
        spark, "connections", java, {**java, "client": "10.0.0.3:1"}, {}, {"protocol": "tls", "client_id": "app"}
    )
    rows = rows_of(software(connections), "software", "client_software")
    assert picked(rows, "client_software", "client_id", "connections", "clients") == [
        (None, None, 1, 1),
        ("apache-kafka-java 4.1.0", "app", 2, 2),
    ]


def test_versions_in_use(spark: SparkSession) -> None:
    fetch = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "client_id": "app"}
    exchanges = frame(spark, "exchanges", fetch, {**fetch, "client_id": "b"}, {**fetch, "api_version": 4}, {})
    rows = rows_of(api_versions(exchanges), "api_versions", "api_version")
    assert picked(rows, "api_version", "requests", "clients", "client_ids") == [
        (17, 2, 1, ["app", "b"]),
        (4, 1, 1, ["app"]),
    ]


def test_health_is_per_path(spark: SparkSession) -> None:
    good = {"client_packets": 60, "broker_packets": 40, "client_bytes": 7, "broker_bytes": 3, "handshake_ms": 1.0}
    connections = frame(
        spark,
        "connections",
        good,
        {**good, "client": "10.0.0.2:9", "retransmissions": 5, "handshake_ms": 3.0, "ending": "reset-by-client"},
        {"client": "10.0.0.7:1", "opening": "unanswered"},
    )
    rows = rows_of(tcp_health(connections), "tcp_health", "client")
    names = ("client", "connections", "packets", "bytes", "retransmitted_share", "resets", "handshake_max_ms")
    assert picked(rows, *names) == [
        ("10.0.0.2", 2, 200, 20, 0.025, 1, 3.0),
        ("10.0.0.7", 1, 0, 0, None, 0, None),
    ]


def test_addresses_told(spark: SparkSession) -> None:
    one = {"node_id": 1, "host": "broker-1", "port": 29092, "broker": "10.0.0.9:9092", "cluster_id": "c"}
    endpoints = frame(
        spark,
        "endpoints",
        {**one, "client": "10.0.0.2:1"},
        {**one, "client": "10.0.0.2:2", "time": T0 + S},
        # FindCoordinator without a coordinator.
        {"node_id": -1, "host": "", "port": -1},
    )
    rows = rows_of(told(endpoints), "told")
    assert picked(rows, "node_id", "host", "port", "brokers", "clients", "times", "last_time") == [
        (1, "broker-1", 29092, ["10.0.0.9:9092"], 1, 2, T0 + S)
    ]


def test_a_coordinator_is_of_the_cluster_that_its_broker_tells(spark: SparkSession) -> None:
    one, two, made_anew = (
        {"node_id": 1, "host": "broker-1", "port": 29092, "client": "10.0.0.2:1", "broker": f"10.0.{number}.9:9092"}
        for number in range(3)
    )
    endpoints = frame(
        spark,
        "endpoints",
        *({**one, "cluster_id": "c"}, {**one, "coordinator_key": "orders"}),
        *({**two, "cluster_id": "d"}, {**two, "coordinator_key": "orders"}),
        *({**made_anew, "cluster_id": name} for name in ("c", "d", None)),
    )
    rows = rows_of(told(endpoints), "told", "cluster_id")
    assert sorted(picked(rows, "cluster_id", "times"), key=str) == [("c", 3), ("d", 3), (None, 1)]


SPAN = Buckets(first=0, length=1, count=1)


def test_every_kind_of_trouble_counts_once_and_the_worst_come_first(spark: SparkSession) -> None:
    connections = frame(
        spark,
        "connections",
        {"connection": 1, "client_bytes": 5, "first_time": T0, "last_time": T0 + 3 * S},
        {"connection": 2, "client_bytes": 9},
        {"connection": 3, "opening": "refused", "ending": "reset-by-broker"},
        {"connection": 4, "retransmissions": 7, "zero_windows": 1, "lost_bytes": 3},
        {"connection": 5},
        {"connection": 6, "opening": "unseen"},
    )
    exchanges = frame(
        spark,
        "exchanges",
        {"connection": 5, "error_code": 6},
        {"connection": 5, "error_code": 6},
        {"connection": 5, "outcome": "unanswered"},
        {"connection": 2, "api_key": 18, "error_code": 35},
    )
    found = drawn("worst_connections", {"connections": connections, "exchanges": exchanges}, SPAN)
    order = [row["connection"] for row in found.collect()]
    rows = {row["connection"]: row for row in rows_of(found, "worst_connections")}
    assert order == [4, 3, 5, 2, 1, 6]
    assert [rows[number]["trouble"] for number in order] == [3, 2, 2, 0, 0, 0]
    assert picked([rows[5]], "errors", "unanswered") == [(2, 1)]
    assert rows[1]["seconds"] == 3.0


def test_rows_of_relays_are_left_out(spark: SparkSession) -> None:
    connections = frame(spark, "connections", {"connection": 1}, {"connection": 2, "relay_of": 1})
    exchanges = frame(spark, "exchanges", {"connection": 1}, {"connection": 2}, {"connection": 9})
    kept = without_relays(exchanges, connections)
    assert kept.columns == exchanges.columns
    assert sorted(row["connection"] for row in kept.collect()) == [1, 9]
