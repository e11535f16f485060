"""The connections that somebody would look at first."""

from functools import reduce
from operator import add

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import count_if, seconds_between
from netdiag.traffic.aggregates.over_time import failed
from netdiag.traffic.aggregates.rates import UNANSWERED
from netdiag.traffic.aggregates.spark_types import shaped

MOST = 400
_OPENED = ("complete", "unseen")


def worst_connections(connections: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `worst_connections`, all connections; the question cuts it after its order."""
    wrong = exchanges.groupBy("connection").agg(
        count_if(failed()).alias("errors"), count_if(F.col("outcome") == UNANSWERED).alias("unanswered")
    )
    joined = connections.join(wrong, "connection", "left").withColumns(
        {
            "errors": F.coalesce("errors", F.lit(0)),
            "unanswered": F.coalesce("unanswered", F.lit(0)),
            "seconds": seconds_between(F.col("first_time"), F.col("last_time")),
        }
    )
    kinds = (
        ~F.col("opening").isin(*_OPENED),
        F.col("ending").startswith("reset"),
        *(F.col(name) > 0 for name in ("errors", "unanswered", "retransmissions", "zero_windows", "lost_bytes")),
    )
    trouble = reduce(add, (kind.cast("int") for kind in kinds))
    return shaped(joined.withColumn("trouble", trouble), aggregate("worst_connections"))
