"""What passes by in pieces tells the same as in one piece, and bytes that are lost cost no more than they must."""

import random
import struct
import tracemalloc
import uuid
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies import Bodies, RequestFacts, ResponseFacts
from netdiag.traffic.engine.bodies.walkers import BodyWalker
from tests.kafka.protocol.random_values import RandomValues

REQUEST, RESPONSE = wire.Direction
HEADER = b"some header"
WALKED = [(0, version, REQUEST) for version in wire.api_versions(0)]
WALKED += [(key, version, RESPONSE) for key in (1, 78) for version in wire.api_versions(key)]
BODIES = Bodies()


def _batch(base_offset: int, size: int, count: int = 3) -> bytes:
    head = struct.pack(">qiibIhiqqqhii", base_offset, 49 + size, 0, 2, 0, 4, count - 1, 1000, 3000, 7, 1, 0, count)
    return head + bytes(size)


def _message(offset: int, size: int, magic: int) -> bytes:
    inner = (
        struct.pack(">Ibb", 0, magic, 0) + (struct.pack(">q", 5000) if magic else b"") + struct.pack(">ii", -1, size)
    )
    return struct.pack(">qi", offset, len(inner) + size) + inner + bytes(size)


RECORDS = (
    b"",
    _batch(10, 100),
    _batch(10, 100) + _batch(13, 3000) + _batch(16, 0)[:70],
    _batch(10, 100) + _batch(13, 3000)[:30],
    _message(3, 5, 0) + _message(4, 60, 0) + _message(5, 9, 1) + _batch(6, 10),
    _message(3, 5, 1) * 3 + _message(6, 200, 1)[:40],
    b"\x07" * 200,
)


def _body(api_key: int, version: int, direction: wire.Direction, seed: int) -> bytes:
    layout = wire.layout(api_key, version, direction)
    value = RandomValues(f"{api_key} {version} {seed}", tame=False, most_elements=5).struct(layout)
    dice = random.Random(seed)
    _put_records(value, dice)
    return wire.encode(api_key, version, direction, value)


def _put_records(value: dict[str, Any], dice: random.Random) -> None:
    for name, content in value.items():
        if name == "records":
            value[name] = dice.choice(RECORDS)
        for item in content if isinstance(content, tuple) else ():
            if isinstance(item, dict):
                _put_records(item, dice)


def _walker(api_key: int, version: int, direction: wire.Direction, size: int) -> BodyWalker:
    make = BODIES.request_walker if direction is REQUEST else BODIES.response_walker
    walker = make(api_key, version, len(HEADER), size)
    assert walker is not None
    return walker


def _in_one_piece(api_key: int, version: int, direction: wire.Direction, body: bytes) -> RequestFacts | ResponseFacts:
    read = BODIES.request_facts if direction is REQUEST else BODIES.response_facts
    return read(api_key, version, body, len(body))


def _said(facts: RequestFacts | ResponseFacts) -> dict[str, Any]:
    rows = ("topics", "names", "partitions", "batches", "endpoints")
    return {name: value for name, value in vars(facts).items() if value is not None and (value or name not in rows)}


@pytest.mark.parametrize(("api_key", "version", "direction"), WALKED)
def test_pieces_of_any_size_tell_the_same_as_one(api_key: int, version: int, direction: wire.Direction) -> None:
    for seed in range(12):
        body = _body(api_key, version, direction, seed)
        dice = random.Random(seed)
        whole = _in_one_piece(api_key, version, direction, body)
        for most in (1, 7, 100, 5000, len(body) + 50):
            walker = _walker(api_key, version, direction, len(HEADER + body))
            at, message = 0, HEADER + body
            while at < len(message):
                step = dice.randint(1, most)
                walker.feed(memoryview(message)[at : at + step])
                at += step
            assert _said(walker.ended()) == _said(whole), (seed, most)


def _fetched(*records: bytes) -> bytes:
    partitions = [{"partition_index": at, "high_watermark": 9, "records": each} for at, each in enumerate(records)]
    topic = {"topic_id": uuid.UUID(int=5), "partitions": partitions}
    return wire.encode(1, 13, RESPONSE, {"throttle_time_ms": 3, "session_id": 8, "responses": [topic]})


def _walk(body: bytes, lost: range) -> tuple[ResponseFacts, ResponseFacts]:
    """The facts with some bytes lost, and those without loss."""
    walker = _walker(1, 13, RESPONSE, len(HEADER + body))
    walker.feed(memoryview(HEADER + body[: lost.start]))
    walker.lost(len(lost))
    walker.feed(memoryview(body)[lost.stop :])
    found, whole = walker.ended(), _in_one_piece(1, 13, RESPONSE, body)
    assert isinstance(found, ResponseFacts)
    assert isinstance(whole, ResponseFacts)
    return found, whole


