"""The written-out lists of the questions of an analysis and of the charts of a report: what each asks of the tables."""

from collections.abc import Callable, Mapping
from dataclasses import field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates import connections, groups, lag, requests, stored, topics
from netdiag.traffic.aggregates.connections import WORST, worst_connections
from netdiag.traffic.aggregates.lag import lag_over_time
from netdiag.traffic.aggregates.over_time import (
    brokers_over_time,
    connections_over_time,
    errors_over_time,
    partitions_over_time,
    traffic_over_time,
)
from netdiag.traffic.analysis import Buckets
from netdiag.values import dataclass

Tables = Mapping[str, DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`ask` gives the answer; rows that have most of `first` come first, those alike by `then`.

    Where the table `of` has no rows the answer has none. `folds`: the fold of a table that is enough to answer it.
    """

    of: str
    ask: Callable[[Tables], DataFrame]
    first: tuple[str, ...] = ()
    then: tuple[str, ...]
    folds: Mapping[str, str] = field(default_factory=dict)

    def no_more_than(self, tables: Tables) -> Tables:
        """These tables, the folded ones in their place as far as there are such."""
        return {**tables, **{of: tables[fold] for of, fold in self.folds.items() if fold in tables}}

    def may_have_rows(self, rows: Mapping[str, int]) -> bool:
        """Whether the answer has any, with so many rows of each table and fold."""
        fold = self.folds.get(self.of, self.of)
        return rows[fold if fold in rows else self.of] > 0


QUESTIONS: Mapping[str, Question] = {
    "coverage": Question(
        of="exchanges",
        ask=lambda t: requests.coverage(t["exchanges"]),
        first=("exchanges",),
        then=("api_name", "api_version", "decoded", "outcome"),
        folds={"exchanges": "coverage"},
    ),
    "loss_kinds": Question(
        of="losses", ask=lambda t: requests.loss_kinds(t["losses"]), first=("bytes", "times"), then=("kind",)
    ),
    "rates": Question(
        of="exchanges",
        ask=lambda t: requests.rates(t["exchanges"]),
        first=("requests", "request_bytes"),
        then=("by", "value"),
        folds={"exchanges": "rates"},
    ),
    "timeline": Question(
        of="exchanges",
        ask=lambda t: requests.timeline(t["exchanges"]),
        then=("time",),
        folds={"exchanges": "timeline"},
    ),
    "latency": Question(
        of="exchanges",
        ask=lambda t: requests.latency(t["exchanges"]),
        first=("requests",),
        then=("api_name", "broker"),
        folds={"exchanges": "latency"},
    ),
    "errors": Question(
        of="exchanges",
        ask=lambda t: requests.errors(t["exchanges"], t["partitions"], t["leaders"]),
        first=("times",),
        then=("api_name", "error_code", "topic", "broker"),
        folds={"exchanges": "refused", "partitions": "refused_partitions"},
    ),
    "throttling": Question(
        of="exchanges",
        ask=lambda t: requests.throttling(t["exchanges"]),
        first=("throttle_ms",),
        then=("client_id", "client", "broker", "api_name"),
        folds={"exchanges": "throttling"},
    ),
    "churn": Question(
        of="connections",
        ask=lambda t: connections.churn(t["connections"]),
        first=("connections",),
        then=("client", "client_id", "broker", "protocol"),
    ),
    "software": Question(
        of="connections",
        ask=lambda t: connections.software(t["connections"]),
        first=("connections",),
        then=("client_software", "client_id"),
    ),
    "api_versions": Question(
        of="exchanges",
        ask=lambda t: connections.api_versions(t["exchanges"]),
        first=("requests",),
        then=("api_name", "api_version"),
        folds={"exchanges": "api_versions"},
    ),
    "topics": Question(
        of="partitions",
        ask=lambda t: topics.topics(t["partitions"], t["exchanges"]),
        first=("produced_bytes", "fetched_bytes"),
        then=("topic",),
        folds={"partitions": "places", "exchanges": "rates"},
    ),
    "topic_partitions": Question(
        of="partitions",
        ask=lambda t: topics.topic_partitions(t["partitions"], t["exchanges"]),
        first=("produced_bytes", "fetched_bytes"),
        then=("topic", "partition"),
        folds={"partitions": "places", "exchanges": "rates"},
    ),
    "produce": Question(
        of="batches",
        ask=lambda t: topics.produce(t["batches"], t["exchanges"]),
        first=("bytes",),
        then=("client_id", "topic", "acks", "codec", "idempotent", "transactional"),
        folds={"batches": "sent", "exchanges": "rates"},
    ),
    "consume": Question(
        of="exchanges",
        ask=lambda t: topics.consume(t["exchanges"], t["group_events"]),
        first=("bytes", "fetches"),
        then=("client", "client_id"),
        folds={"exchanges": "consume"},
    ),
    "rebalances": Question(
        of="group_events",
        ask=lambda t: groups.rebalances(t["group_events"], t["leaders"]),
        then=("group", "generation"),
    ),
    "assignments": Question(
        of="group_events",
        ask=lambda t: groups.assignments(t["group_events"]),
        then=("group", "generation", "member_id"),
    ),
    "commits": Question(
        of="partitions",
        ask=lambda t: lag.commits(t["partitions"]),
        first=("commits",),
        then=("group", "topic", "partition"),
        folds={"partitions": "offsets"},
    ),
    "lag": Question(
        of="partitions",
        ask=lambda t: lag.lag(t["partitions"], t["batches"], t["exchanges"]),
        first=("lag_records",),
        then=("group", "topic", "partition"),
        folds={"partitions": "offsets", "batches": "stamps", "exchanges": "rates"},
    ),
    "transactions": Question(
        of="exchanges",
        ask=lambda t: topics.transactions(t["exchanges"]),
        first=("begun",),
        then=("transactional_id",),
        folds={"exchanges": "transactions"},
    ),
    "tcp_health": Question(
        of="connections",
        ask=lambda t: connections.tcp_health(t["connections"]),
        first=("packets",),
        then=("client", "broker"),
    ),
    "told": Question(
        of="endpoints",
        ask=lambda t: connections.told(t["endpoints"]),
        first=("times",),
        then=("cluster_id", "node_id", "host", "port"),
    ),
}


# What is asked of a capture and of data directories, see `aggregates.stored`.
STORED_QUESTIONS: Mapping[str, Question] = {
    "stored_batches": Question(
        of="batches",
        ask=lambda t: stored.stored_batches(t["batches"], t["partitions"], t["log_batches"], t["log_ranges"]),
        first=("batches",),
        then=("topic", "partition"),
    ),
    "stored_commits": Question(
        of="committed_offsets",
        ask=lambda t: stored.stored_commits(t["partitions"], t["committed_offsets"], t["log_ranges"]),
        then=("group", "topic", "partition"),
    ),
}
_ALL: Mapping[str, Question] = {**QUESTIONS, **STORED_QUESTIONS}


def answered(name: str, tables: Tables) -> DataFrame:
    """The answer, unordered."""
    question = _ALL[name]
    return question.ask(question.no_more_than(tables))


def ordered(name: str, answer: DataFrame) -> DataFrame:
    """What matters most first; the order is whole, so that the first rows are the same every time."""
    question = _ALL[name]
    return answer.orderBy(*[F.desc_nulls_last(column) for column in question.first], *question.then)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """`ask` gives the rows, which are those of a table `of` if that has any; of them the first `most` are drawn.

    Without `most` the buckets and the series bound them.
    """

    of: str
    ask: Callable[[Tables, Buckets], DataFrame]
    first: tuple[str, ...] = ()
    then: tuple[str, ...]
    most: int | None = None


CHARTS: Mapping[str, Chart] = {
    "traffic_over_time": Chart(
        of="exchanges", ask=lambda t, span: traffic_over_time(t["exchanges"], span), then=("bucket",)
    ),
    "errors_over_time": Chart(
        of="exchanges",
        ask=lambda t, span: errors_over_time(t["exchanges"], span),
        then=("api_name", "error", "bucket"),
    ),
    "connections_over_time": Chart(
        of="connections", ask=lambda t, span: connections_over_time(t["connections"], span), then=("bucket",)
    ),
    "lag_over_time": Chart(
        of="partitions", ask=lambda t, span: lag_over_time(t["partitions"], span), then=("group", "topic", "bucket")
    ),
    "partitions_over_time": Chart(
        of="partitions",
        ask=lambda t, span: partitions_over_time(t["partitions"], span),
        then=("topic", "partition", "bucket"),
    ),
    "brokers_over_time": Chart(
        of="exchanges", ask=lambda t, span: brokers_over_time(t["exchanges"], span), then=("broker", "bucket")
    ),
    "worst_connections": Chart(
        of="connections",
        ask=lambda t, span: worst_connections(t["connections"], t["exchanges"]),
        first=("trouble", "client_bytes", "broker_bytes"),
        then=("first_time", "connection"),
        most=WORST,
    ),
}


def drawn(name: str, tables: Tables, span: Buckets) -> DataFrame:
    """The rows of a chart in its order."""
    chart = CHARTS[name]
    rows = chart.ask(tables, span).orderBy(*[F.desc_nulls_last(column) for column in chart.first], *chart.then)
    return rows if chart.most is None else rows.limit(chart.most)
