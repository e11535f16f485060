"""Charts with a shade for every row and stretch of time."""

from typing import Any

from netdiag.render.analysis.charts import broker_maps, partition_maps
from netdiag.render.analysis.figure import Figure, TimeAxis
from netdiag.traffic.analysis import Buckets, Charts
from tests.render.analyses import answer
from tests.render.analysis_page.pages import SPAN, broken

GRID = TimeAxis(span=SPAN)


def boxes(figure: Figure) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = figure.drawn[0].spec["layer"][0]["data"]["values"]
    return found


def test_a_heat_map_has_a_row_per_partition_and_one_for_the_rest() -> None:
    charts = broken().charts
    assert charts is not None
    by_bytes, by_requests, by_errors = partition_maps(charts, GRID)
    assert [one.label for one in by_bytes.series] == [
        *(f"orders-{number}" for number in (5, 4, 3, 2, 1)),
        "all other partitions",
    ]
    assert by_bytes.columns == 60
    assert by_bytes.series[0].values[0] == 100_000
    assert by_bytes.summary == "orders-5 has 6.0 MB, 33% of all. Most is 100 kB of orders-5 at 22:13:20."
    assert {box["c"] for box in boxes(by_bytes) if box["y"] == 0} == {"var(--h4)"}
    assert by_requests.unit == ""
    assert by_errors.series[0].values[19:21] == (0, 2)
    assert by_bytes.table.rows[0] == ("orders-5", "6.0 MB", "1,080", "80", "22:13:20")


def test_shades_are_shares_of_the_greatest_value() -> None:
    rows = [{"bucket": n, "topic": "t", "partition": 0, "bytes": b} for n, b in enumerate((1, 5, 6, 15, 36, 66, 100))]
    charts = Charts(
        span=Buckets(first=0, length=1000, count=7),
        answers={"partitions_over_time": answer("partitions_over_time", *rows)},
    )
    (figure,) = partition_maps(charts, TimeAxis(span=charts.span))
    assert [box["c"][-2] for box in boxes(figure)] == ["0", "0", "1", "1", "3", "4", "4"]
    assert figure.legend[0] == ("to 5 B", "var(--h0)")


def test_brokers_are_told_apart_by_what_fails_by_latency_and_by_requests() -> None:
    charts = broken().charts
    assert charts is not None
    failures, latency, requests = broker_maps(charts, GRID)
    assert [one.label for one in failures.series] == ["10.0.0.8:9092", "10.0.0.9:9092", "all other brokers"]
    assert failures.summary == "10.0.0.9:9092 has 16,240, 100% of all. Most is 406 of 10.0.0.9:9092 at 22:16:40."
    assert latency.series[1].values[19:21] == (20, 1500)
    assert latency.summary == "Most is 1.5 s of 10.0.0.9:9092 at 22:16:40."
    assert latency.series[2].values[0] is None
    assert [figure.word for figure in (failures, latency, requests)] == ["failures", "latency", "requests"]
    assert failures.table.rows[1] == ("10.0.0.9:9092", "48,000", "16,240", "22:16:40", "1.5 s", "22:16:40")
    assert failures.table.rows[2][3:] == ("-", "-", "-")


def test_names_that_are_short_alike_are_two_rows() -> None:
    rows = [{"bucket": 0, "topic": f"{'x' * 40}{letter}{'y' * 40}", "partition": 0, "bytes": 9} for letter in "ab"]
    charts = Charts(span=SPAN, answers={"partitions_over_time": answer("partitions_over_time", *rows)})
    (figure,) = partition_maps(charts, GRID)
    assert len({one.label for one in figure.series}) == 2


def test_the_rest_do_not_make_the_others_pale() -> None:
    rows: list[dict[str, Any]] = [
        {"bucket": 0, "topic": "t", "partition": 0, "bytes": 9},
        {"bucket": 0, "bytes": 10**9},
    ]
    charts = Charts(span=SPAN, answers={"partitions_over_time": answer("partitions_over_time", *rows)})
    (figure,) = partition_maps(charts, GRID)
    assert [box["c"] for box in boxes(figure)] == ["var(--h4)", "var(--h4)"]


def test_without_rows_there_is_no_chart() -> None:
    assert partition_maps(Charts(span=SPAN), GRID) == ()
    assert broker_maps(Charts(span=SPAN), GRID) == ()
