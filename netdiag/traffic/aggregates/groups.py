"""The timeline of groups: their generations, what triggered each rebalance, and who got what."""

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.expressions import JOIN_GROUP, LEAVE_GROUP, SYNC_GROUP, meeting, ms_between, shaped
from netdiag.traffic.tables import aggregate

CONSUMER_HEARTBEAT, SHARE_HEARTBEAT = 68, 76
NEW_PROTOCOLS = (CONSUMER_HEARTBEAT, SHARE_HEARTBEAT)
_KEYS = ["group", "generation"]


def ok() -> Column:
    """Whether an event was answered without an error."""
    return F.coalesce("error_code", F.lit(0)) == 0


def joins(group_events: DataFrame) -> DataFrame:
    """The JoinGroup exchanges that brought somebody into a generation."""
    is_join = (F.col("api_key") == JOIN_GROUP) & ok() & (F.col("generation") >= 0)
    return group_events.where(is_join & F.col("group").isNotNull() & F.col("member_id").isNotNull())


def generations(group_events: DataFrame) -> DataFrame:
    """One row per group and generation; beside it what was before.

    `_since`: when the generation before was complete; `_until`: when everybody had joined this one; `_before`: who was
    in the generation before, null where the capture does not show it; `_revoked`: a member of the generation before got
    less than it owned.
    """
    found = _classic(group_events).unionByName(_new(group_events))
    order = Window.partitionBy("group").orderBy("generation")
    return found.withColumns(
        {
            "_since": F.lag("_until").over(order),
            "_before": F.lag("members").over(order),
            "_revoked": F.lag("_revokes").over(order),
        }
    )


def _classic(group_events: DataFrame) -> DataFrame:
    together = (
        joins(group_events)
        .groupBy(*_KEYS)
        .agg(
            F.max("protocol").alias("protocol"),
            F.min("time").alias("time"),
            F.max(F.coalesce("response_time", "time")).alias("_until"),
            F.max("leader").alias("leader"),
            F.sort_array(F.collect_set("member_id")).alias("_joined"),
            F.max_by(F.sort_array("members"), F.size("members")).alias("_listed"),
            F.sort_array(F.collect_set("instance_id")).alias("static_members"),
        )
    )
    answered = _synced(group_events)
    synced = answered.groupBy(*_KEYS).agg(F.max("response_time").alias("_synced"))
    got = answered.select(*_KEYS, "member_id", F.col("assignment").alias("_got"))
    less = meeting(joins(group_events), got, [*_KEYS, "member_id"])
    revokes = less.groupBy(*_KEYS).agg(F.max(F.size(F.array_except("owned", "_got")) > 0).alias("_revokes"))
    found = together.join(synced, _KEYS, "left").join(revokes, _KEYS, "left")
    return found.select(
        *_KEYS,
        "protocol",
        "time",
        F.coalesce("_synced", "_until").alias("end_time"),
        F.when(F.col("_synced").isNotNull(), F.lit("stable")).otherwise(F.lit("incomplete")).alias("state"),
        "leader",
        F.when(F.size("_listed") > 0, F.col("_listed")).otherwise(F.col("_joined")).alias("members"),
        "static_members",
        "_until",
        F.coalesce("_revokes", F.lit(False)).alias("_revokes"),
        F.lit(False).alias("_is_new"),
    )


def _new(group_events: DataFrame) -> DataFrame:
    told = group_events.where(F.col("api_key").isin(*NEW_PROTOCOLS) & ok() & (F.col("generation") > 0))
    arrivals = told.where(F.col("group").isNotNull() & F.col("member_id").isNotNull()).groupBy(
        *_KEYS, "api_key", "member_id"
    )
    first = arrivals.agg(
        F.min(F.coalesce("response_time", "time")).alias("_first"), F.max("instance_id").alias("instance_id")
    )
    found = first.groupBy(*_KEYS, "api_key").agg(
        F.min("_first").alias("time"),
        F.max("_first").alias("end_time"),
        F.sort_array(F.collect_set("member_id")).alias("members"),
        F.sort_array(F.collect_set("instance_id")).alias("static_members"),
    )
    word = F.when(F.col("api_key") == SHARE_HEARTBEAT, F.lit("share")).otherwise(F.lit("consumer"))
    return found.select(
        *_KEYS,
        word.alias("protocol"),
        "time",
        "end_time",
        F.lit("stable").alias("state"),
        F.lit(None).cast("string").alias("leader"),
        "members",
        "static_members",
        F.col("time").alias("_until"),
        F.lit(False).alias("_revokes"),
        F.lit(True).alias("_is_new"),
    )


def _synced(group_events: DataFrame) -> DataFrame:
    return group_events.where((F.col("api_key") == SYNC_GROUP) & ok() & F.col("response_time").isNotNull())


