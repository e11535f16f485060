"""What several exchanges tell together: names of topics by their id, offsets of fetch sessions."""

import uuid
from typing import Any

from netdiag.traffic.engine.assembly import Assembly
from tests.traffic.engine.bodies.messages import Value, answer, asked, context

TOPIC = uuid.UUID(int=9)
ID = "AAAAAAAAAAAAAAAAAAAACQ"
NAMES = ("partitions", "batches", "group_events", "endpoints", "leaders")


def _rows(*exchanges: tuple[int, int, Value, Value]) -> dict[str, list[tuple[Any, ...]]]:
    assembly, where = Assembly(), context()
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in NAMES}
    for api_key, version, request, response in exchanges:
        pair = asked(api_key, version, request), answer(api_key, version, response)
        assembly.learn(where, *pair)
        assembly.add(rows, where, *pair)
    assert assembly.topic_ids.names.get(ID) in (None, "orders")
    return rows


METADATA: tuple[int, int, Value, Value] = (
    3,
    12,
    {},
    {"topics": [{"name": "orders", "topic_id": TOPIC, "partitions": []}]},
)


def _fetch(session: int, epoch: int, *offsets: int) -> tuple[int, int, Value, Value]:
    partitions = [{"partition": 0, "fetch_offset": offset} for offset in offsets]
    topics = [{"topic_id": TOPIC, "partitions": partitions}] if offsets else []
    news = [{"topic_id": TOPIC, "partitions": [{"partition_index": 0, "high_watermark": 70, "records": b""}]}]
    return (
        1,
        13,
        {"session_id": session, "session_epoch": epoch, "topics": topics},
        {"session_id": 8, "responses": news},
    )


def test_an_incremental_fetch_has_the_offset_in_force() -> None:
    rows = _rows(_fetch(0, 0, 42), _fetch(8, 1), _fetch(8, 2, 50), _fetch(8, 3))["partitions"]
    assert [row.request_offset for row in rows] == [42, 42, 50, 50]  # type: ignore[attr-defined]


def test_a_name_is_known_from_the_message_on_that_tells_it() -> None:
    rows = _rows(_fetch(0, 0, 42), METADATA, _fetch(8, 1))["partitions"]
    assert [(row.topic, row.topic_id) for row in rows] == [(None, ID), ("orders", ID)]  # type: ignore[attr-defined]


def test_only_wanted_tables_are_filled() -> None:
    assembly, where = Assembly(), context()
    rows: dict[str, list[tuple[Any, ...]]] = {"leaders": []}
    pair = asked(*METADATA[:2], METADATA[2]), answer(*METADATA[:2], METADATA[3])
    assembly.learn(where, *pair)
    assembly.add(rows, where, *pair)
    assert rows == {"leaders": []}
