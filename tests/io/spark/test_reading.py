"""However many tasks there are, together they give every row once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from netdiag.io.spark.reading import Progress, Reading, read_batches, read_latencies
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES, RAW_NAMES, table
from tests.native.conversations import START, capture


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twelve conversations, and some bytes that are no packet."""
    file = Path(capture(tmp_path_factory.mktemp("captures") / "a.pcap"))
    file.write_bytes(file.read_bytes() + b"\x01\x02\x03")
    return str(file)


def reading(path: str, *tables: str, **more: Any) -> Reading:
    return Reading(paths=(path,), options=ReadOptions(tables=frozenset(tables)), **more)


def rows(whole: Reading, name: str, tasks: int) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for number in range(tasks):
        for ready in read_batches(whole.share(number, tasks)):
            found.update(row for batch in ready.get(name, ()) for row in rows_of(batch))
    return found


def rows_of(batch: pa.RecordBatch) -> list[tuple[object, ...]]:
    cells = (tuple(row.values()) for row in batch.to_pylist())
    return [tuple(tuple(cell) if isinstance(cell, list) else cell for cell in row) for row in cells]


@pytest.mark.parametrize("name", NAMES)
def test_rows_do_not_depend_on_the_number_of_tasks(path: str, name: str) -> None:
    alone = rows(reading(path, *NAMES), name, 1)
    for tasks in (2, 3, 7):
        assert alone == rows(reading(path, *NAMES), name, tasks)
    assert alone or name not in ("exchanges", "connections", "losses")


@pytest.mark.parametrize("name", RAW_NAMES)
def test_raw_rows_do_not_either(path: str, name: str) -> None:
    found = rows(reading(path, name), name, 1)
    assert found == rows(reading(path, name), name, 5)
    assert found.total() == 12 * 12
    assert all(len(row) == len(table(name).columns) for row in found)


def test_ports_count_for_raw_rows_too(path: str) -> None:
    for name in RAW_NAMES:
        none = Reading(paths=(path,), options=ReadOptions(tables=frozenset({name}), ports=frozenset({1})))
        assert not rows(none, name, 1)
        some = Reading(paths=(path,), options=ReadOptions(tables=frozenset({name}), ports=frozenset({9092})))
        assert rows(some, name, 1) == rows(reading(path, name), name, 1)


def test_times_bound_what_is_read(path: str) -> None:
    since = (START + 300) * 1_000_000
    seen: list[Progress] = []
    for _ in read_batches(reading(path, "exchanges", since_ns=since), tell=seen.append):
        pass
    assert seen[-1].first == since
    assert seen[-1].packets == 12 * 6


def test_the_end_tells_how_much_was_read(path: str) -> None:
    seen: list[Progress] = []
    for _ in read_batches(reading(path, "exchanges"), tell=seen.append):
        pass
    assert seen[-1].read == Path(path).stat().st_size
    assert seen[-1].packets == 144
    assert seen[-1].first == START * 1_000_000


def test_partial_sums_count_every_exchange(path: str) -> None:
    for tasks in (1, 7):
        parts = [each for number in range(tasks) for each in read_latencies(reading(path).share(number, tasks))]
        assert sum(sum(each.column("requests").to_pylist()) for each in parts) == 36


def test_only_the_columns_that_are_wanted(path: str) -> None:
    wanted = ("outcome", "time")
    (ready,) = read_batches(reading(path, "exchanges"), {"exchanges": wanted})
    (batch,) = ready["exchanges"]
    assert tuple(batch.schema.names) == wanted
    outcomes = table("exchanges").names.index("outcome")
    (whole,) = next(iter(read_batches(reading(path, "exchanges"))))["exchanges"]
    assert rows_of(batch) == [(row[outcomes], row[0]) for row in rows_of(whole)]
