"""What several questions share: column expressions, rows that stand for several, the types of Spark.

`times` of a row is how many rows of its table it is, `until` the time of the last. Questions are asked of whole tables,
where every row is one, and of folded ones; see `netdiag.traffic.folds`.
"""

from collections.abc import Sequence
from functools import cache

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from netdiag.kafka.error_codes import error_codes
from netdiag.traffic.folds import TIMES, UNTIL
from netdiag.traffic.tables import Kind, Table

# What pairs a row of another table with its exchange: a correlation id may come back on a long connection.
KEY = ("connection", "correlation_id", "time")

FETCH, PRODUCE, LIST_OFFSETS = 1, 0, 2
JOIN_GROUP, SYNC_GROUP, HEARTBEAT, LEAVE_GROUP = 11, 14, 12, 13
_DIGITS = 3


def host(endpoint: str) -> Column:
    """The address of an address:port."""
    return F.regexp_replace(F.col(endpoint), r"^\[?(.*?)\]?:[0-9]+$", "$1")


def quantiles(
    value: Column, prefix: str, percents: tuple[int, ...] = (50, 95, 99), times: str | None = None
) -> list[Column]:
    """Percentiles of a number that is not negative, and its greatest value; a row counts as many times as it says.

    They are those of the values at three digits: within 0.5 %, the same however rows are spread over partitions, and
    bounded, because there are 900 such values between 1 and 10.
    """
    weight = F.col(times) if times else F.lit(1)
    # One aggregate for all of them: Spark counts the values once, not for each.
    together = F.percentile(three_digits(value), F.array(*[F.lit(percent / 100) for percent in percents]), weight)
    found = [together[number].alias(f"{prefix}_p{percent}_ms") for number, percent in enumerate(percents)]
    return [*found, F.max(value).alias(f"{prefix}_max_ms")]


def median(value: Column, times: Column | int = 1) -> Column:
    """The median of a number that is not negative, likewise, each counted so many times."""
    return F.percentile(three_digits(value), F.lit(0.5), times)


def seconds_between(begin: Column, end: Column) -> Column:
    """From one time to the other in seconds."""
    return (F.unix_micros(end) - F.unix_micros(begin)) / F.lit(1e6)


def ms_between(begin: Column, end: Column) -> Column:
    """From one time to the other in milliseconds."""
    return (F.unix_micros(end) - F.unix_micros(begin)) / F.lit(1e3)


def span(exchanges: DataFrame) -> DataFrame:
    """One row with the seconds from the first exchange to the last, null where that is nothing."""
    last = F.max(F.coalesce(F.col("response_time"), F.col("time")))
    seconds = seconds_between(F.min("time"), last)
    return exchanges.agg(F.when(seconds > 0, seconds).alias("span"))


def beside(rows: DataFrame, one: DataFrame) -> DataFrame:
    """Every row with the only row of another frame.

    They are joined by a number that is the same everywhere, which Spark cannot know: for a join without a key it would
    write code, and forget that all rows are in one partition.
    """
    same = F.spark_partition_id() * 0
    return rows.withColumn("_same", same).join(F.broadcast(one.withColumn("_same", same)), "_same").drop("_same")


ONE_TASK = "spark.sql.leafNodeDefaultParallelism"
"""The setting that is 1 where all rows of every table are one task."""


