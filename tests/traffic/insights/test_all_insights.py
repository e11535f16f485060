"""The list of insights fills a WireView, and every answer has the columns of its fact; what moves between brokers."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from netdiag.traffic import insights
from netdiag.traffic.facts import MOST_VALUES, Coverage, NameLookup, RequestCounts, WireView
from netdiag.traffic.insights import ALL, schema_of
from tests.traffic.insights.literal_tables import answers, seconds, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_field_of_a_view_has_its_insight() -> None:
    assert set(ALL) == {each.name for each in fields(WireView)}


def test_every_answer_has_the_columns_of_its_fact(spark: "SparkSession") -> None:
    for name, frame in insights.insights(tables(spark)).items():
        declared = {field.name: field.dataType for field in schema_of(ALL[name].fact)}
        assert {field.name: field.dataType for field in frame.schema} == declared, name


if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_schema_of_a_fact_is_its_fields() -> None:
    assert insights.schema_of(Coverage).simpleString() == (
        "struct<time:bigint,last:bigint,connections:bigint,unseen:bigint,bytes:bigint,lost_bytes:bigint>"
    )
    assert insights.schema_of(RequestCounts)["client_id"].dataType.simpleString() == "string"
    assert insights.schema_of(NameLookup)["addresses"].dataType.simpleString() == "array<string>"


def test_hosts_sightings_and_bounds(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F

    rows = [
        {"time": at, "client": f"[fd00::{at}]:5{at}", "server": "10.0.0.53:53", "name": "k", "type": "A", "result": "X"}
        for at in (3, 1, 2)
    ]
    frame = (
        insights.with_client(tables(spark, names=rows)["names"])
        .withColumn("broker", F.col("server"))
        .withColumn("client_id", F.lit(None))
        .withColumn("file", F.lit(""))
    )
    assert {row["client_host"] for row in answers(frame)} == {"fd00::1", "fd00::2", "fd00::3"}
    many = F.transform(F.sequence(F.lit(1), F.lit(100)), lambda n: n.cast("string"))
    grouped = frame.groupBy("name", "result").agg(*insights.sightings()).withColumn("addresses", many)
    (asked,) = answers(insights.shaped(grouped, NameLookup))
    assert (asked["time"], asked["last"], asked["times"]) == (1_000_000_000, 3_000_000_000, 3)
    assert (asked["client"], len(asked["addresses"])) == ("[fd00::1]:51", MOST_VALUES)


if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLIENT, BROKER = "10.0.0.9:40000", "10.0.0.2:9092"
ENDS: dict[str, Any] = {"client": CLIENT, "broker": BROKER, "client_id": "app", "connection": 1}


def test_steps_of_restless_groups_only(spark: "SparkSession") -> None:
    def joins(group: str, count: int) -> list[dict[str, Any]]:
        rows = [
            {**ENDS, "api_key": 11, "group": group, "member_id": "m", "generation": n, "time": n, "error_code": 0}
            for n in range(1, count + 1)
        ]
        beat = {**ENDS, "api_key": 12, "group": group, "member_id": "m", "generation": 1, "error_code": 0}
        return [*rows, {**beat, "time": 1.5}, {**beat, "time": 1.8}]

    held = tables(spark, connections=[ENDS], group_events=joins("busy", 4) + joins("calm", 3))
    found = answers(insights.group_steps(held))
    assert {row["group"] for row in found} == {"busy"}
    assert [row["generation"] for row in found if row["api_key"] == 11] == [1, 2, 3, 4]
    (beat,) = [row for row in found if row["api_key"] == 12]
    assert (seconds(beat["time"]), seconds(beat["last"]), beat["times"]) == (1.5, 1.8, 2)


def test_coordinators_move_by_client_and_key(spark: "SparkSession") -> None:
    rows = [
        {**ENDS, "api_key": 10, "coordinator_key": "g", "node_id": node, "host": "h", "port": 1, "time": at}
        for at, node in enumerate((1, 2, 2, 1, 2))
    ]
    rows.append({**rows[0], "coordinator_key": "still"})
    (found,) = answers(insights.moves(tables(spark, connections=[ENDS], endpoints=rows)))
    assert (found["kind"], found["key"], found["times"], found["returns"]) == ("coordinator", "g", 3, 2)
    assert found["nodes"] == [1, 2]


def test_leaders_move_by_their_epochs_and_not_by_old_news(spark: "SparkSession") -> None:
    def leader(at: float, node: int, epoch: int, partition: int = 0) -> dict[str, Any]:
        return {
            "connection": 1,
            "topic": "t",
            "partition": partition,
            "leader_id": node,
            "leader_epoch": epoch,
            "time": at,
        }

    rows = [leader(1, 1, 0), leader(2, 2, 1), leader(3, 1, 0), leader(4, 2, 1), leader(5, -1, 2), leader(6, 1, 3)]
    rows += [leader(1, 5, -1, 1), leader(2, 6, -1, 1)]
    (found,) = answers(insights.moves(tables(spark, connections=[ENDS], leaders=rows)))
    assert (found["kind"], found["key"], found["times"], found["returns"]) == ("leader", "t-0", 2, 1)
    assert (found["client_id"], seconds(found["time"]), seconds(found["last"])) == ("app", 2.0, 6.0)
