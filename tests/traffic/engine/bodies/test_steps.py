"""A reader asks for no more bytes at a time than it can name, and for nothing behind its message."""

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies.steps import Impossible, Lost, Reader

BODY = wire.encode(0, 9, wire.Direction.REQUEST, {"acks": 1, "topic_data": [{"name": "t" * 300}]})


def _reader() -> Reader:
    return Reader(0, wire.Direction.REQUEST, len(BODY), frozenset({"partitions"}))


def test_what_is_asked_for_is_the_message() -> None:
    reader = _reader()
    steps = reader.message(wire.layout(0, 9, wire.Direction.REQUEST))
    asked = [next(steps)]
    try:
        while True:
            start = sum(map(abs, asked[:-1]))
            reader.position = start + abs(asked[-1])
            asked.append(steps.send(BODY[start : reader.position]) if asked[-1] > 0 else next(steps))
    except StopIteration:
        pass
    assert sum(map(abs, asked)) == len(BODY)
    assert max(asked) == 300
    assert (reader.facts.topics, getattr(reader.facts, "acks", None)) == (["t" * 300], 1)


def test_a_loss_outside_of_records_ends_it() -> None:
    steps = _reader().message(wire.layout(0, 9, wire.Direction.REQUEST))
    next(steps)
    try:
        steps.throw(Lost())
    except Lost:
        return
    raise AssertionError("it went on")


def test_a_length_that_cannot_be_is_refused_at_once() -> None:
    steps = _reader().message(wire.layout(0, 3, wire.Direction.REQUEST))
    assert next(steps) == 2
    try:
        steps.send(b"\xff\xfe")
    except Impossible:
        return
    raise AssertionError("it went on")
