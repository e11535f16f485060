"""Spark's schema of a table is the Arrow schema in microseconds."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.spark_types import shaped, struct_of
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.tables import NAMES, RAW_NAMES, table


@pytest.mark.parametrize("name", NAMES + RAW_NAMES)
def test_both_schemas_are_one(name: str) -> None:
    arrow = to_arrow_schema(struct_of(table(name)), timezone="UTC")
    expected = schema_of(table(name), unit="us")
    assert arrow.names == expected.names
    assert [field.type for field in arrow] == [field.type for field in expected]
    assert [field.nullable for field in arrow] == [field.nullable for field in expected]


def test_columns_come_in_the_order_asked_for() -> None:
    assert struct_of(table("names"), ["type", "time"]).names == ["type", "time"]
    with pytest.raises(KeyError):
        struct_of(table("names"), ["payload"])


def test_a_frame_gets_the_declared_shape(spark: SparkSession) -> None:
    loose = spark.range(1).select(
        F.lit("more").alias("more"),
        *[F.lit(None).cast("string").alias(name) for name in reversed(aggregate("loss_kinds").names)],
    )
    found = shaped(loose, aggregate("loss_kinds"))
    assert [(field.name, field.dataType) for field in found.schema] == [
        (field.name, field.dataType) for field in struct_of(aggregate("loss_kinds"))
    ]
