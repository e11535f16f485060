"""Topic ids resolved to names, with all that a capture tells, before a message and after it."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def topic_names(leaders: DataFrame, partitions: DataFrame) -> DataFrame:
    """topic_id and topic of every id of which some response tells the name."""
    told = leaders.select("topic_id", "topic").unionByName(partitions.select("topic_id", "topic"))
    known = told.where(F.col("topic_id").isNotNull() & F.col("topic").isNotNull())
    return known.groupBy("topic_id").agg(F.min("topic").alias("topic"))


def with_topic_names(frame: DataFrame, names: DataFrame) -> DataFrame:
    """Rows with columns topic and topic_id: the topic is filled in where its id is known."""
    known = F.broadcast(names.withColumnRenamed("topic", "_name"))
    filled = F.coalesce(F.col("topic"), F.col("_name"))
    return frame.join(known, "topic_id", "left").withColumn("topic", filled).select(*frame.columns)


def with_named_topics(exchanges: DataFrame, names: DataFrame) -> DataFrame:
    """Exchanges: ids in the list of topics become names."""
    entry = F.struct(F.col("topic_id").alias("key"), F.col("topic").alias("value"))
    known = F.broadcast(names.agg(F.map_from_entries(F.collect_list(entry)).alias("_names")))
    named = F.transform("topics", lambda topic: F.coalesce(F.try_element_at("_names", topic), topic))
    return exchanges.crossJoin(known).withColumn("topics", named).select(*exchanges.columns)
