"""The written-out list of the questions: what each asks of the tables, and which of its rows matter most."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates import clients, coverage, errors, groups, lag, latency, rates, records, topics
from netdiag.traffic.aggregates import transactions as of_transactions

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
        return rows.get(self.folds.get(self.of, self.of), rows[self.of]) > 0


ALL: Mapping[str, Question] = {
    "coverage": Question(
        of="exchanges",
        ask=lambda t: coverage.coverage(t["exchanges"]),
        first=("exchanges",),
        then=("api_name", "api_version", "decoded", "outcome"),
        folds={"exchanges": "coverage"},
    ),
    "loss_kinds": Question(
        of="losses", ask=lambda t: coverage.loss_kinds(t["losses"]), first=("bytes", "times"), then=("kind",)
    ),
    "rates": Question(
        of="exchanges",
        ask=lambda t: rates.rates(t["exchanges"]),
        first=("requests", "request_bytes"),
        then=("by", "value"),
        folds={"exchanges": "rates"},
    ),
    "timeline": Question(
        of="exchanges",
        ask=lambda t: rates.timeline(t["exchanges"]),
        then=("time",),
        folds={"exchanges": "timeline"},
    ),
    "latency": Question(
        of="exchanges",
        ask=lambda t: latency.latency(t["exchanges"]),
        first=("requests",),
        then=("api_name", "broker"),
        folds={"exchanges": "latency"},
    ),
    "errors": Question(
        of="exchanges",
        ask=lambda t: errors.errors(t["exchanges"], t["partitions"], t["leaders"]),
        first=("times",),
        then=("api_name", "error_code", "topic", "broker"),
        folds={"exchanges": "refused", "partitions": "refused_partitions"},
    ),
    "throttling": Question(
        of="exchanges",
        ask=lambda t: errors.throttling(t["exchanges"]),
        first=("throttle_ms",),
        then=("client_id", "client", "broker", "api_name"),
        folds={"exchanges": "throttling"},
    ),
    "churn": Question(
        of="connections",
        ask=lambda t: clients.churn(t["connections"]),
        first=("connections",),
        then=("client", "client_id", "broker", "protocol"),
    ),
    "software": Question(
        of="connections",
        ask=lambda t: clients.software(t["connections"]),
        first=("connections",),
        then=("client_software", "client_id"),
    ),
    "api_versions": Question(
        of="exchanges",
        ask=lambda t: clients.api_versions(t["exchanges"]),
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
        ask=lambda t: records.produce(t["batches"], t["exchanges"]),
        first=("bytes",),
        then=("client_id", "topic", "acks", "codec", "idempotent", "transactional"),
        folds={"batches": "sent"},
    ),
    "consume": Question(
        of="exchanges",
        ask=lambda t: records.consume(t["exchanges"], t["group_events"]),
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
        ask=lambda t: of_transactions.transactions(t["exchanges"]),
        first=("begun",),
        then=("transactional_id",),
        folds={"exchanges": "transactions"},
    ),
    "tcp_health": Question(
        of="connections",
        ask=lambda t: clients.tcp_health(t["connections"]),
        first=("packets",),
        then=("client", "broker"),
    ),
    "told": Question(
        of="endpoints",
        ask=lambda t: clients.told(t["endpoints"]),
        first=("times",),
        then=("cluster_id", "node_id", "host", "port"),
    ),
}


def answered(name: str, tables: Tables) -> DataFrame:
    """The answer, unordered."""
    question = ALL[name]
    return question.ask(question.no_more_than(tables))


def ordered(name: str, answer: DataFrame) -> DataFrame:
    """What matters most first; the order is whole, so that the first rows are the same every time."""
    question = ALL[name]
    return answer.orderBy(*[F.desc_nulls_last(column) for column in question.first], *question.then)