def meeting(left: DataFrame, right: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The rows that meet in these columns.

    Spark does not see that what it joins of two single partitions is one, and would exchange all rows before the next
    join.
    """
    found = left.join(right, list(keys))
    return found.coalesce(1) if left.sparkSession.conf.get(ONE_TASK, None) == "1" else found


def count_if(condition: Column) -> Column:
    """How many rows meet the condition."""
    return F.count(F.when(condition, F.lit(1)))


def total(name: str) -> Column:
    """The sum of a column, 0 where there is nothing."""
    return F.coalesce(F.sum(name), F.lit(0))


def hashing() -> Column:
    """Always 0, and a reason for Spark to find groups by hashes.

    It sorts all rows by their keys where the least or the greatest of strings or structs is asked for, unless beside
    them stands an aggregate that is kept as an object, as this list is, which is always empty.
    """
    return F.size(F.collect_list(F.lit(None).cast("int")))


def error_name(code: str) -> Column:
    """The name of an error code, `ERROR_CODE(n)` where it is unknown."""
    return F.coalesce(
        F.try_element_at(F.expr(_names()), F.col(code).cast("int")),
        F.concat(F.lit("ERROR_CODE("), F.col(code).cast("string"), F.lit(")")),
    )


def topic_or_id() -> Column:
    """The topic of a row, its id where the name is not known."""
    return F.coalesce(F.col("topic"), F.col("topic_id"))


@cache
def _names() -> str:
    pairs = ", ".join(f"{each.code}, '{each.name}'" for each in error_codes())
    return f"map({pairs})"


def three_digits(value: Column) -> Column:
    """A number that is not negative at three digits."""
    unit = F.pow(F.lit(10.0), F.floor(F.log10(value)) - (_DIGITS - 1))
    return F.when(value > 0, F.round(value / unit) * unit).when(value.isNotNull(), F.lit(0.0))


def weighed(frame: DataFrame) -> DataFrame:
    """The frame with `times`, and with `until` where it has a time: once, and then, unless it says otherwise."""
    known = frame.columns
    missing = {} if TIMES in known else {TIMES: F.lit(1).cast("bigint")}
    if UNTIL not in known and "time" in known:
        missing[UNTIL] = F.col("time")
    return frame.withColumns(missing) if missing else frame


def times() -> Column:
    """How many rows of a table."""
    return F.coalesce(F.sum(TIMES), F.lit(0))


def times_if(condition: Column) -> Column:
    """How many of them meet the condition."""
    return F.coalesce(F.sum(F.when(condition, F.col(TIMES))), F.lit(0))


_TYPES: dict[Kind, DataType] = {
    Kind.BOOL: BooleanType(),
    Kind.INT16: ShortType(),
    Kind.INT32: IntegerType(),
    Kind.INT64: LongType(),
    Kind.FLOAT64: DoubleType(),
    Kind.STRING: StringType(),
    # Spark forgets of files that no element is null, and refuses to be told again.
    Kind.STRINGS: ArrayType(StringType()),
    Kind.TIME: TimestampType(),
}

_OF_ARROW: dict[pa.DataType, DataType] = {
    pa.bool_(): BooleanType(),
    pa.int16(): ShortType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.string(): StringType(),
}


def struct_of(table: Table, names: Sequence[str] | None = None) -> StructType:
    """The Spark schema of a table, or of some of its columns in the order asked for; KeyError for a strange name."""
    known = {column.name: column for column in table.columns}
    chosen = table.columns if names is None else [known[name] for name in names]
    return StructType([StructField(each.name, _TYPES[each.kind], nullable=not each.required) for each in chosen])


def struct_of_arrow(schema: pa.Schema) -> StructType:
    """The Spark schema of columns as Arrow has them, of the types that tables have."""
    return StructType([StructField(each.name, _of_arrow(each.type)) for each in schema])


def shaped(frame: DataFrame, table: Table) -> DataFrame:
    """The declared columns with their types in their order."""
    return frame.selectExpr(*[cast(f"`{each.name}`", _TYPES[each.kind], each.name) for each in table.columns])


def cast(value: str, kind: DataType, name: str) -> str:
    """An expression as a column of this type, in SQL: as a `Column` it would take a dozen calls of Java."""
    return f"cast({value} as {kind.simpleString()}) as `{name}`"


def _of_arrow(kind: pa.DataType) -> DataType:
    if pa.types.is_list(kind):
        return ArrayType(_of_arrow(kind.value_type))
    return TimestampType() if pa.types.is_timestamp(kind) else _OF_ARROW[kind]
