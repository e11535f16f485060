"""What is produced, from tables."""

from typing import TYPE_CHECKING, Any

from netdiag.traffic.insights import producing
from tests.traffic.insights.literal import answers, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDS: dict[str, Any] = {"client": "10.0.0.9:40000", "broker": "10.0.0.2:9092", "client_id": "app", "connection": 1}
LEADERS = [{"connection": 1, "topic": "t", "partition": n, "leader_id": 1, "replicas": 3} for n in range(4)]


def test_batches_by_client_and_topic_and_those_sent_again(spark: "SparkSession") -> None:
    batch = {"connection": 1, "topic": "t", "partition": 0, "records": 2, "bytes": 100}
    held = tables(
        spark,
        connections=[ENDS],
        leaders=LEADERS,
        batches=[
            *({**batch, "producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "codec": "lz4"} for _ in range(3)),
            {**batch, "producer_id": 5, "producer_epoch": 0, "base_sequence": 2, "codec": "lz4"},
            batch,
            batch,
            {**batch, "control": True},
            {**batch, "api_key": 1},
        ],
    )
    (found,) = answers(producing.producing(held))
    assert (found["times"], found["records"], found["bytes"], found["replicas"]) == (6, 12, 600, 3)
    assert (found["plain"], found["plain_bytes"], found["plain_records"]) == (2, 200, 4)
    assert (found["resent"], found["most_resent"]) == (2, 3)


def test_acks_by_topic(spark: "SparkSession") -> None:
    rows = [{**ENDS, "api_key": 0, "acks": acks, "topics": ["t", "u"], "request_packet": 4} for acks in (1, 1, -1)]
    found = {
        (row["topic"], row["acks"]): (row["times"], row["replicas"], row["packet"])
        for row in answers(producing.acks(tables(spark, exchanges=rows, leaders=LEADERS)))
    }
    assert found == {("t", 1): (2, 3, 4), ("t", -1): (1, 3, 4), ("u", 1): (2, None, 4), ("u", -1): (1, None, 4)}


def test_the_busiest_partition_and_who_fills_it(spark: "SparkSession") -> None:
    other = {**ENDS, "connection": 2, "client": "10.0.0.8:40000", "client_id": "heavy"}
    row = {"topic": "t", "api_key": 0, "records": 1}
    held = tables(
        spark,
        connections=[ENDS, other],
        leaders=LEADERS,
        partitions=[
            {**row, "connection": 1, "client_id": "app", "partition": 0, "record_bytes": 10},
            {**row, "connection": 1, "client_id": "app", "partition": 2, "record_bytes": 30},
            {**row, "connection": 2, "client_id": "heavy", "partition": 2, "record_bytes": 60},
            {**row, "connection": 2, "partition": 2, "record_bytes": 900, "api_key": 1},
            {**row, "connection": 2, "partition": 0, "record_bytes": 900, "topic": "unknown"},
        ],
    )
    (found,) = answers(producing.skews(held))
    assert (found["topic"], found["partition"], found["partitions"], found["batches"]) == ("t", 2, 4, 2)
    assert (found["bytes"], found["all_bytes"], found["client_id"]) == (90, 100, "heavy")
