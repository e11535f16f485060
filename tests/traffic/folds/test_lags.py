"""Where groups stand in the log, and which batches they wait for."""

import random
from typing import Any

import pyarrow as pa
import pytest

from netdiag.traffic.folds import stamps, waiting

PLACES = ("topic", "partition", "_base", "_last", "_first_stamp", "_last_stamp")
COMMIT, TOLD = 8, 9
OFFSETS = pa.schema(
    [
        *[("api_key", pa.int16()), ("group", pa.string()), ("topic", pa.string()), ("topic_id", pa.string())],
        *[("partition", pa.int32()), ("error_code", pa.int16()), ("time", pa.int64())],
        *[("request_offset", pa.int64()), ("response_offset", pa.int64()), ("log_end", pa.int64())],
    ]
)


def commit(time: int, group: str | None, offset: int, **other: object) -> dict[str, object]:
    row = {"api_key": COMMIT, "time": time, "group": group, "topic": "orders", "partition": 0, "request_offset": offset}
    return dict.fromkeys(OFFSETS.names) | row | other


CASES = {
    "the last one counts, not the greatest": ([commit(1, "a", 9), commit(2, "a", 5)], {("orders", 0, 5)}),
    "several groups": ([commit(1, "a", 9), commit(2, "b", 20)], {("orders", 0, 9), ("orders", 0, 20)}),
    "several groups at one place": ([commit(1, "a", 9), commit(2, "b", 9)], {("orders", 0, 9)}),
    "of one time the greatest": ([commit(1, "a", 7), commit(1, "a", 6)], {("orders", 0, 7)}),
    "a refused one does not count": ([commit(1, "a", 9), commit(2, "a", 5, error_code=16)], {("orders", 0, 9)}),
    "what is told counts": (
        [commit(1, "a", 9), commit(2, "a", -1, api_key=TOLD, response_offset=4)],
        {("orders", 0, 4)},
    ),
    "no offset yet": ([commit(1, "a", -1, api_key=TOLD, response_offset=-1)], set()),
    "a topic without a name is its id": ([commit(1, "a", 9, topic=None, topic_id="I" * 22)], {("I" * 22, 0, 9)}),
    "ends of logs are nobody's": ([commit(1, None, 9, api_key=1, log_end=8)], set()),
}


@pytest.mark.parametrize(("rows", "places"), CASES.values(), ids=CASES)
def test_where_groups_are(rows: list[dict[str, object]], places: set[tuple[str, int, int]]) -> None:
    found = waiting(pa.Table.from_pylist(rows, schema=OFFSETS)).to_pylist()
    assert sorted((row["topic"], row["partition"], row["offset"]) for row in found) == sorted(places)


@pytest.mark.parametrize("seed", range(20))
def test_only_batches_at_an_offset_and_the_next_ones_are_kept(seed: int) -> None:
    chance = random.Random(seed)
    waits = {
        (topic, chance.randrange(3), chance.randrange(40)) for topic in ("a", "b") for _ in range(chance.randrange(9))
    }
    every = [
        (
            *(chance.choice("abc"), chance.randrange(3), base := chance.randrange(60), base + chance.randrange(-1, 9)),
            *(chance.randrange(5), chance.randrange(5, 10)),
        )
        for _ in range(chance.randrange(80))
    ]
    lists: dict[tuple[str, int], list[Any]] = {}
    for each in every:
        lists.setdefault(each[:2], []).append(each[2:])
    rows = [
        {"topic": topic, "topic_id": None, "partition": partition}
        | {name: [each[number] for each in known] for number, name in enumerate(PLACES[2:])}
        for (topic, partition), known in lists.items()
    ]
    texts, numbers = [("topic", pa.string()), ("topic_id", pa.string())], pa.list_(pa.int64())
    shape = pa.schema([*texts, ("partition", pa.int32()), *((name, numbers) for name in PLACES[2:])])
    places = pa.schema([("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())])
    given = pa.Table.from_pylist([dict(zip(places.names, each, strict=True)) for each in waits], places)
    table = stamps(pa.Table.from_pylist(rows, shape), given)
    found = list(zip(*(table[name].to_pylist() for name in PLACES), strict=True))
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
        sorted({each for each in behind if each[2] <= offset}),
        min(((each[2], each[4]) for each in behind if each[2] > offset), default=None),
    )
