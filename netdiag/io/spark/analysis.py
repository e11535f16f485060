"""An analysis: the engine once, then every question to its tables; charts for a report, facts for wire rules."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from netdiag.findings import Finding
from netdiag.io.spark.extraction import Extract, written
from netdiag.io.spark.folding import folded_tables, names_told
from netdiag.io.spark.small_tables import (
    AT_ONCE,
    one_task_each,
    plain_rows,
    small_tables,
)
from netdiag.io.spark.stored import stored_tables
from netdiag.kafka.storage import DataDirectory
from netdiag.rules.wire import check_wire
from netdiag.traffic.aggregates.connections import without_relays
from netdiag.traffic.aggregates.over_time import moments
from netdiag.traffic.aggregates.questions import CHARTS, QUESTIONS, STORED_QUESTIONS, answered, drawn, ordered
from netdiag.traffic.aggregates.topics import topic_names, with_named_topics, with_topic_names
from netdiag.traffic.analysis import Analysis, Answer, Buckets, Charts, buckets
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.facts import WireView
from netdiag.traffic.folds import ALL as FOLDS
from netdiag.traffic.folds import Selection
from netdiag.traffic.insights import ALL, Insight, Tables
from netdiag.traffic.relays import COLUMNS as RELAY_COLUMNS
from netdiag.traffic.relays import relays_among
from netdiag.traffic.tables import NAMES, TOGETHER, aggregate
from netdiag.values import dataclass

# An answer is a summary: what has more rows is cut here, the count is not.
MOST_ROWS = 5000
_OF_CONNECTIONS = ("exchanges", "partitions", "batches", "group_events", "endpoints", "leaders")
_WITH_TOPIC = ("partitions", "batches", "leaders")
# Runs a question beside others.
Submit = Callable[[Callable[[], Any]], Future[Any]]
Answers = Mapping[str, Future[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of an analysis is wanted: rows of these topics only (all, where none is named), and a folder for answers.

    `named`: the answers call clients and brokers by name where they have one. `charts`: what a report draws, too.
    `only`: these answers; all, where none is named. `storage`: what lies in data directories, to be joined with.
    """

    topics: frozenset[str] = frozenset()
    out: str | None = None
    named: bool = False
    charts: bool = False
    only: frozenset[str] = frozenset()
    storage: tuple[DataDirectory, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """The names of the answers."""
        return tuple(name for name in QUESTIONS if not self.only or name in self.only)

    @property
    def folds(self) -> frozenset[str]:
        """The names of the folds that answers and findings are made of."""
        asked = (*(each.folds for each in ALL.values()), *(QUESTIONS[name].folds for name in self.questions))
        return frozenset(fold for folds in asked for fold in folds.values())


def analysed(extract: Extract, wanted: Wanted, tell: Callable[[str], None] = lambda text: None) -> Analysis:
    """Everything there is to say."""
    if extract.folder is not None:
        return _of_folds(extract, extract.folder, wanted, tell)
    with said_once(extract, wanted.topics) as tables:
        return _asked(replace(extract, tables=tables), wanted, tell)


@contextmanager
def said_once(extract: Extract, topics: frozenset[str]) -> Iterator[dict[str, DataFrame]]:
    """The whole tables without relays, with names, of these topics; questions to few rows are one task each."""
    spark = extract.tables["connections"].sparkSession
    with one_task_each(spark, sum(extract.rows.values())) if extract.is_in_memory else nullcontext():
        tables = once(extract.tables, extract.rows) if extract.may_relay else extract.tables
        named = resolved(tables, extract.rows) if extract.may_name else tables
        yield of_topics(named, topics)


def _of_folds(extract: Extract, folder: str, wanted: Wanted, tell: Callable[[str], None]) -> Analysis:
    tell("summing up")
    spark = SparkSession.active()
    relays = relays_among(pq.read_table(Path(folder, "connections"), columns=list(RELAY_COLUMNS)))
    selection = Selection(relays=frozenset(relays))
    if relays and extract.refold is not None:
        extract.refold(selection)
    selection = replace(selection, names=names_told(folder))
    if selection.has_namesakes and extract.refold is not None:
        extract.refold(selection)
    own = inheritable_thread_target(spark)
    with ThreadPoolExecutor(1) as beside:
        # Java makes tables while folds are merged here.
        begun = beside.submit(own(_tables), spark, folder, extract.rows, selection, relays)
        with folded_tables(spark, folder, selection, wanted.folds) as (folds, rows):
            tables = begun.result()
            known = {**extract.rows, **rows}
            every = sum(rows.values()) + sum(extract.rows[name] for name in tables)
            with one_task_each(spark, every):
                return _asked(replace(extract, tables={**tables, **folds}, rows=known), wanted, tell)


def _tables(
    spark: SparkSession, folder: str, rows: Mapping[str, int], selection: Selection, relays: dict[int, int]
) -> dict[str, DataFrame]:
    """The tables that are not folded."""
    few = small_tables(spark, folder, rows, selection, relays)
    others = [name for name in NAMES if name not in TOGETHER and name not in few]
    if not others:
        return few
    connections = written(spark, folder, {*others, "connections"})
    return {**_named(_without(connections, relays), selection.names), **few}


def _asked(extract: Extract, wanted: Wanted, tell: Callable[[str], None]) -> Analysis:
    tables = extract.tables
    shown = called_by_name(tables) if wanted.named else tables
    # In a thread of its own on Java's side, too.
    own = inheritable_thread_target(tables["connections"].sparkSession)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        counted = pool.submit(own(tables["connections"].groupBy("protocol").count().collect))
        insights = ask_all(tables, extract.rows, lambda ask: pool.submit(own(ask)))
        asked = {
            name: pool.submit(
                own(_answer), name, shown, wanted.out, any_rows=QUESTIONS[name].may_have_rows(extract.rows)
            )
            for name in wanted.questions
        }
        answers = {}
        for number, (name, future) in enumerate(asked.items(), 1):
            answers[name] = future.result()
            tell(f"{number} of {len(asked)} questions answered")
        if wanted.storage:
            tell("reading logs")
            beside = {**tables, **stored_tables(tables["connections"].sparkSession, tables, wanted.storage)}
            answers |= {name: _answer(name, beside, wanted.out) for name in STORED_QUESTIONS}
        charts = charts_of(shown, extract.rows, lambda ask: pool.submit(own(ask))) if wanted.charts else None
        found = tuple(check_wire(told_by(insights)))
        protocols = {row["protocol"]: int(row["count"]) for row in counted.result()}
    return Analysis(
        seen=extract.seen,
        connections=sum(protocols.values()),
        protocols=protocols,
        answers=answers,
        findings=found,
        charts=charts,
    )


def findings(tables: Tables, rows: Mapping[str, int] | None = None) -> tuple[Finding, ...]:
    """What wire rules find in the tables."""
    return tuple(check_wire(wire_view(tables, rows)))


def resolved(tables: Tables, rows: Mapping[str, int] | None = None) -> dict[str, DataFrame]:
    """The tables with topic names where only ids travelled: the names are those of the whole capture.

    `rows`: how many there are of each table, where that is known.
    """
    return _named(tables, names_of(tables, rows))


def names_of(tables: Tables, rows: Mapping[str, int] | None = None) -> dict[str, str]:
    """The topics by their ids, as far as the capture tells."""
    if rows is not None and not rows["leaders"] + rows["partitions"]:
        return {}
    told = topic_names(tables["leaders"], tables["partitions"]).collect()
    return {row["topic_id"]: row["topic"] for row in told}


def _named(tables: Tables, told: Mapping[str, str]) -> dict[str, DataFrame]:
    if not told:
        return dict(tables)
    spark = SparkSession.active()
    names = spark.createDataFrame(sorted(told.items()), "topic_id string, topic string")
    named = {name: with_topic_names(tables[name], names) for name in _WITH_TOPIC if name in tables}
    if "exchanges" in tables:
        named["exchanges"] = with_named_topics(tables["exchanges"], names)
    return {**tables, **named}


def once(tables: Tables, rows: Mapping[str, int] | None = None) -> dict[str, DataFrame]:
    """The tables with relays marked among the connections, and without what was said on them a second time."""
    return _without(tables, relays_of(tables, rows))


def relays_of(tables: Tables, rows: Mapping[str, int] | None = None) -> dict[int, int]:
    """The connections on which everything was said a second time, and where it was said first."""
    if rows is not None and rows["connections"] < 2:
        return {}
    return relays_among(tables["connections"].select(*RELAY_COLUMNS).toArrow())


def _without(tables: Tables, found: Mapping[int, int]) -> dict[str, DataFrame]:
    if not found:
        return dict(tables)
    spark: SparkSession = tables["connections"].sparkSession
    relays = spark.createDataFrame(sorted(found.items()), "connection bigint, relay_of bigint")
    connections = tables["connections"].drop("relay_of").join(F.broadcast(relays), "connection", "left")
    kept = {name: without_relays(tables[name], connections) for name in _OF_CONNECTIONS if name in tables}
    return {**tables, **kept, "connections": connections.select(*tables["connections"].columns)}


def called_by_name(tables: Tables) -> dict[str, DataFrame]:
    """The tables with `name:port` for the address of a client, and `name LISTENER` for that of a broker."""
    client = F.concat_ws(":", "client_name", F.regexp_extract("client", r":([0-9]+)$", 1))
    broker = F.concat_ws(" ", "broker_name", "listener")
    whole = {
        "client": F.when(F.col("client_name").isNotNull(), client).otherwise(F.col("client")),
        "broker": F.when(F.col("broker_name").isNotNull(), broker).otherwise(F.col("broker")),
    }

    named = {}
    for name in ("exchanges", "connections", *FOLDS):
        columns = tables[name].columns if name in tables else []
        known = {each: column for each, column in whole.items() if each in columns and f"{each}_name" in columns}
        if known:
            named[name] = tables[name].withColumns(known)
    return {**tables, **named}


def of_topics(tables: Tables, topics: frozenset[str]) -> dict[str, DataFrame]:
    """The tables with what names one of these topics; connections and losses stay as they are."""
    if not topics:
        return dict(tables)
    wanted = sorted(topics)
    exchanges = tables["exchanges"].where(F.arrays_overlap("topics", F.array(*map(F.lit, wanted))))
    kept = exchanges.select("connection", "correlation_id", "time").distinct()
    groups = tables["partitions"].where(F.col("topic").isin(wanted)).select("group").distinct()
    return {
        **tables,
        "exchanges": exchanges,
        **{name: tables[name].where(F.col("topic").isin(wanted)) for name in _WITH_TOPIC},
        "group_events": tables["group_events"].join(F.broadcast(groups), "group", "left_semi"),
        "endpoints": tables["endpoints"].join(kept.drop("time"), ["connection", "correlation_id"], "left_semi"),
    }


def _answer(name: str, tables: Tables, out: str | None, *, any_rows: bool = True) -> Answer:
    first = schema_of(aggregate(name), unit="us").empty_table()
    total = 0
    if any_rows:
        asked = answered(name, tables)
        first = ordered(name, asked).limit(MOST_ROWS).toArrow().cast(first.schema)
        total = first.num_rows if first.num_rows < MOST_ROWS else asked.count()
    if out is not None:
        folder = Path(out, name)
        if total == first.num_rows:
            folder.mkdir(parents=True)
            pq.write_table(first, folder / "part-00000.parquet", compression="zstd")
        else:
            asked.write.parquet(folder.as_uri())
    return Answer(rows=plain_rows(first), total=total)


def charts_of(tables: Mapping[str, DataFrame], rows: Mapping[str, int], submit: Submit) -> Charts | None:
    """All charts; None where there is no moment to draw. `rows`: how many each table has."""
    (span,) = moments(tables).collect()
    if span["first"] is None:
        return None
    found = buckets(span["first"], span["last"])
    asked = {
        name: submit(lambda name=name: _chart(name, tables, rows, found))  # type: ignore[misc]
        for name, chart in CHARTS.items()
        if rows[chart.of] > 0
    }
    return Charts(span=found, answers={name: future.result() for name, future in asked.items()})


def _chart(name: str, tables: Mapping[str, DataFrame], rows: Mapping[str, int], span: Buckets) -> Answer:
    table = drawn(name, tables, span).toArrow().cast(schema_of(aggregate(name), unit="us"))
    total = table.num_rows if CHARTS[name].most is None else rows[CHARTS[name].of]
    return Answer(rows=plain_rows(table), total=total)


def wire_view(tables: Tables, rows: Mapping[str, int] | None = None) -> WireView:
    """Everything that rules are told of these tables; each insight is bounded, so is this.

    `rows`: how many there are of each table, where that is known: what would come out empty is not asked.
    """
    return told_by(ask_all(tables, rows, _at_once))


def ask_all(tables: Tables, rows: Mapping[str, int] | None, submit: Submit) -> Answers:
    """The insights of a `wire_view` under way, beside other questions."""
    return {
        name: submit(lambda insight=insight: _facts(insight.fact, insight.ask(insight.no_more_than(tables))))  # type: ignore[misc]
        for name, insight in ALL.items()
        if _may_be(insight, rows)
    }


def told_by(answers: Answers) -> WireView:
    """The view, once every insight has its answer."""
    told: dict[str, Any] = {name: answers[name].result() if name in answers else () for name in ALL}
    (told["coverage"],) = told["coverage"]
    return WireView(**told)


def _at_once(ask: Callable[[], Any]) -> Future[Any]:
    done: Future[Any] = Future()
    done.set_result(ask())
    return done


def _may_be(insight: Insight, rows: Mapping[str, int] | None) -> bool:
    return rows is None or insight.may_have_rows(rows)


def _facts(fact: type, frame: DataFrame) -> tuple[Any, ...]:
    """The rows as facts, in an order that does not depend on how Spark split the work."""
    rows = frame.toArrow().to_pylist()
    return tuple(sorted((_fact(fact, row) for row in rows), key=repr))


def _fact(fact: type, values: Mapping[str, Any]) -> Any:
    """A fact of its fields; what is null has the default."""
    known = {each.name for each in fields(fact)}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return fact(**{name: value for name, value in given.items() if name in known and value is not None})
