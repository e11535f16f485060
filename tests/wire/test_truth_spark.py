"""Bar: what the aggregates say of groups equals what the broker logs and kafka-consumer-groups describes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from netdiag.traffic.aggregates.groups import rebalances
from netdiag.traffic.aggregates.lag import lag
from netdiag.traffic.arrow import record_batch, schema_of
from netdiag.traffic.tables import table
from tests.figures import Report as Figure
from tests.native.reading import rows_of_files
from tests.wire.traffic.facts import Recording
from tests.wire.triggers import wrong_lags, wrong_rebalances

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Frame = DataFrame


@pytest.mark.bar("wire-truth", long=True)
def test_groups_in_the_aggregates(recording: Recording, spark: "SparkSession", figure: Figure) -> None:
    rows = rows_of_files(recording.files["bridge"])
    names = ("group_events", "leaders", "partitions", "batches", "exchanges")
    frames = {name: _frame(spark, name, rows[name]) for name in names}
    groups = _collected(rebalances(frames["group_events"], frames["leaders"]))
    behind = _collected(lag(frames["partitions"], frames["batches"], frames["exchanges"]))
    wrong, compared = wrong_rebalances(recording.facts, groups)
    version = recording.version
    figure(f"Kafka {version}: rebalances as the broker logs them", f"{len(groups)}, triggers compared {compared}")
    wrong += wrong_lags(recording.facts, behind)
    figure(f"Kafka {version}: lags of the aggregate as described", len(recording.facts.positions))
    assert compared
    assert not wrong, "\n".join(wrong)


def _frame(spark: "SparkSession", name: str, rows: Sequence[tuple[Any, ...]]) -> "Frame":
    if not rows:
        return spark.createDataFrame(schema_of(table(name), unit="us").empty_table())
    return spark.createDataFrame(pa.Table.from_batches([record_batch(table(name), list(rows), unit="us")]))


def _collected(frame: "Frame") -> list[Mapping[str, Any]]:
    return [row.asDict() for row in frame.collect()]
