"""Rows out of arrays are the rows of the plain engine: of random facts, and of conversations."""

from dataclasses import replace
from random import Random

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.compiled.columns import TABLES, Columns
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.places import Places
from tests.traffic.engine.compiled.exchanges import Chunks, heard, plain_rows, rows_of
from tests.traffic.engine.compiled.random_exchanges import random_exchanges
from tests.traffic.engine.packets import Talker

FILES = ["a.pcap"]
ALL = EngineOptions(tables=frozenset(TABLES))


def only_plain(message: Asked | Answer) -> bool:
    """What no record says: the rest of such a message was kept raw, and is read by Python."""
    said = {"names", "endpoints", "leaders"}
    return message.facts is not None and not said.isdisjoint(vars(message.facts))


@pytest.mark.parametrize("seed", range(6))
def test_random_exchanges_have_the_rows_of_the_plain_engine(seed: int) -> None:
    random = Random(seed)
    exchanges = random_exchanges(random, 300)
    columns = Columns(ALL, FILES, rows=64)
    share = (0.0, 0.3, 1.0)[seed % 3]
    chunks = Chunks(
        columns,
        size=random.choice([1, 13, 300]),
        holds=lambda message: only_plain(message) or random.random() < share,
        keeps=lambda: random.random() < 0.8,
    )
    chunks.feed(exchanges)
    assert rows_of(columns) == plain_rows(ALL, FILES, exchanges)
    assert not any(rows_of(columns).values())


def test_rows_are_the_same_when_the_texts_are_counted_anew() -> None:
    exchanges = random_exchanges(Random(11), 200)
    columns = Columns(ALL, FILES, most_texts=40)
    Chunks(columns, size=3, holds=only_plain).feed(exchanges)
    assert rows_of(columns) == plain_rows(ALL, FILES, exchanges)


@pytest.mark.parametrize(
    "filters",
    [
        {"clients": frozenset({"app-1"})},
        {"clients": frozenset({"10.0.0.2"})},
        {"clients": frozenset({"10.0.0.1:40001", "app-2"})},
        {"brokers": frozenset({"10.0.1.1"})},
        {"brokers": frozenset({"10.0.1.0:9092"}), "topics": frozenset({"topic-1"})},
        {"topics": frozenset({"topic-0"})},
        {"topics": frozenset({"nothing"})},
    ],
)
def test_filters_let_the_same_through(filters: dict[str, frozenset[str]]) -> None:
    options = replace(ALL, **filters)  # type: ignore[arg-type]
    exchanges, rows = heard(options, conversations())
    for holds in (only_plain, lambda message: True):
        columns = Columns(options, FILES)
        Chunks(columns, holds=holds).feed(exchanges)
        assert rows_of(columns) == {name: list(map(tuple, made)) for name, made in rows.items()}
    whole = heard(ALL, conversations())[1]["exchanges"]
    assert len(rows["exchanges"]) < len(whole)


def test_ends_have_the_names_that_places_know() -> None:
    places = Places(hosts={"10.0.0.1": "app"}, ports={"10.0.1.0:9092": ("kafka", "INTERNAL")})
    options = EngineOptions(tables=frozenset({"exchanges"}), places=places)
    exchanges, rows = heard(options, conversations())
    columns = Columns(options, FILES)
    Chunks(columns).feed(exchanges)
    assert rows_of(columns) == rows
    assert {"kafka"} <= {row.broker_name for row in rows["exchanges"]}  # type: ignore[attr-defined]


def test_only_the_columns_asked_for_are_made() -> None:
    exchanges = random_exchanges(Random(3), 50)
    options = EngineOptions(tables=frozenset({"exchanges"}))
    columns = Columns(options, FILES, columns={"exchanges": ("latency_ms", "client", "topics")})
    Chunks(columns).feed(exchanges)
    (batch,) = columns.drain()["exchanges"]
    assert batch.schema.names == ["latency_ms", "client", "topics"]
    rows = plain_rows(options, FILES, exchanges)["exchanges"]
    expected = [(row.latency_ms, row.client, row.topics) for row in rows]  # type: ignore[attr-defined]
    found = [(row["latency_ms"], row["client"], row["topics"] and tuple(row["topics"])) for row in batch.to_pylist()]
    assert found == expected


def test_rows_wait_until_there_are_enough() -> None:
    columns = Columns(EngineOptions(tables=frozenset({"exchanges"})), FILES, rows=40)
    Chunks(columns).feed(random_exchanges(Random(4), 30))
    assert columns.drain(least=31) == {"exchanges": []}
    Chunks(columns).feed(random_exchanges(Random(5), 30))
    assert [batch.num_rows for batch in columns.drain(least=31)["exchanges"]] == [40]
    assert [batch.num_rows for batch in columns.drain()["exchanges"]] == [20]


def test_names_of_topic_ids_are_kept() -> None:
    columns = Columns(ALL, FILES)
    exchanges = random_exchanges(Random(6), 200)
    Chunks(columns, holds=only_plain).feed(exchanges)
    told = {name for each in exchanges if each.answer and each.answer.facts for _, name in each.answer.facts.names}
    assert set(columns.topic_names.values()) - {"__cluster_metadata"} <= told
    assert len(columns.topic_names) > 2


def conversations() -> list[Packet]:
    """Three clients that ask two brokers for three topics."""
    packets = []
    for number in range(3):
        talker = Talker(f"10.0.0.{number}:4000{number}", f"10.0.1.{number % 2}:9092", start=1_700_000_000_000 + number)
        talker.next = [1000 * number, 70_000_000 * number]
        talker.open()
        for ask in range(4):
            request = {"topics": [{"name": f"topic-{(ask + number) % 3}"}]}
            talker.ask(wire.encode_request(3, 12, ask, f"app-{number}", request))
            topic = {"name": f"topic-{(ask + number) % 3}", "partitions": [{"partition_index": 0, "leader_id": 1}]}
            broker = {"node_id": 1, "host": "kafka", "port": 9092}
            talker.answer(wire.encode_response(3, 12, ask, {"brokers": [broker], "topics": [topic]}))
        packets += talker.close().packets
    return packets
