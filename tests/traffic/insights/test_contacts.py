"""The second hop, from tables: told, asked, dialled, answered."""

from typing import TYPE_CHECKING, Any

from netdiag.traffic import insights
from tests.traffic.insights.literal_tables import answers, seconds, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLIENT, BROKER = "10.0.0.9:40000", "10.0.0.2:9092"
ENDS: dict[str, Any] = {"client": CLIENT, "broker": BROKER, "client_id": "app"}


def test_what_a_client_is_told_of_whom_it_needs(spark: "SparkSession") -> None:
    one = {"connection": 1, "correlation_id": 7}
    endpoint = {**ENDS, **one, "api_key": 3, "node_id": 1, "host": "kafka", "port": 29092, "cluster_id": "c"}
    found = answers(
        insights.advertised_endpoints(
            tables(
                spark,
                connections=[{**ENDS, "connection": 1}],
                exchanges=[
                    {**ENDS, **one, "api_key": 3, "time": 1, "response_time": 2, "response_packet": 9, "topics": ["a"]},
                    {**ENDS, "connection": 1, "correlation_id": 8, "api_key": 3, "time": 3, "response_time": 4},
                ],
                endpoints=[
                    {**endpoint, "time": 2},
                    {**endpoint, "time": 4, "correlation_id": 8},
                    {**endpoint, "time": 5, "api_key": 10, "correlation_id": 9, "coordinator_key": "billing"},
                    {**endpoint, "time": 5, "node_id": 2, "host": "other"},
                ],
                leaders=[
                    {**one, "time": 2, "topic": "a", "partition": 0, "leader_id": 1},
                    {**one, "time": 2, "topic": "unasked", "partition": 0, "leader_id": 1},
                ],
            )
        )
    )
    first, second = sorted(found, key=lambda row: row["node_id"])
    assert (first["times"], seconds(first["time"]), seconds(first["last"])) == (3, 2.0, 5.0)
    assert (first["packet"], first["file"], first["cluster_id"]) == (9, "a.pcap", "c")
    assert (first["leads"], first["coordinates"]) == (["a"], ["billing"])
    assert (second["host"], second["leads"], second["coordinates"]) == ("other", [], [])


def test_connections_by_how_they_opened_and_what_became_of_them(spark: "SparkSession") -> None:
    rows = [
        {**ENDS, "connection": 1, "first_time": 1, "last_time": 9, "seen_as": [f"{CLIENT}>10.0.0.200:29092 on eth0"]},
        {**ENDS, "connection": 2, "client": "10.0.0.9:40001", "last_time": 5, "lost_bytes": 3},
        {**ENDS, "connection": 3, "opening": "refused", "protocol": "none", "client_bytes": 0},
        {**ENDS, "connection": 4, "protocol": "tls", "ending": "fin", "broker_bytes": 0, "server_name": "k"},
        {**ENDS, "connection": 5, "protocol": "tls", "ending": "fin", "broker_bytes": 7},
    ]
    found = {
        (row["opening"], row["protocol"]): row for row in answers(insights.attempts(tables(spark, connections=rows)))
    }
    kafka, tls = found["complete", "kafka"], found["complete", "tls"]
    assert (kafka["times"], kafka["open"], tls["open"]) == (2, 2, 0)
    assert (kafka["times"], kafka["also"], kafka["lossy"], seconds(kafka["last"])) == (2, ["10.0.0.200:29092"], 1, 9.0)
    assert (found["refused", "none"]["hung_up"], found["refused", "none"]["times"]) == (0, 1)
    assert (tls["hung_up"], tls["alerts"], tls["server_name"]) == (1, 1, "k")


def test_names_by_client_and_result(spark: "SparkSession") -> None:
    row = {"client": "10.0.0.9:53000", "server": "10.0.0.53:53", "name": "kafka", "type": "A"}
    rows = [
        {**row, "time": 1, "result": "NXDOMAIN"},
        {**row, "time": 2, "result": "NXDOMAIN", "type": "AAAA"},
        {**row, "time": 3, "result": "NOERROR", "addresses": ["10.0.0.2"]},
        {**row, "time": 3, "result": "NOERROR", "type": "TXT"},
    ]
    found = {row["result"]: row for row in answers(insights.name_lookups(tables(spark, names=rows)))}
    assert (found["NXDOMAIN"]["times"], found["NOERROR"]["times"]) == (2, 1)
    assert found["NOERROR"]["addresses"] == ["10.0.0.2"]


def test_cluster_ids_by_broker_and_the_whole_capture(spark: "SparkSession") -> None:
    told = {**ENDS, "connection": 1, "node_id": 1, "host": "h", "port": 1}
    held = tables(
        spark,
        connections=[
            {**ENDS, "connection": 1, "first_time": 1, "last_time": 3, "lost_bytes": 2},
            {**ENDS, "connection": 2, "first_time": 2, "last_time": 9, "opening": "unseen"},
        ],
        endpoints=[{**told, "time": 1, "cluster_id": "a"}, {**told, "time": 2}],
    )
    (cluster,) = answers(insights.clusters(held))
    assert (cluster["broker"], cluster["cluster_id"], cluster["times"]) == (BROKER, "a", 1)
    (whole,) = answers(insights.coverage(held))
    assert (seconds(whole["time"]), seconds(whole["last"])) == (1.0, 9.0)
    assert (whole["connections"], whole["unseen"], whole["bytes"], whole["lost_bytes"]) == (2, 1, 400, 2)


def test_an_empty_capture_has_one_row_of_nothing(spark: "SparkSession") -> None:
    (whole,) = answers(insights.coverage(tables(spark)))
    assert set(whole.values()) == {0}
