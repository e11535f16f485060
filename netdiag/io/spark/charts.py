"""What a report draws, asked of the tables of an analysis beside its questions."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from pyspark.sql import DataFrame

from netdiag.io.spark.plain_rows import plain_rows
from netdiag.traffic.aggregates.over_time import moments
from netdiag.traffic.aggregates.questions import CHARTS, drawn
from netdiag.traffic.analysis import Answer, Buckets, Charts, buckets
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.tables import aggregate

# Runs a question beside others.
Submit = Callable[[Callable[[], Any]], Future[Any]]


def charts_of(tables: Mapping[str, DataFrame], rows: Mapping[str, int], submit: Submit) -> Charts | None:
    """All charts; None where there is no moment to draw. `rows`: how many each table has."""
    (span,) = moments(tables).collect()
    if span["first"] is None:
        return None
    found = buckets(span["first"], span["last"])
    asked = {
        name: submit(lambda name=name: _answer(name, tables, rows, found))  # type: ignore[misc]
        for name, chart in CHARTS.items()
        if rows[chart.of] > 0
    }
    return Charts(span=found, answers={name: future.result() for name, future in asked.items()})


def _answer(name: str, tables: Mapping[str, DataFrame], rows: Mapping[str, int], span: Buckets) -> Answer:
    table = drawn(name, tables, span).toArrow().cast(schema_of(aggregate(name), unit="us"))
    total = table.num_rows if CHARTS[name].most is None else rows[CHARTS[name].of]
    return Answer(rows=plain_rows(table), total=total)
