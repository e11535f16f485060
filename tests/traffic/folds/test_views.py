"""Rows with what other rows of their exchange say."""

import random
from typing import Any

import pyarrow as pa
import pytest

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds.all_folds import VIEWS
from netdiag.traffic.folds.parts import OFFSETS_SCHEMA
from netdiag.traffic.folds.views import asked, placed, refused, sent
from netdiag.traffic.tables import NAMES, table
from tests.traffic.folds.anything import anything
from tests.traffic.folds.memory import InMemory, rows_of

PRODUCE, FETCH, LIST_OFFSETS, METADATA = 0, 1, 2, 3
WAITING = pa.table([["orders"], [0], [10]], schema=OFFSETS_SCHEMA)
Row = dict[str, object]


def row(correlation: int, api: int, **other: object) -> Row:
    return {"time": correlation, "connection": 1, "correlation_id": correlation, "api_key": api} | other


def place(correlation: int, api: int, **other: object) -> Row:
    return row(correlation, api, topic="orders", partition=0, error_code=0) | other


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_the_columns_of_its_schema(name: str) -> None:
    view, tables = VIEWS[name], anything(3)
    assert set(tables) == set(NAMES)
    shape = view.schema()
    for rows in view.rows(InMemory(WAITING, **tables), shape.names):
        assert set(shape.names) <= set(rows.column_names)
        assert rows.select(shape.names).cast(shape).num_rows == rows.num_rows


FIRSTS = {
    "each exchange": ([place(1, PRODUCE), place(2, PRODUCE)], [1, 1], [1, 1]),
    "two partitions of one exchange": ([place(1, PRODUCE), place(1, PRODUCE, partition=1)], [1, 0], [1, 1]),
    "one partition twice": ([place(1, PRODUCE), place(1, PRODUCE)], [1, 0], [1, 0]),
    "two topics": ([place(1, PRODUCE), place(1, PRODUCE, topic="users")], [1, 1], [1, 1]),
    "a topic without a name": ([place(1, PRODUCE, topic=None, topic_id="I" * 22)], [1], [1]),
    "fetches without records do not count": ([place(1, FETCH, records=0), place(1, FETCH, records=3)], [0, 1], [0, 1]),
    "nor those of replicas": ([place(1, FETCH, records=3, replica_id=2)], [0], [0]),
    "nor anything else": ([place(1, LIST_OFFSETS)], [0], [0]),
}


@pytest.mark.parametrize(("rows", "of_topic", "of_partition"), FIRSTS.values(), ids=FIRSTS)
def test_one_row_stands_for_an_exchange(rows: list[Row], of_topic: list[int], of_partition: list[int]) -> None:
    (found,) = asked(InMemory(partitions=rows_of("partitions", rows)), ["topic"])
    assert found["first_of_topic"].to_pylist() == of_topic
    assert found["first_of_partition"].to_pylist() == of_partition


ENDS = {
    "a fetch": (place(1, FETCH, high_watermark=9), 9),
    "a fetch of nothing known": (place(1, FETCH, high_watermark=-1), None),
    "a refused fetch": (place(1, FETCH, high_watermark=9, error_code=6), None),
    "the latest offset": (place(1, LIST_OFFSETS, timestamp=-1, response_offset=8), 8),
    "the earliest offset": (place(1, LIST_OFFSETS, timestamp=-2, response_offset=8), None),
    "what was produced": (place(1, PRODUCE, response_offset=5, records=2), 7),
    "produced without an answer": (place(1, PRODUCE, response_offset=-1, records=2), None),
}


@pytest.mark.parametrize(("rows", "end"), ENDS.values(), ids=ENDS)
def test_ends_of_logs(rows: Row, end: int | None) -> None:
    (found,) = asked(InMemory(partitions=rows_of("partitions", [rows])), ["topic"])
    assert found["log_end"].to_pylist() == [end]


def test_produced_batches_have_the_acks_of_their_request() -> None:
    batches = rows_of("batches", [place(1, PRODUCE), place(2, PRODUCE), place(3, FETCH)])
    exchanges = rows_of("exchanges", [row(1, PRODUCE, acks=-1), row(3, FETCH)])
    (found,) = sent(InMemory(batches=batches, exchanges=exchanges), ["acks", "topic"])
    assert sorted(zip(*(found[name].to_pylist() for name in ("correlation_id", "acks")), strict=True)) == [
        (1, -1),
        (2, None),
    ]


