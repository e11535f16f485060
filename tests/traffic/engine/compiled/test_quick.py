"""Whole messages read at once tell what the plain engine tells of them; whatever is unusual is left to the machine."""

import random

import numpy as np

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled import facts as back
from netdiag.traffic.engine.compiled.lane_state import blank_message
from netdiag.traffic.engine.compiled.quick import read_whole
from netdiag.traffic.engine.compiled.store import new_facts
from tests.kafka.protocol.random_values import every_message
from tests.traffic.engine.compiled.messages import CORRELATION, REQUEST, Both, mutated, random_message, said

READERS = [Both(tables) for tables in (("exchanges",), ("exchanges", "partitions"), ("batches",))] + [Both()]
_MARGIN = b"\xff" * 8


def _is_read(reader: Both, message: bytes, key: int, version: int, direction: wire.Direction) -> bool:
    """Whether it was read at once; if so, it told the same as the plain engine."""
    is_request = direction is REQUEST
    before = 8 if is_request else 4
    program = reader.programs.quick_starts[0 if is_request else 1, key, version]
    if program < 0:
        return False
    if reader.store.counts[6] > 300:
        reader.forget()
    reader.make_room()
    number = new_facts(reader.store)
    reader.store.facts[number] = blank_message()[0]
    for name, value in (("size", len(message)), ("correlation_id", CORRELATION), ("is_request", is_request)):
        reader.store.facts[number][name] = value
    reader.store.facts[number]["api_key"] = key
    reader.store.facts[number]["api_version"] = version
    data = np.frombuffer(_MARGIN + message + _MARGIN, np.uint8).copy()
    begin, end = len(_MARGIN) + before, len(_MARGIN) + len(message)
    state = reader.machines.state[0]
    if not read_whole(
        reader.store,
        state,
        reader.programs.quick,
        np.int64(program),
        np.int64(number),
        data,
        np.int64(begin),
        np.int64(end),
    ):
        reader.store.counts[:] = 0
        return False
    expected = reader.by_twin(message, [message[before:]], key, version, is_request)
    if is_request:
        asked = back.asked(reader.store, number, reader.bodies)
        assert asked.header[:4] == expected.header[:4]
        told = said(asked.facts)
    else:
        told = said(back.response_facts(reader.store, number, reader.bodies))
    assert told == said(expected.facts), (key, version, direction, message.hex())
    return True


def test_whole_messages_of_every_kind() -> None:
    dice = random.Random(1)
    read = dict.fromkeys(every_message(), 0)
    for _ in range(3):
        for each in read:
            message = random_message(*each, dice)
            for data in (message, message + b"xy"):
                read[each] += _is_read(dice.choice(READERS), data, *each)
    for key in (0, 1):
        for version in wire.api_versions(key):
            for direction in wire.Direction:
                assert READERS[0].programs.quick_starts[0 if direction is REQUEST else 1, key, version] >= 0
    assert sum(count > 0 for count in read.values()) > 250


def test_what_is_damaged_or_cut_reads_as_the_plain_engine_does_or_not_at_all() -> None:
    dice = random.Random(2)
    read = 0
    for each in every_message():
        if READERS[0].programs.quick_starts[0 if each[2] is REQUEST else 1, each[0], each[1]] < 0:
            continue
        before = 8 if each[2] is REQUEST else 4
        for _ in range(6):
            message = mutated(random_message(*each, dice), before, dice)
            if dice.random() < 0.3:
                message = message[: dice.randrange(before, len(message) + 1)]
            if len(message) >= before + 6:
                read += _is_read(dice.choice(READERS), message, *each)
    assert read > 200
