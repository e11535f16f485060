"""Insights: questions to the tables whose small answers are the facts that wire rules judge.

In this order: how a group of rows becomes facts; the second hop (which addresses clients were told, looked up and
dialled, and who answered there); what moves; how requests went; and the list of all insights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, get_type_hints

from pyspark.sql import Column, DataFrame, Window
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

from netdiag.traffic import facts
from netdiag.traffic.aggregates.expressions import cast, hashing, meeting, times, times_if, weighed
from netdiag.traffic.facts import (
    MOST,
    MOST_VALUES,
    Acks,
    AdvertisedEndpoint,
    Attempts,
    Cluster,
    Coverage,
    Errors,
    GroupStep,
    IdleConnections,
    Moves,
    NameLookup,
    Oversized,
    ProducedBatches,
    RequestCounts,
    Skew,
)
from netdiag.traffic.folds import MOST_RESENT, RESENT, TIMES, UNTIL
from netdiag.values import dataclass

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
    return with_client(meeting(frame, ends, ["connection"]))


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


def advertised_endpoints(tables: Tables) -> DataFrame:
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
    return shaped(
        _with_packet(frame, tables), AdvertisedEndpoint, most=[F.col("time"), F.col("node_id"), F.col("client")]
    )


def _led(tables: Tables) -> DataFrame:
    """The topics among the few asked for that a client was told a broker leads."""
    few = F.size("topics").between(1, _FEW_TOPICS)
    asked = (
        tables["exchanges"]
        .where((F.col("api_key") == _METADATA) & few)
        .select("connection", F.explode("topics").alias("topic"))
    )
    leaders = tables["leaders"].where(F.col("leader_id") >= 0).select("connection", "topic", "leader_id").distinct()
    ends = tables["connections"].select("connection", "client", "broker", "client_id")
    return (
        with_client(meeting(leaders.join(asked, ["connection", "topic"], "left_semi"), ends, ["connection"]))
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


def name_lookups(tables: Tables) -> DataFrame:
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
    return shaped(found, NameLookup, most=[F.col("times").desc(), F.col("name"), F.col("client_host")])


def clusters(tables: Tables) -> DataFrame:
    """The cluster ids that each broker address told."""
    named = tables["endpoints"].where(F.col("cluster_id").isNotNull()).drop("file")
    found = with_connection(named.drop("client", "broker"), tables).groupBy("broker", "cluster_id").agg(*sightings())
    return shaped(found, Cluster, most=[F.col("times").desc(), F.col("broker"), F.col("cluster_id")])


_JOIN_GROUP, _LEAVE_GROUP, _CONSUMER_GROUP_HEARTBEAT = 11, 13, 68
# Groups with fewer generations are not judged; those with most are looked at, at so many steps each.
_GENERATIONS = 4
_GROUPS = 10
_STEPS = 200


def group_steps(tables: Tables) -> DataFrame:
    """The steps of the groups that had the most generations; the earliest steps of each."""
    # The answer's file is that of its connection.
    ends = tables["connections"].select("connection", "file")
    events = with_client(meeting(tables["group_events"].where(F.col("group").isNotNull()), ends, ["connection"]))
    joined = F.col("api_key").isin(_JOIN_GROUP, _CONSUMER_GROUP_HEARTBEAT) & (F.col("generation") >= 0)
    restless = (
        events.where(joined & (F.col("error_code") == 0))
        .groupBy("group")
        .agg(F.countDistinct("generation").alias("generations"))
        .where(F.col("generations") >= _GENERATIONS)
        .orderBy(F.col("generations").desc(), "group")
        .limit(_GROUPS)
        .select("group")
    )
    # Who leaves stands in a list; joining and leaving are steps of their own, heartbeats of a generation are one.
    leaver = F.try_element_at("members", F.lit(1))
    member = F.when(F.col("api_key") == _LEAVE_GROUP, F.coalesce("member_id", leaver)).otherwise(F.col("member_id"))
    single = F.col("api_key").isin(_JOIN_GROUP, _LEAVE_GROUP) | (F.col("generation") < 0)
    alone = F.when(single, F.col("correlation_id"))
    steps = (
        events.join(F.broadcast(restless), "group", "left_semi")
        .withColumns({"member_id": member, "alone": alone})
        .groupBy(
            "group", "api_key", "client_host", "member_id", "generation", "error_code", "instance_id", "reason", "alone"
        )
        .agg(
            *sightings(),
            F.max(nanoseconds(F.col("response_time"))).alias("answered"),
            F.max("leader").alias("leader"),
            F.max("members").alias("members"),
            F.max("session_timeout_ms").alias("session_timeout_ms"),
            F.max("rebalance_timeout_ms").alias("rebalance_timeout_ms"),
        )
        .na.fill({"error_code": 0})
    )
    earliest = Window.partitionBy("group").orderBy(F.col("first.time"), "api_key", "member_id")
    kept = steps.withColumn("place", F.row_number().over(earliest)).where(F.col("place") <= _STEPS)
    return shaped(kept, GroupStep, most=[F.col("first.time"), F.col("api_key"), F.col("member_id")])


def moves(tables: Tables) -> DataFrame:
    """Coordinators and leaders that moved, with how often."""
    frame = _coordinators(tables).unionByName(_leaders(tables))
    return shaped(frame, Moves, most=[F.col("times").desc(), F.col("kind"), F.col("key")])


def _coordinators(tables: Tables) -> DataFrame:
    """Per client: a group and a transactional id of one name have coordinators of their own."""
    ends = tables["connections"].select("connection", "file")
    told = with_client(meeting(tables["endpoints"].where(F.col("coordinator_key").isNotNull()), ends, ["connection"]))
    keyed = told.withColumn("key", F.col("coordinator_key"))
    order = ("time", "connection", "correlation_id", "node_id")
    return _moved(keyed, (*CLIENT, "key"), order).withColumn("kind", F.lit("coordinator"))


def _leaders(tables: Tables) -> DataFrame:
    """Per cluster, in the order of the leader epochs, as old news travels; leaders without an epoch are left out."""
    clusters = tables["endpoints"].groupBy("connection").agg(F.max("cluster_id").alias("cluster_id"))
    ends = tables["connections"].select("connection", "client", "broker", "client_id", "file")
    known = F.col("partition").isNotNull() & (F.col("leader_id") >= 0) & (F.col("leader_epoch") >= 0)
    rows = topic_name(tables["leaders"]).where(known)
    keyed = rows.withColumn("key", F.concat_ws("-", "topic", "partition")).withColumnRenamed("leader_id", "node_id")
    # Each epoch once, with who was told of it first.
    once = keyed.groupBy("key", "topic_id", "leader_epoch", "node_id").agg(
        F.min(F.struct("time", "connection")).alias("told")
    )
    met = meeting(once.select("*", "told.*").drop("told"), ends, ["connection"])
    placed = met.join(clusters, "connection", "left")
    order = ("leader_epoch", "time", "connection", "node_id")
    return _moved(placed, ("cluster_id", "topic_id", "key"), order).withColumn("kind", F.lit("leader"))


def _moved(rows: DataFrame, keys: Sequence[str], order: Sequence[str]) -> DataFrame:
    """Rows with `node_id`: how often it differs from that of the row before, in an order without doubt."""
    rows = weighed(rows)
    before = F.lag("node_id").over(Window.partitionBy(*keys).orderBy(*order))
    steps = rows.withColumn("before", before).where(F.col("before").isNotNull() & (F.col("before") != F.col("node_id")))
    first, last, times = sightings()
    nodes = F.array_distinct(F.concat(F.collect_list("before"), F.collect_list("node_id")))
    found = steps.groupBy(*keys).agg(first, last, times, nodes.alias("nodes"))
    returns = F.col("times") - (F.size("nodes") - 1)
    return found.select("key", "first", "last", "times", "nodes", returns.alias("returns"))


_PRODUCE, _FETCH, _LIST_OFFSETS, _METADATA = 0, 1, 2, 3
# Apis whose errors are those of partitions: table partitions has them one by one.
_BY_PARTITION = (_PRODUCE, _FETCH, _LIST_OFFSETS)
_WINDOW_SECONDS = 10
# socket.request.max.bytes of a broker that nobody changed.
_LARGEST_REQUEST = 104_857_600
_MESSAGE_TOO_LARGE, _RECORD_LIST_TOO_LARGE = 10, 18
# Shorter silences are no idleness: Metadata is refreshed every few minutes, everything else is more frequent.
_IDLE_MS = 60_000
_SENT_AGAIN = 3


def request_counts(tables: Tables) -> DataFrame:
    """The requests of each client to each broker by api key."""
    keys = (*CLIENT, "broker", "api_key")
    throttled = F.coalesce("throttle_ms", F.lit(0))
    frame = _requests(tables).withColumn("window", F.floor(F.col("time").cast("double") / _WINDOW_SECONDS))
    by_window = frame.groupBy(*keys, "window").agg(
        *sightings(packet="request_packet"),
        F.min("api_version").alias("lowest"),
        F.max("api_version").alias("highest"),
        times_if(F.col("outcome") == "unanswered").alias("unanswered"),
        times_if(throttled > 0).alias("throttled"),
        F.sum(throttled * F.col(TIMES)).alias("throttle_ms"),
        F.max(throttled).alias("longest_throttle_ms"),
    )
    found = by_window.groupBy(*keys).agg(
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        F.max("times").alias("busiest"),
        F.min("lowest").alias("lowest"),
        F.max("highest").alias("highest"),
        *(F.sum(name).alias(name) for name in ("times", "unanswered", "throttled", "throttle_ms")),
        F.max("longest_throttle_ms").alias("longest_throttle_ms"),
    )
    return shaped(found, RequestCounts, most=[F.col("times").desc(), *map(F.col, keys)])


def errors(tables: Tables) -> DataFrame:
    """The error codes in answers to each client, with as many answers as it got in all."""
    frame = _of_exchanges(tables).unionByName(_of_partitions(tables)).unionByName(_of_topics(tables))
    return shaped(frame, Errors, most=[F.col("times").desc(), F.col("error_code"), F.col("api_key")])


def oversized(tables: Tables) -> DataFrame:
    """Requests that were refused for their size, or that are larger than a broker takes unless told to."""
    refused = (
        with_connection(topic_name(tables["partitions"]), tables)
        .where(F.col("error_code").isin(_MESSAGE_TOO_LARGE, _RECORD_LIST_TOO_LARGE))
        .groupBy(*CLIENT, "broker", "error_code", "topic")
        .agg(*sightings(), F.coalesce(F.max("record_bytes"), F.lit(0)).alias("largest"))
    )
    cut_off = (
        _requests(tables)
        .where((F.col("request_bytes") > _LARGEST_REQUEST) & (F.col("outcome") == "unanswered"))
        .withColumn("topic", F.try_element_at("topics", F.lit(1)))
        .withColumn("error_code", F.lit(0).cast("smallint"))
        .groupBy(*CLIENT, "broker", "error_code", "topic")
        .agg(*sightings(packet="request_packet"), F.max("request_bytes").alias("largest"))
    )
    return shaped(refused.unionByName(cut_off), Oversized, most=[F.col("largest").desc(), F.col("topic")])


def idle_connections(tables: Tables) -> DataFrame:
    """Connections that nothing was said on for a minute before they ended, by how long and how they ended."""
    answered = F.col("outcome") != "unanswered"
    silent = (
        tables["exchanges"]
        .groupBy("connection")
        .agg(
            F.max(F.when(answered, F.coalesce("response_time", "time"))).alias("heard"),
            F.max(F.when(F.col("outcome") == "unanswered", F.col("time"))).alias("sent"),
        )
        .where(F.col("heard").isNotNull())
    )
    whole = tables["connections"].where(F.col("lost_bytes") == 0)
    frame = with_client(whole.join(silent, "connection"))
    used = F.coalesce(_milliseconds("sent", "heard") >= _IDLE_MS, F.lit(False))
    frame = frame.withColumn("used", used).withColumn(
        "silence", F.when(F.col("used"), _milliseconds("sent", "heard")).otherwise(_milliseconds("last_time", "heard"))
    )
    reset = F.col("ending").isin("reset-by-broker", "reset-by-client") | (F.col("retransmissions") >= _SENT_AGAIN)
    closed = F.col("ending").isin("fin", "reset-by-broker")
    ended = frame.where((F.col("silence") >= _IDLE_MS) & F.when(F.col("used"), reset).otherwise(closed))
    found = ended.groupBy(
        *CLIENT, "broker", "ending", "used", F.floor(F.col("silence") / (_WINDOW_SECONDS * 1000)).alias("length")
    ).agg(*sightings("last_time"), F.min("silence").alias("idle_ms"), F.max("silence").alias("longest_ms"))
    return shaped(found, IdleConnections, most=[F.col("used").desc(), F.col("times").desc(), F.col("idle_ms")])


def _milliseconds(end: str, start: str) -> Column:
    return ((F.unix_micros(F.col(end)) - F.unix_micros(F.col(start))) / 1000).cast("long")


def _requests(tables: Tables) -> DataFrame:
    """The requests of clients: what brokers fetch from each other is their own affair."""
    known = F.col("api_key").isNotNull() & (F.coalesce("replica_id", F.lit(-1)) < 0)
    return with_client(tables["exchanges"].where(known))


def _of_exchanges(tables: Tables) -> DataFrame:
    """Errors of whole answers, with the SASL mechanism of their connection."""
    keys = (*CLIENT, "broker", "api_key")
    whole = ~F.col("api_key").isin(*_BY_PARTITION, _METADATA)
    mechanisms = tables["connections"].select("connection", "sasl_mechanism")
    answers = _requests(tables).where(whole & F.col("error_code").isNotNull()).join(mechanisms, "connection", "left")
    by_code = answers.groupBy(*keys, "error_code").agg(
        *sightings("time", packet="response_packet"),
        F.max("group").alias("group"),
        F.max(F.try_element_at("topics", F.lit(1))).alias("topic"),
        F.max("sasl_mechanism").alias("mechanism"),
    )
    return _with_calls(by_code, keys).select(
        "*", F.lit(None).cast("int").alias("partition"), F.lit(0).cast("long").alias("partitions")
    )


def _of_partitions(tables: Tables) -> DataFrame:
    """Errors of partitions that were produced to, fetched, or asked for their offsets."""
    keys = (*CLIENT, "broker", "api_key", "topic")
    clients = F.col("api_key").isin(*_BY_PARTITION) & (F.coalesce("replica_id", F.lit(-1)) < 0)
    rows = topic_name(tables["partitions"]).where(clients & F.col("error_code").isNotNull())
    by_code = (
        with_connection(rows, tables)
        .groupBy(*keys, "error_code")
        .agg(
            *sightings(),
            F.min("partition").alias("partition"),
            F.countDistinct("partition").alias("partitions"),
            F.max("group").alias("group"),
        )
    )
    return _with_calls(by_code, keys).select("*", F.lit(None).cast("string").alias("mechanism"))


def _of_topics(tables: Tables) -> DataFrame:
    """Errors of topics and partitions that clients were told of in Metadata."""
    keys = (*CLIENT, "broker", "api_key", "topic")
    ends = tables["connections"].select("connection", "client", "broker", "client_id", "file")
    rows = topic_name(tables["leaders"]).where(F.col("error_code").isNotNull())
    once = rows.groupBy("connection", "correlation_id", "topic", "error_code").agg(
        F.min("time").alias("time"), F.min("partition").alias("partition")
    )
    frame = with_client(once.join(ends, "connection")).withColumn("api_key", F.lit(_METADATA).cast("smallint"))
    by_code = frame.groupBy(*keys, "error_code").agg(
        *sightings(), F.min("partition").alias("partition"), F.countDistinct("partition").alias("partitions")
    )
    return _with_calls(by_code, keys).select(
        "*", F.lit(None).cast("string").alias("group"), F.lit(None).cast("string").alias("mechanism")
    )


def _with_calls(by_code: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """The groups with an error, each with the number of all answers that differ from it in the code only."""
    whole = F.sum("times").over(Window.partitionBy(*keys))
    return by_code.withColumn("calls", whole).where(F.col("error_code") != 0)


def produced_batches(tables: Tables) -> DataFrame:
    """The batches of each client to each topic."""
    batches = topic_name(tables["batches"]).where((F.col("api_key") == _PRODUCE) & ~F.coalesce("control", F.lit(False)))
    keys = (*CLIENT, "topic")
    rows = with_connection(batches, tables)
    if RESENT in batches.columns:
        found = rows.groupBy(*keys).agg(
            *_sums(), F.sum(RESENT).alias("resent"), F.max(MOST_RESENT).alias("most_resent")
        )
    else:
        found = _by_sequence(rows, keys)
    frame = found.join(F.broadcast(replicas(tables)), "topic", "left").na.fill(0, ["records", "plain_records"])
    return shaped(frame, ProducedBatches, most=[F.col("bytes").desc(), *map(F.col, keys)])


def _by_sequence(rows: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """What is told of batches, and how often each was sent.

    A sequence names a batch; without an idempotent producer all are one group here, in which nothing is sent again.
    """
    by_batch = rows.groupBy(*keys, "partition", "producer_id", "producer_epoch", "base_sequence").agg(*_sums())
    sent = F.when((F.col("producer_id") >= 0) & (F.col("base_sequence") >= 0), F.col("times")).otherwise(1)
    return by_batch.groupBy(*keys).agg(
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        *(F.sum(name).alias(name) for name in ("times", "records", "bytes", "plain", "plain_bytes", "plain_records")),
        F.sum(sent - 1).alias("resent"),
        F.max(sent).alias("most_resent"),
    )


def _sums() -> list[Column]:
    plain = F.col("codec") == "none"
    return [
        *sightings(),
        F.sum("records").alias("records"),
        F.sum("bytes").alias("bytes"),
        F.sum(F.when(plain, F.col(TIMES)).otherwise(0)).alias("plain"),
        F.sum(F.when(plain, F.col("bytes")).otherwise(0)).alias("plain_bytes"),
        F.sum(F.when(plain, F.col("records")).otherwise(0)).alias("plain_records"),
    ]


def acks(tables: Tables) -> DataFrame:
    """The Produce requests of each client by topic and acks."""
    requests = (
        with_client(tables["exchanges"].where((F.col("api_key") == _PRODUCE) & F.col("acks").isNotNull()))
        .withColumn("topic", F.explode("topics"))
        .groupBy(*CLIENT, "topic", "acks")
        .agg(*sightings(packet="request_packet"))
    )
    return shaped(
        requests.join(F.broadcast(replicas(tables)), "topic", "left"),
        Acks,
        most=[F.col("times").desc(), *map(F.col, (*CLIENT, "topic", "acks"))],
    )


def skews(tables: Tables) -> DataFrame:
    """Of each topic with several partitions the one that gets most, and the client that sends most of that."""
    rows = topic_name(tables["partitions"]).where((F.col("api_key") == _PRODUCE) & (F.col("record_bytes") > 0))
    by_client = (
        with_connection(rows, tables)
        .groupBy("topic", "partition", *CLIENT)
        .agg(*sightings(), F.sum("records").alias("records"), F.sum("record_bytes").alias("bytes"))
    )
    by_partition = by_client.groupBy("topic", "partition").agg(
        F.max_by("first", F.struct("bytes", "client_host")).alias("first"),
        F.max("last").alias("last"),
        F.sum("times").alias("times"),
        F.sum("times").alias("batches"),
        F.sum("records").alias("records"),
        F.sum("bytes").alias("bytes"),
    )
    topic = Window.partitionBy("topic")
    ranked = (
        by_partition.withColumn("all_records", F.sum("records").over(topic))
        .withColumn("all_bytes", F.sum("bytes").over(topic))
        .withColumn("rank", F.row_number().over(topic.orderBy(F.col("bytes").desc(), "partition")))
        .where(F.col("rank") == 1)
    )
    known = replicas(tables).where(F.col("partitions") > 1)
    frame = ranked.join(F.broadcast(known), "topic").na.fill(0, ["records", "all_records"])
    return shaped(frame, Skew, most=[F.col("all_bytes").desc(), F.col("topic")])


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """A question to the tables; its answer has the fields of `fact` as columns, and at most `facts.MOST` rows.

    Where all tables `of` are without rows the answer has none; without `of` it always has some. `folds`: the fold of a
    table that is enough for it.
    """

    fact: type
    ask: Callable[[Tables], DataFrame]
    of: tuple[str, ...] = ()
    folds: Mapping[str, str] = field(default_factory=dict)

    def no_more_than(self, tables: Tables) -> Tables:
        """These tables, the folded ones in their place as far as there are such."""
        return {**tables, **{of: tables[fold] for of, fold in self.folds.items() if fold in tables}}

    def may_have_rows(self, rows: Mapping[str, int]) -> bool:
        """Whether the answer has any, with so many rows of each table and fold."""
        return not self.of or any(
            rows[self.folds.get(name, name) if self.folds.get(name) in rows else name] > 0 for name in self.of
        )


ALL: Mapping[str, Insight] = {
    "coverage": Insight(fact=facts.Coverage, ask=coverage),
    "advertised_endpoints": Insight(
        fact=facts.AdvertisedEndpoint, ask=advertised_endpoints, of=("endpoints",), folds={"exchanges": "tellers"}
    ),
    "attempts": Insight(fact=facts.Attempts, ask=attempts, of=("connections",)),
    "name_lookups": Insight(fact=facts.NameLookup, ask=name_lookups, of=("names",)),
    "request_counts": Insight(
        fact=facts.RequestCounts, ask=request_counts, of=("exchanges",), folds={"exchanges": "calls"}
    ),
    "errors": Insight(
        fact=facts.Errors,
        ask=errors,
        of=("exchanges", "partitions", "leaders"),
        folds={"exchanges": "answers", "partitions": "places"},
    ),
    "group_steps": Insight(fact=facts.GroupStep, ask=group_steps, of=("group_events",)),
    "moves": Insight(fact=facts.Moves, ask=moves, of=("endpoints", "leaders")),
    "produced_batches": Insight(
        fact=facts.ProducedBatches, ask=produced_batches, of=("batches",), folds={"batches": "produced"}
    ),
    "acks": Insight(fact=facts.Acks, ask=acks, of=("exchanges",), folds={"exchanges": "acks"}),
    "skews": Insight(fact=facts.Skew, ask=skews, of=("partitions",), folds={"partitions": "places"}),
    "oversized": Insight(
        fact=facts.Oversized,
        ask=oversized,
        of=("exchanges", "partitions"),
        folds={"exchanges": "cut_off", "partitions": "too_large"},
    ),
    "idle_connections": Insight(
        fact=facts.IdleConnections, ask=idle_connections, of=("exchanges",), folds={"exchanges": "silences"}
    ),
    "clusters": Insight(fact=facts.Cluster, ask=clusters, of=("endpoints",)),
}


def insights(tables: Tables) -> Mapping[str, DataFrame]:
    """Every insight of these tables, by the field of a WireView that it fills; nothing is computed yet."""
    return {name: insight.ask(insight.no_more_than(tables)) for name, insight in ALL.items()}
