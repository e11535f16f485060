"""Exchanges summed up are the sums of all, however they were split; their percentiles are within 0.4 %."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.traffic.arrow import record_batch, schema_of
from netdiag.traffic.latencies import EXCHANGE_COLUMNS, KEYS, SUMS, latencies, merged, percentiles
from netdiag.traffic.tables import table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = Mapping[str, Any]
KEYED, SUMMED = (*KEYS, "bucket"), (*SUMS, "latency_ns")
RELATIVE_ERROR = 0.5 / 128
DAY = 86_400 * 10**9


def bucket_of(nanoseconds: int) -> int:
    """128 buckets between a power of two and the next."""
    shift = max(0, nanoseconds.bit_length() - 8)
    return (shift << 7) + (nanoseconds >> shift)


def row(**given: Any) -> Row:
    usual = {"client": "10.0.0.2:4000", "broker": "b:9092", "api_name": "Fetch", "outcome": "answered"}
    return {**dict.fromkeys(EXCHANGE_COLUMNS), **usual, **given}


def answered(took: int, **given: Any) -> Row:
    return row(**{"latency_ms": took / 1e6, "request_bytes": 3, "response_bytes": 7, **given})


def batches_of(rows: Sequence[Row], at_once: int = 1000) -> list[pa.RecordBatch]:
    shape = schema_of(table("exchanges"), EXCHANGE_COLUMNS, unit="us")
    return [
        pa.RecordBatch.from_pylist(list(rows[begin : begin + at_once]), schema=shape)
        for begin in range(0, len(rows), at_once)
    ]


def summed_up(rows: Sequence[Row], at_once: int = 1000, most: int = 1000) -> list[Row]:
    return [each for batch in latencies(batches_of(rows, at_once), most) for each in batch.to_pylist()]


def added(parts: Sequence[Row]) -> dict[tuple[Any, ...], Counter[str]]:
    found: dict[tuple[Any, ...], Counter[str]] = {}
    for each in parts:
        sums = Counter({name: each[name] for name in SUMMED})
        found.setdefault(tuple(each[name] for name in KEYED), Counter()).update(sums)
    return found


def plainly(rows: Sequence[Row]) -> dict[tuple[Any, ...], Counter[str]]:
    """The sums of exchanges, one after the other."""
    found: dict[tuple[Any, ...], Counter[str]] = {}
    for each in rows:
        took = None if each["latency_ms"] is None else round(each["latency_ms"] * 1e6)
        host = each["client"].rpartition(":")[0].strip("[]")
        key = (each["api_name"], host, each["client_id"], each["broker"], None if took is None else bucket_of(took))
        found.setdefault(key, Counter()).update(
            requests=each["request_bytes"] is not None,
            responses=each["response_bytes"] is not None,
            unanswered=each["outcome"] == "unanswered",
            errors=bool(each["error_code"]),
            request_bytes=each["request_bytes"] or 0,
            response_bytes=each["response_bytes"] or 0,
            latency_ns=took or 0,
        )
    return found


def by_chance(count: int) -> list[Row]:
    chance = random.Random(count)
    found = []
    for _ in range(count):
        given: dict[str, Any] = {
            "client": chance.choice(["10.0.0.1:5", "10.0.0.1:6", "[fd00::1]:7"]),
            "client_id": chance.choice(["a", None]),
            "api_name": chance.choice(["Fetch", "Produce", None]),
            "error_code": chance.choice([0, 3, -1, None]),
        }
        took = chance.choice([0, 1, 255, 256, chance.randrange(10**4), chance.randrange(2 ** chance.randrange(1, 50))])
        found.append(chance.choice([answered(took, **given), row(**given, outcome="unanswered", request_bytes=4)]))
    return found


def test_what_is_counted() -> None:
    found = summed_up(
        [
            answered(1000),
            answered(1001, error_code=3),
            row(request_bytes=5, outcome="unanswered"),
            row(api_name=None, response_bytes=9, outcome="no-request", client="[fd00::1]:5"),
        ]
    )
    assert [tuple(each[name] for name in (*KEYED, *SUMMED)) for each in found] == [
        ("Fetch", "10.0.0.2", None, "b:9092", bucket_of(1000), 2, 2, 0, 1, 6, 14, 2001),
        ("Fetch", "10.0.0.2", None, "b:9092", None, 1, 0, 1, 0, 5, 0, 0),
        (None, "fd00::1", None, "b:9092", None, 0, 1, 0, 0, 0, 9, 0),
    ]


@pytest.mark.parametrize("at_once", [1, 7, 400])
@pytest.mark.parametrize("most", [3, 1000])
def test_batches_of_any_size_give_the_sums_of_their_rows(at_once: int, most: int) -> None:
    rows = by_chance(300)
    assert added(summed_up(rows, at_once, most)) == plainly(rows)


@given(
    st.lists(st.tuples(st.integers(0, 10**12), st.sampled_from(["a", "b", None])), max_size=60),
    st.sampled_from([1, 2, 3, 7]),
    st.integers(1, 9),
)
def test_splitting_changes_nothing(drawn: list[tuple[int, str | None]], tasks: int, most: int) -> None:
    rows = [answered(took, client_id=client) for took, client in drawn]
    parts = [summed_up(rows[number::tasks], 10, most) for number in range(tasks)]
    random.Random(0).shuffle(parts)
    assert added([each for part in parts for each in part]) == plainly(rows)


def test_rows_alike_are_one_and_what_is_held_is_bounded() -> None:
    found = summed_up(by_chance(200), 10)
    assert len({tuple(each[name] for name in KEYED) for each in found}) == len(found)
    several = [answered(1, client_id=str(number)) for number in range(25)]
    assert [batch.num_rows for batch in latencies(batches_of(several, 1), 10)] == [20, 5]


def test_long_names_of_clients_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdiag.traffic.latencies._LARGE", 100_000)
    several = [answered(1, client_id=str(number) * 30_000) for number in range(8)]
    assert [batch.num_rows for batch in latencies(batches_of(several, 1))] == [4, 4]


def test_nothing_gives_nothing() -> None:
    assert summed_up([]) == []


@given(st.integers(0, 7 * DAY))
def test_longer_is_never_in_an_earlier_bucket(nanoseconds: int) -> None:
    one, two = (each["bucket"] for took in (nanoseconds, nanoseconds + 1) for each in summed_up([answered(took)]))
    assert two - one in (0, 1)


def test_a_bucket_fits_its_column() -> None:
    assert bucket_of(2**63 - 1) < 2**15
    took = (0, 1, 255, 256, 257, 258, 511, 512)
    assert [bucket_of(each) for each in took] == [0, 1, 255, 256, 256, 257, 383, 384]
    (early,) = summed_up([answered(-5)])
    assert (early["bucket"], early["latency_ns"]) == (0, 0)


def frame(spark: "SparkSession", rows: Sequence[Row]) -> "DataFrame":
    cells = [tuple(each[name] for name in table("latencies").names) for each in rows]
    return spark.createDataFrame(pa.Table.from_batches([record_batch(table("latencies"), cells, unit="us")]))


def test_percentiles_are_within_their_error(spark: "SparkSession") -> None:
    chance = random.Random(3)
    took = sorted(int(chance.lognormvariate(15, 2)) for _ in range(1001))
    rows = [answered(each) for each in took]
    chance.shuffle(rows)
    parts = [*summed_up(rows[:300]), *summed_up(rows[300:], most=7), *summed_up([row(request_bytes=1)])]
    (found,) = percentiles(frame(spark, parts), "api_name").collect()
    assert (found["requests"], found["responses"], found["response_bytes"]) == (1002, 1001, 7007)
    for percent, exact in ((50, took[500]), (95, took[950]), (99, took[990])):
        assert abs(found[f"latency_p{percent}_ms"] * 1e6 - exact) <= RELATIVE_ERROR * exact + 1
    assert abs(found["latency_max_ms"] * 1e6 - took[-1]) <= RELATIVE_ERROR * took[-1] + 1
    assert abs(found["latency_mean_ms"] * 1e6 - sum(took) / len(took)) < 1


def test_a_key_and_bucket_is_one_row_when_merged(spark: "SparkSession") -> None:
    parts = [each for _ in range(3) for each in summed_up([answered(5), answered(70_000), row(request_bytes=1)])]
    found = merged(frame(spark, parts)).orderBy("bucket").collect()
    assert [(each["bucket"], each["requests"], each["latency_ns"]) for each in found] == [
        (None, 3, 0),
        (5, 3, 15),
        (bucket_of(70_000), 3, 210_000),
    ]


def test_the_middle_of_a_bucket_is_near_everything_in_it(spark: "SparkSession") -> None:
    chance = random.Random(5)
    took = [0, 1, 127, 128, 255, 256, 511, 512, *(chance.randrange(2 ** chance.randrange(1, 50)) for _ in range(60))]
    rows = [answered(one, client_id=str(one)) for one in took]
    for each in percentiles(frame(spark, summed_up(rows))).collect():
        exact = int(each["client_id"])
        assert abs(each["latency_max_ms"] * 1e6 - exact) <= RELATIVE_ERROR * exact + 1e-6