_FIELDS = (*_KEYS, "rank", "time", "trigger", "member_id", "reason")
_MEMBER_ID_REQUIRED = 79
_SURE, _LIKELY = 1, 2
_LATE_MS = 1000
# What clients give as reason (KIP-800), first match; the empty word: an answer to the coordinator's call.
_REASONS = (
    ("already rebalancing|rebalance failed|rebalance in progress|member ?id", ""),
    ("metadata has changed|partition.*(added|changed)", "new-partitions"),
    ("subscri", "subscription"),
    ("revoke", "revocation"),
    ("encountered|disconnect|unknown_member|fenced|coordinator", "error"),
)
_POLL = r"(?i)poll[ ._]?(timeout|interval)|max\.poll"


def triggers(generations: DataFrame, group_events: DataFrame, leaders: DataFrame) -> DataFrame:
    """group, generation and what set it off (trigger, member_id, reason); generations without evidence are missing."""
    evidence = (
        _leaves(generations, group_events)
        .unionByName(_newcomers(generations, group_events))
        .unionByName(_silent(generations, group_events))
        .unionByName(_reasons(generations, group_events))
        .unionByName(_growth(generations, group_events, leaders))
        .unionByName(_revocations(generations))
    )
    first = F.min(F.struct("rank", "time", "trigger", "member_id", "reason")).alias("_first")
    return evidence.groupBy(*_KEYS).agg(first).select(*_KEYS, "_first.trigger", "_first.member_id", "_first.reason")


def _leaves(generations: DataFrame, group_events: DataFrame) -> DataFrame:
    left = group_events.where(_is_leave() & ok()).select(
        "group",
        "time",
        F.coalesce(F.try_element_at("members", F.lit(1)), "member_id").alias("member_id"),
        F.col("reason").alias("reason"),
    )
    word = F.when(F.col("reason").rlike(_POLL), F.lit("poll-interval")).otherwise(F.lit("leave"))
    met = meeting(generations.select(*_KEYS, "_since", "_until"), left, ["group"])
    return _evidence(met.where(_between("time")), _SURE, word)


def _newcomers(generations: DataFrame, group_events: DataFrame) -> DataFrame:
    seen = group_events.where(F.col("member_id").isNotNull()).groupBy("group", "member_id")
    first = seen.agg(
        F.min("time").alias("_first"),
        F.max(F.coalesce("error_code", F.lit(0)) == _MEMBER_ID_REQUIRED).alias("_asked_for_id"),
    )
    members = generations.select(*_KEYS, "_since", "_until", "_before", F.explode("members").alias("member_id"))
    known = meeting(members, first, ["group", "member_id"])
    new = F.when(F.col("_before").isNotNull(), ~F.array_contains("_before", F.col("member_id"))).otherwise(
        (F.col("generation") == 1) | F.col("_asked_for_id")
    )
    joined = known.where(new).withColumns(
        {"time": F.greatest("_first", F.coalesce("_since", "_first")), "reason": F.lit(None).cast("string")}
    )
    return _evidence(joined, _SURE, F.lit("join"))


def _silent(generations: DataFrame, group_events: DataFrame) -> DataFrame:
    """Members that are gone without a word, whose session had expired."""
    gone = generations.where(F.col("_before").isNotNull()).select(
        *_KEYS,
        F.col("time").alias("_began"),
        "_is_new",
        F.explode(F.array_except("_before", "members")).alias("member_id"),
    )
    leavers = group_events.where(_is_leave()).select(
        "group", F.coalesce(F.try_element_at("members", F.lit(1)), "member_id").alias("member_id")
    )
    heard = group_events.where(F.col("member_id").isNotNull()).select(
        "group", "member_id", F.col("time").alias("_heard"), F.col("session_timeout_ms").alias("_patience")
    )
    mute = meeting(gone.join(leavers, ["group", "member_id"], "left_anti"), heard, ["group", "member_id"])
    last = mute.groupBy(*_KEYS, "_began", "_is_new", "member_id").agg(
        F.max(F.when((F.col("_heard") < F.col("_began")) | F.col("_is_new"), F.col("_heard"))).alias("_last"),
        F.coalesce(F.max("_patience"), F.lit(0)).alias("_patience"),
    )
    expired = F.timestamp_micros(F.unix_micros("_last") + F.col("_patience") * 1000)
    late = F.timestamp_micros(F.unix_micros("_began") + F.lit(_LATE_MS * 1000))
    found = last.withColumns({"time": expired, "reason": F.lit(None).cast("string")}).where(expired <= late)
    return _evidence(found, _SURE, F.lit("session-timeout"))


def _reasons(generations: DataFrame, group_events: DataFrame) -> DataFrame:
    said = joins(group_events).where(F.col("reason") != "").select(*_KEYS, "time", "member_id", "reason")
    word: Column = F.lit("enforced")
    for pattern, trigger in reversed(_REASONS):
        word = F.when(F.col("reason").rlike(f"(?i){pattern}"), F.lit(trigger)).otherwise(word)
    met = meeting(said, generations.select(*_KEYS, "_before"), _KEYS)
    old = F.coalesce(F.array_contains("_before", F.col("member_id")), F.lit(True))
    told = met.where(old).withColumn("_word", word).where(F.col("_word") != "")
    rank = F.when(F.col("_word") == "error", F.lit(_LIKELY)).otherwise(F.lit(_SURE))
    return told.select(*_KEYS, rank.alias("rank"), "time", F.col("_word").alias("trigger"), "member_id", "reason")


