"""Pairs that Python looks at teach names, and give rows of rare tables."""

from random import Random
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled import rare as tested
from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.ends import CONTEXT, Connections, Ends
from netdiag.traffic.engine.compiled.layout import FROM_TWIN, NOTHING, PAIR
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.rare import Held, Rare
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.bodies.messages import answer, asked
from tests.traffic.engine.compiled.exchanges import FakeStore
from tests.traffic.engine.compiled.test_read_back import metadata, store

ENDS = Ends(5, "10.0.0.1:40000", "10.0.0.2:9092", None)


def rare(**filters: frozenset[str]) -> tuple[Rare, Naming]:
    options = EngineOptions(tables=frozenset({"endpoints", "leaders", "group_events"}), **filters)  # type: ignore[arg-type]
    naming = Naming(options, ["a.pcap"])
    return Rare(options, naming), naming


def look(
    looks: Rare, messages: FakeStore, numbers: list[tuple[int, int]], held: Held, serial: int
) -> tuple[Arenas, list[tuple[int, int]]]:
    """What is said of pairs of messages of these numbers, and the numbers that they have of now."""
    pairs = np.zeros(len(numbers), PAIR)
    pairs["asked"], pairs["answer"] = zip(*numbers, strict=True)
    places = np.zeros(len(numbers), np.int64)
    connections = Connections(places[:1], places, np.zeros(1, CONTEXT), {0: ENDS})
    arenas = looks.look(messages, pairs, np.arange(len(numbers)), connections, held, serial)
    return arenas, [*zip(pairs["asked"].tolist(), pairs["answer"].tolist(), strict=True)]


def test_a_raw_message_is_read_and_becomes_a_record() -> None:
    request, response = metadata()
    looks, _ = rare()
    both = store((request, len(request)), (response, len(response)))
    arenas, numbers = look(looks, both, [(0, 1)], {}, 3)
    assert numbers == [(-2, -3)]
    (row,) = looks.rows["endpoints"]
    assert (row.host, row.port, row.connection) == ("kafka", 9092, 5)  # type: ignore[attr-defined]
    assert arenas.facts["size"].tolist() == [len(request), len(response)]


def test_a_record_stays_where_it_is() -> None:
    looks, _ = rare()
    both = store((b"", 0), (b"", 0))
    both.facts["raw"] = NOTHING
    both.facts["api_key"] = 12
    assert look(looks, both, [(0, 1)], {}, 3)[1] == [(0, 1)]
    assert len(looks.rows["group_events"]) == 1


def test_what_the_plain_engine_holds_teaches_names() -> None:
    looks, naming = rare()
    number = np.arange(16, dtype=np.uint8).tobytes()
    topic = {"name": "orders", "topic_id": UUID(bytes=number), "partitions": []}
    held: Held = {4: asked(3, 12, {}), 9: answer(3, 12, {"topics": [topic]})}
    pair = FROM_TWIN - 4, FROM_TWIN - 9
    assert look(looks, store(), [pair, (NOTHING, FROM_TWIN - 9)], held, 3)[1] == [(-2, -3), (NOTHING, -4)]
    assert naming.topic_ids.name(number) == "orders"


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ({"clients": frozenset({"app"})}, 1),
        ({"clients": frozenset({"else"})}, 0),
        ({"brokers": frozenset({"10.0.0.2"})}, 1),
        ({"brokers": frozenset({"10.0.0.3"})}, 0),
        ({"topics": frozenset({"orders"})}, 1),
        ({"topics": frozenset({"others"})}, 0),
    ],
)
def test_only_rows_that_are_wanted_are_made(filters: dict[str, frozenset[str]], rows: int) -> None:
    request, response = metadata()
    looks, _ = rare(**filters)
    look(looks, store((request, len(request)), (response, len(response))), [(0, 1)], {}, 3)
    assert len(looks.rows["endpoints"]) == rows


@pytest.mark.parametrize("seed", range(8))
def test_what_comes_again_is_the_record_that_reading_it_again_would_give(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(seed)
    monkeypatch.setattr(tested, "_MOST", chance.choice((8, 1 << 16)))
    options = EngineOptions(tables=frozenset({"exchanges", "partitions"}))
    naming = Naming(options, ["a.pcap"])
    knows = Rare(options, naming)
    pool = [_damaged(chance, *_exchange(chance)) for _ in range(6)]
    for serial in range(30):
        numbers = [chance.randrange(100) for _ in range(10)]
        parts = [part for _ in range(5) for part in chance.choice(pool)]
        for place in range(0, 10, 2):
            parts[place] = (
                parts[place][:4] + numbers[place].to_bytes(4, "big")[: len(parts[place]) - 4] + parts[place][8:]
            )
        both = store(*((part, len(part)) for part in parts))
        both.facts["correlation_id"] = numbers
        for name in ("start_time", "file"):
            both.facts[name] = [chance.randrange(100) for _ in parts]
        pairs = [(number, chance.choice((number + 1, number + 1, NOTHING))) for number in range(0, 10, 2)]
        # One that never saw such a pair reads it.
        known = _told(*look(knows, both, pairs, {}, serial))
        assert known == [
            each for pair in pairs for each in _told(*look(Rare(options, naming), both, [pair], {}, serial))
        ]
        if chance.random() < 0.1:
            knows.forget()


def _exchange(chance: Random) -> tuple[bytes, bytes]:
    names = chance.sample(["orders", "payments", "clicks"], chance.randint(0, 3))
    client = chance.choice(("app", "other"))
    asked = wire.encode_request(3, 12, 42, client, {"topics": [{"name": name} for name in names]})[4:]
    topics = [{"name": name, "topic_id": UUID(int=len(name)), "partitions": []} for name in names]
    return asked, wire.encode_response(3, 12, 42, {"topics": topics, "cluster_id": "c1"})[4:]


def _damaged(chance: Random, *messages: bytes) -> list[bytes]:
    return [part[: chance.randrange(len(part))] if chance.random() < 0.3 else part for part in messages]


def _told(arenas: Arenas, numbers: list[tuple[int, int]]) -> list[Any]:
    """All that the records of some numbers say, wherever that lies."""
    rows: dict[str, Any] = {
        name: getattr(arenas, name).tolist() for name in ("topics", "partitions", "batches", "forgotten")
    }
    said = []
    for number in (each for pair in numbers for each in pair):
        record = None if number == NOTHING else arenas.facts[NOTHING - 1 - number]
        said.append(
            record
            if record is None
            else {
                name: rows[name][slice(*record[name])] if name in rows else record[name].tolist()
                for name in record.dtype.names
            }
        )
    return said
