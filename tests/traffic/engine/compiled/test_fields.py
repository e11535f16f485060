"""Numbers and texts go where the operands say."""

import numpy as np

from netdiag.traffic.engine.bodies.facts import PartitionFacts
from netdiag.traffic.engine.compiled import fields, machines
from netdiag.traffic.engine.compiled import opcodes as do
from netdiag.traffic.engine.compiled.interpreter import begin
from netdiag.traffic.engine.compiled.layout import SCALARS
from netdiag.traffic.engine.compiled.program import programs
from netdiag.traffic.engine.compiled.store import PARTITIONS, Array, Store, new_facts, store


def _begun() -> tuple[Store, Array]:
    held, pool = store(), machines.machines(1)
    begin(held, pool, 0, programs(), new_facts(held), False, 1, 4, 1000)
    return held, pool.state[0]


def test_scalars() -> None:
    held, state = _begun()
    for value in (0, 7, 9):
        fields.use_number(held, state, do.ERROR, 0, value)
        fields.use_number(held, state, do.FIRST, fields.scalar("session_id"), value)
        fields.use_number(held, state, do.SCALAR, fields.scalar("throttle_ms"), value)
    row = held.facts[0]
    assert (row["error_code"], row["session_id"], row["throttle_ms"]) == (7, 0, 9)
    names = [name for bit, name in enumerate(SCALARS) if row["present"] & 1 << bit]
    assert names == ["session_id", "error_code", "throttle_ms"]


def test_texts() -> None:
    held, state = _begun()
    data = np.frombuffer(b"some group", np.uint8).copy()
    fields.use_text(held, state, do.SCALAR, fields.scalar("group"), data, 5, 5)
    fields.use_text(held, state, do.TOPIC, 0, data, 0, 4)
    fields.use_text(held, state, do.CLIENT, 0, data, 0, -1)
    assert (held.facts[0]["group"], held.facts[0]["client_id"], held.topics[0]) == (0, -1, 1)
    fields.use_text(held, state, do.SCALAR, fields.scalar("group"), data, 0, -1)
    assert (held.facts[0]["group"], held.facts[0]["present"]) == (-1, 0)


def test_a_row_and_its_columns() -> None:
    held, state = _begun()
    fields.use_topic_id(held, state, np.zeros(16, np.uint8), 0)
    fields.open_row(held, state, PARTITIONS, 5)
    fields.use_number(held, state, do.INDEX, 0, 3)
    fields.use_number(held, state, *fields.column("high_watermark", PartitionFacts._fields), 1 << 40)
    fields.use_number(held, state, *fields.column("error_code", PartitionFacts._fields), -1)
    row = held.partitions[0]
    assert (row["topic"], row["partition"], row["high_watermark"], row["error_code"]) == (-2, 3, 1 << 40, -1)
    assert row["present"] == 1 | 2 | 1 << 3 | 1 << 5
    assert held.counts[0] == 0, "an id of zeros is told in rows only"


def test_rows_beyond_the_most_are_let_go() -> None:
    held, state = _begun()
    for value in range(4):
        fields.open_row(held, state, PARTITIONS, 2)
        fields.use_number(held, state, do.INDEX, 0, value)
    assert held.partitions["partition"][:2].tolist() == [0, 1]
    assert held.counts[PARTITIONS] == 2
    assert fields.endpoint("port") == 1
