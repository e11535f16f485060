"""Insights about the second hop: which addresses clients were told, looked up and dialled, and who answered there."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.facts import Asked, Attempts, Cluster, Coverage, Told
from netdiag.traffic.insights.shape import (
    CLIENT,
    Tables,
    counted,
    nanoseconds,
    same,
    shaped,
    sightings,
    with_client,
    with_connection,
)

# Who asks for more topics than this lists them, and need not care for each.
_FEW_TOPICS = 20
_METADATA = 3
# A TLS record with an alert: 5 bytes of header, 2 of alert.
_ALERT_BYTES = 7


def coverage(tables: Tables) -> DataFrame:
    """One row about the whole capture."""
    frame = tables["connections"].agg(
        F.min(nanoseconds(F.col("first_time"))).alias("time"),
        F.max(nanoseconds(F.col("last_time"))).alias("last"),
        F.count(F.lit(1)).alias("connections"),
        counted(F.col("opening") == "unseen").alias("unseen"),
        F.sum(F.col("client_bytes") + F.col("broker_bytes")).alias("bytes"),
        F.sum("lost_bytes").alias("lost_bytes"),
    )
    return shaped(frame, Coverage).na.fill(0)


def told(tables: Tables) -> DataFrame:
    """Every address of a broker that a client was told, with what the client wants of that broker."""
    keys = (*CLIENT, "broker", "node_id", "host", "port")
    endpoints = with_client(tables["endpoints"])
    first = F.struct(nanoseconds(F.col("time")).alias("time"), "connection", "correlation_id", "client", "broker")
    found = endpoints.groupBy(*keys).agg(
        F.min(first).alias("first"),
        F.max(nanoseconds(F.col("time"))).alias("last"),
        F.count(F.lit(1)).alias("times"),
        F.max("cluster_id").alias("cluster_id"),
        F.collect_set("coordinator_key").alias("coordinates"),
    )
    wanted = _led(tables)
    frame = found.join(
        F.broadcast(wanted),
        same(found, wanted, (*CLIENT, "broker")) & (found["node_id"] == wanted["leader_id"]),
        "left",
    ).select(*(found[name] for name in found.columns), wanted["leads"])
    return shaped(_with_packet(frame, tables), Told, most=[F.col("time"), F.col("node_id"), F.col("client")])


def _led(tables: Tables) -> DataFrame:
    """The topics among the few asked for that a client was told a broker leads."""
    few = F.size("topics").between(1, _FEW_TOPICS)
    asked = (
        tables["exchanges"]
        .where((F.col("api_key") == _METADATA) & few)
        .select("connection", F.explode("topics").alias("topic"))
        .distinct()
    )
    leaders = tables["leaders"].where(F.col("leader_id") >= 0).select("connection", "topic", "leader_id").distinct()
    ends = tables["connections"].select("connection", "client", "broker", "client_id")
    return (
        with_client(leaders.join(asked, ["connection", "topic"]).join(ends, "connection"))
        .groupBy(*CLIENT, "broker", "leader_id")
        .agg(F.collect_set("topic").alias("leads"))
    )


def _with_packet(frame: DataFrame, tables: Tables) -> DataFrame:
    """The packet of the response that first told it."""
    answers = tables["exchanges"].select(
        "connection",
        "correlation_id",
        nanoseconds(F.col("response_time")).alias("answered"),
        F.col("response_packet").alias("packet"),
        "file",
    )
    flat = frame.select("first.*", *(name for name in frame.columns if name not in ("first", "broker")))
    joined = flat.join(
        answers,
        (flat["connection"] == answers["connection"])
        & (flat["correlation_id"] == answers["correlation_id"])
        & (flat["time"] == answers["answered"]),
        "left",
    )
    return joined.select(*(flat[name] for name in flat.columns), "packet", "file").dropDuplicates(
        [*CLIENT, "broker", "node_id", "host", "port"]
    )


def attempts(tables: Tables) -> DataFrame:
    """The connections of each client address to each broker address, by how they opened and what they spoke."""
    frame = with_client(tables["connections"])
    ended = F.col("ending").isin("fin", "reset-by-broker")
    spoke = F.col("client_bytes") > 0
    elsewhere = F.transform(
        F.coalesce("seen_as", F.array().cast("array<string>")), lambda each: F.regexp_extract(each, r">\s*(\S+)", 1)
    )
    found = frame.groupBy("client_host", "broker", "opening", "protocol").agg(
        *sightings("first_time", last="last_time"),
        F.array_distinct(F.flatten(F.collect_set(elsewhere))).alias("also"),
        counted(spoke & ended & (F.col("broker_bytes") == 0)).alias("hung_up"),
        counted(spoke & ended & (F.col("broker_bytes") == _ALERT_BYTES)).alias("alerts"),
        counted(F.col("ending") == "open").alias("open"),
        F.sum("requests").alias("requests"),
        F.sum("responses").alias("responses"),
        counted(F.col("lost_bytes") > 0).alias("lossy"),
        F.max("server_name").alias("server_name"),
    )
    return shaped(found, Attempts, most=[F.col("times").desc(), F.col("broker"), F.col("client_host")])


def asked(tables: Tables) -> DataFrame:
    """The names that each client address looked up, by what came of it."""
    questions = tables["names"].where(F.col("type").isin("A", "AAAA"))
    frame = with_client(
        questions.withColumn("broker", F.col("server"))
        .withColumn("client_id", F.lit(None).cast("string"))
        .withColumn("file", F.lit("").cast("string"))
    )
    found = frame.groupBy("client_host", "name", "result").agg(
        *sightings(),
        F.array_distinct(F.flatten(F.collect_set("addresses"))).alias("addresses"),
    )
    return shaped(found, Asked, most=[F.col("times").desc(), F.col("name"), F.col("client_host")])


def clusters(tables: Tables) -> DataFrame:
    """The cluster ids that each broker address told."""
    named = tables["endpoints"].where(F.col("cluster_id").isNotNull()).drop("file")
    found = with_connection(named.drop("client", "broker"), tables).groupBy("broker", "cluster_id").agg(*sightings())
    return shaped(found, Cluster, most=[F.col("times").desc(), F.col("broker"), F.col("cluster_id")])