def _growth(generations: DataFrame, group_events: DataFrame, leaders: DataFrame) -> DataFrame:
    """A topic that some member subscribes to has more partitions than before."""
    answers = leaders.where(F.col("topic").isNotNull() & F.col("partition").isNotNull())
    counted = answers.groupBy("topic", "time", "connection", "correlation_id").agg(
        F.count_distinct("partition").alias("_count")
    )
    earlier = Window.partitionBy("topic").orderBy("time", "connection", "correlation_id")
    most = F.max("_count").over(earlier.rowsBetween(Window.unboundedPreceding, -1))
    grown = counted.withColumn("_most", most).where(F.col("_count") > F.col("_most")).select("topic", "time")
    subscribed = group_events.where(F.col("group").isNotNull()).select(
        "group", F.explode("subscription").alias("topic")
    )
    spans = meeting(generations.select(*_KEYS, "_since", "_until"), subscribed.distinct(), ["group"])
    met = meeting(spans, grown, ["topic"]).where(_between("time") & F.col("_since").isNotNull())
    nobody = {"member_id": F.lit(None).cast("string"), "reason": F.lit(None).cast("string")}
    return _evidence(met.withColumns(nobody), _LIKELY, F.lit("new-partitions"))


def _revocations(generations: DataFrame) -> DataFrame:
    second = generations.where(F.col("_revoked") & F.col("protocol").contains("cooperative"))
    nobody = {"member_id": F.lit(None).cast("string"), "reason": F.lit(None).cast("string")}
    return _evidence(second.withColumns(nobody), _LIKELY, F.lit("revocation"))


def _is_leave() -> Column:
    new = F.col("api_key").isin(*NEW_PROTOCOLS) & (F.col("generation") < 0)
    return ((F.col("api_key") == LEAVE_GROUP) | new) & F.col("group").isNotNull()


def _between(time: str) -> Column:
    """After the generation before was complete, until everybody had joined this one."""
    return (F.col("_since").isNull() | (F.col(time) > F.col("_since"))) & (F.col(time) <= F.col("_until"))


def _evidence(rows: DataFrame, rank: int, trigger: Column) -> DataFrame:
    return rows.withColumns({"rank": F.lit(rank), "trigger": trigger}).select(*_FIELDS)


def rebalances(group_events: DataFrame, leaders: DataFrame) -> DataFrame:
    """Table `rebalances`."""
    rows = _found(generations(group_events))
    causes = triggers(rows, group_events, leaders).withColumnRenamed("member_id", "trigger_member")
    named = causes.join(_members(group_events), ["group", "trigger_member"], "left")
    before = F.coalesce("_before", F.col("members"))
    found = rows.join(named, _KEYS, "left").withColumns(
        {
            "trigger": F.coalesce("trigger", F.lit("unknown")),
            "duration_ms": ms_between(F.col("time"), F.col("end_time")),
            "joined": F.size(F.array_except("members", before)),
            "left": F.size(F.array_except(before, "members")),
        }
    )
    return shaped(found, aggregate("rebalances"))


def assignments(group_events: DataFrame) -> DataFrame:
    """Table `assignments`."""
    gives = F.col("api_key").isin(SYNC_GROUP, *NEW_PROTOCOLS) & ok() & F.col("assignment").isNotNull()
    given = group_events.where(gives & F.col("group").isNotNull() & F.col("member_id").isNotNull())
    leaders = joins(group_events).groupBy(*_KEYS).agg(F.max("leader").alias("_leader"))
    told = F.coalesce("response_time", "time")
    latest = given.groupBy(*_KEYS, "member_id").agg(
        F.max("instance_id").alias("instance_id"),
        F.max("client_id").alias("client_id"),
        F.max_by("client", told).alias("client"),
        F.max_by(F.sort_array("assignment"), told).alias("assignment"),
        F.max(told).alias("time"),
    )
    leads = F.coalesce(F.col("_leader") == F.col("member_id"), F.lit(False))
    found = latest.where(F.col("generation") >= 0).join(leaders, _KEYS, "left").withColumn("is_leader", leads)
    return shaped(found, aggregate("assignments"))


def _found(generations: DataFrame) -> DataFrame:
    """The same rows, found: there are few, and how to find them would be planned again wherever they are asked.

    They lie here and not with an executor, which may be lost.
    """
    rows = generations.toArrow()
    whole = rows if rows.num_rows else pa.Table.from_pylist([], rows.schema)
    return generations.sparkSession.createDataFrame(whole, generations.schema).coalesce(1)


def _members(group_events: DataFrame) -> DataFrame:
    named = group_events.where(F.col("member_id").isNotNull() & F.col("group").isNotNull())
    return named.groupBy("group", F.col("member_id").alias("trigger_member")).agg(
        F.min_by("client", "time").alias("trigger_client"), F.min_by("client_id", "time").alias("trigger_client_id")
    )
