"""However many tasks there are, together they give every row once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from netdiag.io.kernels import VARIABLE
from netdiag.io.spark.reading import Progress, Reading, is_raw, read_batches, read_latencies, read_raw, read_tables
from netdiag.traffic.arrow_rows import rows_of
from netdiag.traffic.column import Kind
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.tables import NAMES, RAW_NAMES, table
from tests.io.spark.captures import START, capture


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Twelve conversations, and some bytes that are no packet."""
    file = Path(capture(tmp_path_factory.mktemp("captures") / "a.pcap"))
    file.write_bytes(file.read_bytes() + b"\x01\x02\x03")
    return str(file)


def reading(path: str, *tables: str, **more: Any) -> Reading:
    return Reading(paths=(path,), options=EngineOptions(tables=frozenset(tables)), **more)


def rows(whole: Reading, name: str, tasks: int) -> Counter[tuple[object, ...]]:
    found: Counter[tuple[object, ...]] = Counter()
    for number in range(tasks):
        for ready in read_tables(whole.share(number, tasks)):
            found.update(tuple(row) for row in ready[name])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_rows_do_not_depend_on_the_number_of_tasks(path: str, name: str) -> None:
    alone = rows(reading(path, *NAMES), name, 1)
    for tasks in (2, 3, 7):
        assert alone == rows(reading(path, *NAMES), name, tasks)
    assert alone or name not in ("exchanges", "connections", "losses")


@pytest.mark.parametrize("name", RAW_NAMES)
def test_raw_rows_do_not_either(path: str, name: str) -> None:
    assert is_raw(name)
    found = [Counter(row for n in range(of) for row in read_raw(reading(path).share(n, of), name)) for of in (1, 5)]
    assert found[0] == found[1]
    assert found[0].total() == 12 * 12
    assert all(len(row) == len(table(name).columns) for row in found[0])


def test_ports_count_for_raw_rows_too(path: str) -> None:
    for name in RAW_NAMES:
        none = Reading(paths=(path,), options=EngineOptions(ports=frozenset({1})))
        assert not list(read_raw(none, name))


def test_times_bound_what_is_read(path: str) -> None:
    since = (START + 300) * 1_000_000
    seen: list[Progress] = []
    for _ in read_tables(reading(path, "exchanges", since_ns=since), seen.append):
        pass
    assert seen[-1].first == since
    assert seen[-1].packets == 12 * 6


def test_the_end_tells_how_much_was_read(path: str) -> None:
    seen: list[Progress] = []
    for _ in read_tables(reading(path, "exchanges"), seen.append):
        pass
    assert seen[-1].read == Path(path).stat().st_size
    assert seen[-1].packets == 144
    assert seen[-1].first == START * 1_000_000


def test_partial_sums_count_every_exchange(path: str) -> None:
    for tasks in (1, 7):
        parts = [each for number in range(tasks) for each in read_latencies(reading(path).share(number, tasks))]
        assert sum(sum(each.column("requests").to_pylist()) for each in parts) == 36


@pytest.mark.parametrize("engine", ["python", "compiled"])
def test_batches_have_the_rows(path: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, engine)
    found: dict[str, list[tuple[object, ...]]] = {name: [] for name in NAMES}
    expected: dict[str, list[tuple[object, ...]]] = {name: [] for name in NAMES}
    wanted = ("outcome", "time")
    seen: list[Progress] = []
    for task in range(2):
        for ready in read_batches(reading(path, *NAMES).share(task, 2), {"exchanges": wanted}, seen.append):
            for name, batches in ready.items():
                found[name] += [row for batch in batches for row in rows_of(batch)]
        for rows_ready in read_tables(reading(path, *NAMES).share(task, 2)):
            for name, some in rows_ready.items():
                expected[name] += [tuple(_cut(name, row)) for row in some]
    outcomes = table("exchanges").names.index("outcome")
    expected["exchanges"] = [(row[outcomes], row[0]) for row in expected["exchanges"]]
    assert found == expected
    assert found["exchanges"]
    assert (seen[-1].packets, seen[-1].read) == (144, Path(path).stat().st_size)


def _cut(name: str, row: tuple[Any, ...]) -> list[object]:
    """Times in microseconds."""
    kinds = [column.kind for column in table(name).columns]
    return [
        value // 1000 if kind is Kind.TIME and value is not None else value
        for kind, value in zip(kinds, row, strict=True)
    ]