def test_bytes_of_records_that_nobody_looks_at_may_be_lost() -> None:
    body = _fetched(_batch(10, 5000), _batch(20, 100))
    start = body.index(_batch(10, 5000)) + 61
    found, whole = _walk(body, range(start, start + 5000))
    assert _said(found) == _said(whole) | {"decoded": "truncated"}


def test_where_a_batch_begins_is_lost_the_next_partition_is_told() -> None:
    body = _fetched(_batch(10, 1000) + _batch(13, 1000), _batch(20, 100))
    start = body.index(_batch(13, 1000)) - 20
    found, whole = _walk(body, range(start, start + 50))
    assert (found.decoded, found.records, found.record_bytes) == ("truncated", None, whole.record_bytes)
    assert [row.records for row in found.partitions] == [None, 3]
    assert found.partitions[0]._replace(records=6, last_offset=15) == whole.partitions[0]
    assert found.partitions[1] == whole.partitions[1]
    assert list(found.batches) == [whole.batches[0], whole.batches[2]]


def test_what_follows_a_loss_between_records_is_not_guessed() -> None:
    body = _fetched(_batch(10, 1000), _batch(20, 100))
    start = body.index(_batch(20, 100)) - 10
    found, whole = _walk(body, range(start, start + 5))
    assert (found.decoded, found.records, found.record_bytes, found.empty) == ("truncated", None, None, False)
    assert found.partitions[0] == whole.partitions[0]
    assert found.throttle_ms == 3


def test_of_the_last_records_the_end_may_be_lost() -> None:
    body = _fetched(_batch(20, 100), _batch(10, 1000))
    found, whole = _walk(body, range(len(body) - 500, len(body)))
    assert _said(found) == _said(whole) | {"decoded": "truncated"}
    several = _fetched(_batch(10, 1000) + _batch(13, 1000))
    found, whole = _walk(several, range(500, len(several)))
    assert (found.records, found.record_bytes) == (None, whole.record_bytes)


def test_a_message_that_stops_gives_what_has_passed() -> None:
    body = _fetched(_batch(10, 1000), _batch(20, 100))
    whole = _in_one_piece(1, 13, RESPONSE, body)
    for length in range(len(HEADER + body)):
        walker = _walker(1, 13, RESPONSE, len(HEADER + body))
        walker.feed(memoryview(HEADER + body)[:length])
        found = walker.ended()
        assert found.decoded == "truncated"
        assert found.topics in ([], whole.topics)
        cut = BODIES.response_facts(1, 13, body[: max(0, length - len(HEADER))], len(body))
        assert (found.records, found.record_bytes) == (cut.records, cut.record_bytes), length
        for row, expected in zip(found.partitions, whole.partitions, strict=False):
            assert all(value in (None, known) for value, known in zip(row, expected, strict=True))


def test_what_cannot_be_a_message_fails() -> None:
    walker = _walker(1, 13, RESPONSE, 100)
    walker.feed(memoryview(HEADER + b"\xff" * 89))
    assert walker.ended().decoded == "failed"


def test_only_what_is_large_and_known_is_walked() -> None:
    assert BODIES.request_walker(3, 9, 10, 1 << 20) is None
    assert BODIES.request_walker(0, 99, 10, 1 << 20) is None
    assert BODIES.response_walker(1, 4, 4, 1 << 20) is not None


def test_little_is_held_of_a_hundred_megabytes() -> None:
    batch = _batch(10, 1 << 20)
    piece = memoryview(batch)[61:]
    first = wire.encode(1, 11, RESPONSE, {"responses": [{"topic": "t", "partitions": [{"records": b""}]}]})
    head = first[:-4] + struct.pack(">i", 100 * len(batch))
    walker = _walker(1, 11, RESPONSE, len(HEADER) + len(head) + 100 * len(batch))
    walker.feed(memoryview(HEADER + head))
    tracemalloc.start()
    for _ in range(100):
        walker.feed(memoryview(batch)[:61])
        for at in range(0, len(piece), 1448):
            walker.feed(piece[at : at + 1448])
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    facts = walker.ended()
    assert (facts.decoded, facts.records, facts.record_bytes) == ("full", 300, 100 * len(batch))
    assert held < 200_000, "100 rows of batches and what the walker holds"


def test_any_bytes_give_facts() -> None:
    dice = random.Random(6)
    for turn in range(1000):
        api_key, version, direction = dice.choice(WALKED)
        body = bytearray(_body(api_key, version, direction, turn % 20))
        for _ in range(dice.randrange(1, 6)):
            body[dice.randrange(len(body))] = dice.choice((0, 255, 128, dice.randrange(256)))
        walker = _walker(api_key, version, direction, len(HEADER) + len(body) + dice.choice((0, 0, 100)))
        walker.feed(memoryview(HEADER))
        at = 0
        while at < len(body):
            step = dice.randint(1, 400)
            if dice.random() < 0.1:
                walker.lost(step)
            else:
                walker.feed(memoryview(body)[at : at + step])
            at += step
        assert walker.ended().decoded in ("full", "truncated", "failed")
