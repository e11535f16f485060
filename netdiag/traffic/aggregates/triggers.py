"""What set off a rebalance: the earliest thing on the wire that can have done it.

Evidence is a row (group, generation, rank, time, trigger, member_id, reason): of a generation the lowest rank counts,
of that the earliest. Members that only answer the call of the coordinator are no evidence.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.expressions import LEAVE_GROUP
from netdiag.traffic.aggregates.generations import NEW_PROTOCOLS, joins, ok

_KEYS = ("group", "generation")
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
    met = generations.select(*_KEYS, "_since", "_until").join(left, "group")
    return _evidence(met.where(_between("time")), _SURE, word)


def _newcomers(generations: DataFrame, group_events: DataFrame) -> DataFrame:
    seen = group_events.where(F.col("member_id").isNotNull()).groupBy("group", "member_id")
    first = seen.agg(
        F.min("time").alias("_first"),
        F.max(F.coalesce("error_code", F.lit(0)) == _MEMBER_ID_REQUIRED).alias("_asked_for_id"),
    )
    members = generations.select(*_KEYS, "_since", "_until", "_before", F.explode("members").alias("member_id"))
    known = members.join(first, ["group", "member_id"])
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
    mute = gone.join(leavers.distinct(), ["group", "member_id"], "left_anti").join(heard, ["group", "member_id"])
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
    met = said.join(generations.select(*_KEYS, "_before"), list(_KEYS))
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
    met = (
        generations.select(*_KEYS, "_since", "_until")
        .join(subscribed.distinct(), "group")
        .join(grown, "topic")
        .where(_between("time") & F.col("_since").isNotNull())
    )
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
