"""Messages that Python has read are records like those of the machines."""

from random import Random

import numpy as np

from netdiag.traffic.engine.bodies.facts import BatchFacts, PartitionFacts
from netdiag.traffic.engine.compiled.layout import DECODED, SCALARS, TEXTS
from netdiag.traffic.engine.compiled.side import Side
from netdiag.traffic.engine.compiled.texts import Texts
from tests.traffic.engine.compiled.random_exchanges import random_exchanges


def test_a_request_is_a_record_that_says_the_same() -> None:
    texts, ids = Texts(()), Texts(())
    side = Side(texts.number, lambda number: ids.number(number.hex()))
    asked = [each.asked for each in random_exchanges(Random(2), 60) if each.asked is not None]
    numbers = [side.asked(each) for each in asked]
    assert numbers == list(range(-2, -2 - len(asked), -1))
    arenas = side.arenas(len(texts), len(ids))

    def topic_of(topic: int) -> str | bytes:
        return texts.text(topic) if topic >= 0 else bytes.fromhex(ids.text(-2 - topic))

    for each, record in zip(asked, arenas.facts, strict=True):
        facts, header = each.facts, each.header
        for place, name in enumerate(SCALARS):
            value = getattr(facts, name, None)
            assert bool(record["present"] >> place & 1) == (value is not None)
            if value is not None:
                assert (texts.text(record[name]) if name in TEXTS else record[name]) == value
        assert DECODED[record["decoded"]] == facts.decoded
        assert (record["api_key"], record["correlation_id"]) == (header.api_key, header.correlation_id)
        begin, end = record["topics"]
        assert list(map(topic_of, arenas.topics[begin:end])) == list(facts.topics)
        begin, end = record["forgotten"]
        assert [(topic_of(row["topic"]), row["partition"]) for row in arenas.forgotten[begin:end]] == facts.forgotten
        begin, end = record["partitions"]
        for row, partition in zip(arenas.partitions[begin:end], facts.partitions, strict=True):
            assert _said(row, PartitionFacts, topic_of(row["topic"]), texts) == tuple(partition)
        begin, end = record["batches"]
        for row, batch in zip(arenas.batches[begin:end], facts.batches, strict=True):
            assert _said(row, BatchFacts, topic_of(row["topic"]), texts) == tuple(batch)


def _said(row: np.void, kind: type[PartitionFacts] | type[BatchFacts], topic: str | bytes, texts: Texts) -> object:
    values: list[object] = []
    for place, name in enumerate(kind._fields):
        if not row["present"] >> place & 1:
            values.append(None)
        elif name == "topic":
            values.append(topic)
        else:
            values.append(texts.text(row[name]) if name == "group" else row[name])
    return tuple(values)
