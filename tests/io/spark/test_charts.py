"""What a report draws, asked of tables."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pyspark.sql import SparkSession

from netdiag.io.spark.charts import charts_of
from netdiag.traffic.aggregates.connections import WORST
from netdiag.traffic.aggregates.questions import CHARTS
from netdiag.traffic.analysis import MOST_BUCKETS, Charts
from netdiag.traffic.tables import NAMES
from tests.traffic.aggregates.frames import T0, S, frame


def charts(spark: SparkSession, rows: dict[str, list[dict[str, Any]]]) -> Charts | None:
    tables = {name: frame(spark, name, *rows.get(name, [])) for name in NAMES}
    with ThreadPoolExecutor(2) as pool:
        return charts_of(tables, {name: len(rows.get(name, [])) for name in NAMES}, pool.submit)


def test_there_are_no_more_rows_than_buckets_and_what_is_cut_is_counted(spark: SparkSession) -> None:
    exchanges = [{"time": T0 + number * 7 * S, "connection": number, "request_bytes": 10} for number in range(900)]
    connections = [{"connection": number, "first_time": T0, "last_time": T0 + S} for number in range(WORST + 9)]
    found = charts(spark, {"exchanges": exchanges, "connections": connections})
    assert found is not None
    assert found.span.count <= MOST_BUCKETS
    assert len(found.rows("traffic_over_time")) <= found.span.count
    assert sum(row["requests"] for row in found.rows("traffic_over_time")) == 900
    assert len(found.rows("worst_connections")) == WORST
    assert found.answers["worst_connections"].total == WORST + 9
    assert set(found.answers) == {name for name, chart in CHARTS.items() if chart.of in ("exchanges", "connections")}


def test_without_a_moment_there_is_nothing_to_draw(spark: SparkSession) -> None:
    assert charts(spark, {}) is None
