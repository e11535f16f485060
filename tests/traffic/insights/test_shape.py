"""Rows as facts ask for them."""

from typing import TYPE_CHECKING

from netdiag.traffic import insights
from netdiag.traffic.facts import MOST_VALUES, Coverage, NameLookup, RequestCounts
from tests.traffic.insights.literal import answers, tables

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
