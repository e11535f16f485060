"""Rows that stand for several: `times` of a row is how many rows of its table it is, `until` the time of the last.

Questions are asked of whole tables, where every row is one, and of folded ones; see `netdiag.traffic.folds`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TIMES, UNTIL = "times", "until"


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
