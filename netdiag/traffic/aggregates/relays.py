"""Connections that a userland proxy passed on: what it relays is said once, not twice.

docker-proxy takes a client's connection on the published port and makes another one to the container. No number of TCP
connects the two, but the same messages of the same sizes do, from another address to another, the second opened and
closed within the life of the first.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import host

# A proxy connects as soon as it was connected to; both ends of the captures are on one machine.
OPENED_WITHIN_US = 50_000


def with_relays(connections: DataFrame) -> DataFrame:
    """The table `connections` with `relay_of` filled."""
    slot = F.floor(F.unix_micros("first_time") / OPENED_WITHIN_US)
    spoken = connections.where(F.col("digest").isNotNull()).withColumn("client_host", host("client"))
    # Health checks all say the same: without the time among what is equal, each would be held against each.
    outer = spoken.withColumn("slot", F.explode(F.array(slot, slot + 1))).alias("outer")
    inner = spoken.withColumn("slot", slot).alias("inner")
    opened = F.unix_micros("inner.first_time") - F.unix_micros("outer.first_time")
    equal = ("digest", "client_bytes", "broker_bytes", "slot")
    same = [F.col(f"inner.{name}") == F.col(f"outer.{name}") for name in equal]
    differs = [F.col(f"inner.{name}") != F.col(f"outer.{name}") for name in ("client_host", "broker", "connection")]
    # Of two that were opened in one microsecond one stays: else each would be a relay of the other.
    condition = opened.between(0, OPENED_WITHIN_US) & (
        (opened > 0) | (F.col("inner.connection") > F.col("outer.connection"))
    )
    for part in (*same, *differs):
        condition &= part
    pairs = (
        inner.join(outer, condition)
        .groupBy(F.col("inner.connection").alias("connection"))
        .agg(F.max_by("outer.connection", F.struct("outer.first_time", "outer.connection")).alias("relayed"))
    )
    found = connections.drop("relay_of").join(F.broadcast(pairs), "connection", "left")
    return found.withColumnRenamed("relayed", "relay_of").select(*connections.columns)


def without_relays(frame: DataFrame, connections: DataFrame) -> DataFrame:
    """The rows of a table with a column `connection` that belong to no relay; `connections` is that of with_relays."""
    relays = connections.where(F.col("relay_of").isNotNull()).select("connection")
    return frame.join(F.broadcast(relays), "connection", "left_anti").select(*frame.columns)
