"""The written-out list of what a report draws: what each chart asks of the tables, in which order, and how much."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.lag_over_time import lag_over_time
from netdiag.traffic.aggregates.over_time import (
    brokers_over_time,
    connections_over_time,
    errors_over_time,
    partitions_over_time,
    traffic_over_time,
)
from netdiag.traffic.aggregates.questions import Tables
from netdiag.traffic.aggregates.worst_connections import MOST, worst_connections
from netdiag.traffic.buckets import Buckets


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
        most=MOST,
    ),
}


def drawn(name: str, tables: Tables, span: Buckets) -> DataFrame:
    """The rows of a chart in its order."""
    chart = CHARTS[name]
    rows = chart.ask(tables, span).orderBy(*[F.desc_nulls_last(column) for column in chart.first], *chart.then)
    return rows if chart.most is None else rows.limit(chart.most)
