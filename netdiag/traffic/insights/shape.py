"""How an insight becomes facts: who, where and when of a group of rows, and columns as the fields of a fact ask."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from netdiag.traffic.aggregates.expressions import cast, hashing, times, weighed
from netdiag.traffic.facts import MOST, MOST_VALUES
from netdiag.traffic.folds.merged import UNTIL

Tables = Mapping[str, DataFrame]
# A client is its address and its client.id.
CLIENT = ("client_host", "client_id")

_TYPES: dict[Any, DataType] = {
    int: LongType(),
    int | None: LongType(),
    str: StringType(),
    str | None: StringType(),
    bool: BooleanType(),
    float: DoubleType(),
    tuple[str, ...]: ArrayType(StringType()),
    tuple[int, ...]: ArrayType(LongType()),
}


def schema_of(fact: type) -> StructType:
    """The columns that an insight of this fact has."""
    return StructType([StructField(name, _TYPES[hint]) for name, hint in _hints(fact)])


def shaped(frame: DataFrame, fact: type, *, most: Sequence[Column] = ()) -> DataFrame:
    """The columns of the fact, from those of the frame or of its struct `first`; the first `MOST` rows by `most`."""
    given = set(frame.columns)
    inner = set(frame.select("first.*").columns) if "first" in given else set()
    ordered = frame.orderBy(*most).limit(MOST) if most else frame
    chosen = []
    for name, hint in _hints(fact):
        if name not in given and name not in inner:
            continue
        value, kind = f"`{name}`" if name in given else f"first.`{name}`", _TYPES[hint]
        if isinstance(kind, ArrayType):
            value = f"slice(array_sort(coalesce({value}, array())), 1, {MOST_VALUES})"
        chosen.append(cast(value, kind, name))
    return ordered.selectExpr(*chosen)


def nanoseconds(time: Column) -> Column:
    """A timestamp of Spark as a fact has it."""
    return F.unix_micros(time) * 1000


def host(address: Column) -> Column:
    """The address without port and brackets."""
    return F.regexp_replace(F.regexp_replace(address, r":\d*$", ""), r"[\[\]]", "")


def sightings(time: str = "time", *, packet: str | None = None, last: str | None = None) -> list[Column]:
    """`first` (the earliest row's who, where and when), `last` and `times` of a group of weighed rows with a client."""
    number = F.col(packet) if packet else F.lit(None).cast("long")
    first = F.struct(
        nanoseconds(F.col(time)).alias("time"),
        number.alias("packet"),
        F.col("client"),
        F.col("broker"),
        F.col("client_id"),
        F.col("file"),
    )
    latest = F.max(nanoseconds(F.col(last or (UNTIL if time == "time" else time))))
    return [F.min(first).alias("first"), latest.alias("last"), (times() + hashing()).alias("times")]


def counted(condition: Column) -> Column:
    """In how many rows of a group something holds, where each is one."""
    return F.sum(F.when(condition, 1).otherwise(0))


def with_client(frame: DataFrame) -> DataFrame:
    """The frame, weighed, with the address of its client."""
    return weighed(frame).withColumn("client_host", host(F.col("client")))


def with_connection(frame: DataFrame, tables: Tables) -> DataFrame:
    """Rows that know only their connection, with its client, broker and file; folded ones may know them already."""
    if "client" in frame.columns:
        return with_client(frame)
    ends = tables["connections"].select("connection", "client", "broker", "file")
    return with_client(frame.join(ends, "connection"))


def topic_name(frame: DataFrame) -> DataFrame:
    """`topic` is the topic id where the name is not known; rows without either are left out."""
    return frame.withColumn("topic", F.coalesce("topic", "topic_id")).where(F.col("topic").isNotNull())


def same(left: DataFrame, right: DataFrame, keys: Sequence[str]) -> Column:
    """A join condition under which a missing value equals a missing value."""
    condition = F.lit(True)
    for key in keys:
        condition = condition & left[key].eqNullSafe(right[key])
    return condition


def replicas(tables: Tables) -> DataFrame:
    """How many replicas each topic has and how many partitions, as far as clients were told."""
    return (
        topic_name(tables["leaders"])
        .where(F.col("partition").isNotNull())
        .groupBy("topic")
        .agg(F.max("replicas").alias("replicas"), (F.max("partition") + 1).alias("partitions"))
    )


def _hints(fact: type) -> list[tuple[str, Any]]:
    hints = get_type_hints(fact)
    return [(each.name, hints[each.name]) for each in fields(fact)]