def test_batches_after_what_groups_committed_have_their_place() -> None:
    stamped = {"first_timestamp": 70, "max_timestamp": 80, "last_offset_delta": 4}
    batches = [
        place(1, PRODUCE, base_offset=0, **stamped),
        place(2, FETCH, base_offset=6, **stamped),
        place(2, FETCH, base_offset=5, **stamped),
        place(2, FETCH, base_offset=50, topic="users", **stamped),
        place(2, FETCH, base_offset=51, control=True, **stamped),
        place(3, PRODUCE, base_offset=0, **stamped),
    ]
    partitions = [place(1, PRODUCE, response_offset=20), place(3, PRODUCE, response_offset=-1), place(2, FETCH)]
    part = InMemory(WAITING, batches=rows_of("batches", batches), partitions=rows_of("partitions", partitions))
    found = [tuple(each.values()) for rows in placed(part, []) for each in rows.to_pylist()]
    assert sorted(found) == [("orders", 0, 6, 10, 70, 80), ("orders", 0, 20, 24, 70, 80)]


@pytest.mark.parametrize("seed", range(20))
def test_only_batches_at_an_offset_and_the_next_ones_are_placed(seed: int) -> None:
    chance = random.Random(seed)
    waits = {
        (topic, chance.randrange(3), chance.randrange(40)) for topic in ("a", "b") for _ in range(chance.randrange(9))
    }
    waiting = pa.Table.from_pylist(
        [dict(zip(OFFSETS_SCHEMA.names, each, strict=True)) for each in waits], OFFSETS_SCHEMA
    )
    every = [
        (
            *(chance.choice("abc"), chance.randrange(3), base := chance.randrange(60), base + chance.randrange(-1, 9)),
            *(chance.randrange(5), chance.randrange(5, 10)),
        )
        for _ in range(chance.randrange(80))
    ]
    batches = [
        place(number, FETCH, topic=topic, partition=partition)
        | {"base_offset": base, "last_offset_delta": last - base, "first_timestamp": first, "max_timestamp": most}
        for number, (topic, partition, base, last, first, most) in enumerate(every)
    ]
    part = InMemory(waiting, batches=rows_of("batches", batches), partitions=rows_of("partitions", []))
    found = [tuple(each.values()) for rows in placed(part, []) for each in rows.to_pylist()]
    for topic, partition, offset in waits:
        of_every, of_found = (met(rows, topic, partition, offset) for rows in (every, found))
        assert of_found == of_every
    assert set(found) <= set(every)
    assert len([each for each in found if each[3] >= each[2]]) <= len(waits) + sum(
        any(each[:2] == wait[:2] and each[2] <= wait[2] <= each[3] for wait in waits) for each in every
    )


def met(rows: list[Any], topic: str, partition: int, offset: int) -> tuple[list[Any], Any]:
    """The batches in which an offset lies, and where the first later one begins: all that `lag` asks."""
    behind = [each for each in rows if each[:2] == (topic, partition) and each[3] >= offset]
    return (
        sorted(each for each in behind if each[2] <= offset),
        min(((each[2], each[4]) for each in behind if each[2] > offset), default=None),
    )


def test_without_groups_no_batch_has_to_be_placed() -> None:
    assert list(placed(InMemory(batches=rows_of("batches", [place(1, FETCH, base_offset=5)])), [])) == []


def test_exchanges_with_an_error_of_their_own_of_a_partition_or_of_a_topic() -> None:
    exchanges = [row(number, PRODUCE, response_time=number + 10) for number in range(4)]
    exchanges[1] |= {"error_code": 41}
    partitions = [place(2, PRODUCE, error_code=3), place(0, PRODUCE)]
    leaders = [row(3, METADATA, error_code=5) | {"time": 13}, row(0, METADATA, error_code=5) | {"time": 14}]
    tables = {"exchanges": exchanges, "partitions": partitions, "leaders": leaders}
    part = InMemory(**{name: rows_of(name, rows) for name, rows in tables.items()})
    (found,) = refused(part, ["correlation_id"])
    assert found["correlation_id"].to_pylist() == [1, 2, 3]


def test_what_a_view_has_of_a_table_is_what_the_table_has() -> None:
    assert set(schema_of(table("partitions"), unit="us").names) < set(VIEWS["asked"].schema().names)
