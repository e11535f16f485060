"""The machine tells of every message what the plain engine tells, whatever way its bytes come and whatever they are."""

import random
import uuid

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled.program import is_fast
from netdiag.traffic.engine.dialogue import KEEP
from tests.kafka.protocol.random_values import every_message
from tests.traffic.engine.compiled.messages import (
    REQUEST,
    RESPONSE,
    Both,
    Piece,
    header,
    mutated,
    random_message,
)

READERS = [Both(tables) for tables in (("exchanges",), ("exchanges", "partitions"), ("batches",))] + [Both()]
ALL = READERS[-1]
FAST = [each for each in every_message() if is_fast(ALL.programs, *each)]
LARGE = [(0, version, REQUEST) for version in wire.api_versions(0)]
LARGE += [(key, version, RESPONSE) for key in (1, 78) for version in wire.api_versions(key)]


def _reader(dice: random.Random) -> Both:
    reader = dice.choice(READERS)
    if reader.store.counts[6] > 300:
        reader.forget()
    return reader


def _before(direction: wire.Direction) -> int:
    return 8 if direction is REQUEST else 4


def _split(rest: bytes, dice: random.Random, most: int = 4) -> list[Piece]:
    places = sorted(dice.randrange(len(rest) + 1) for _ in range(dice.randrange(most)))
    return [rest[start:end] for start, end in zip([0, *places], [*places, len(rest)], strict=True) if end > start]


def test_whole_messages_of_every_kind() -> None:
    dice = random.Random(1)
    for key, version, direction in every_message():
        message = random_message(key, version, direction, dice)
        for data in (message, message + b"xy"):
            _reader(dice).check(data, [data[_before(direction) :]], key, version, direction)


def test_messages_in_pieces_with_changed_bytes() -> None:
    dice = random.Random(2)
    for key, version, direction in FAST * 2:
        message = random_message(key, version, direction, dice)
        message = mutated(message, _before(direction), dice) if dice.random() < 0.8 else message
        message = (
            message[: dice.randrange(14, len(message) + 1)] if dice.random() < 0.3 and len(message) > 14 else message
        )
        if len(message) >= 14:
            rest = message[_before(direction) :]
            _reader(dice).check(message, _split(rest, dice), key, version, direction)


def test_messages_of_which_not_all_is_captured() -> None:
    dice = random.Random(3)
    for key, version, direction in FAST * 2:
        message = random_message(key, version, direction, dice)
        message = mutated(message, _before(direction), dice) if dice.random() < 0.5 else message
        rest = message[_before(direction) :]
        kept = dice.randrange(len(rest) + 1)
        pieces = _split(rest[:kept], dice, 2)
        lost = dice.randrange(len(rest) - kept + 1)
        pieces += [lost] if lost else []
        pieces += [rest[kept + lost :]] if kept + lost < len(rest) else []
        _reader(dice).check(message, pieces, key, version, direction)


@pytest.mark.parametrize(
    ("key", "version", "direction"), [(0, 3, REQUEST), (0, 9, REQUEST), (1, 4, RESPONSE), (1, 16, RESPONSE)]
)
def test_a_message_cut_or_split_at_every_byte(key: int, version: int, direction: wire.Direction) -> None:
    dice = random.Random(f"{key} {version}")
    message = b""
    while not 300 < len(message) < 3000:
        message = random_message(key, version, direction, dice)
    rest = message[_before(direction) :]
    for place in range(1, min(1200, len(rest))):
        ALL.forget()
        ALL.check(message, [rest[:place], len(rest) - place], key, version, direction)
        ALL.check(message, [rest[:place], rest[place:]], key, version, direction)
    ALL.check(message, [rest[place : place + 1] for place in range(len(rest))], key, version, direction)


@pytest.mark.parametrize("lossy", [False, True])
def test_messages_that_are_too_large_to_keep(lossy: bool) -> None:
    dice = random.Random(5 + lossy)
    for key, version, direction in (LARGE + FAST[::13]) * 2:
        message = random_message(key, version, direction, dice)
        message = mutated(message, _before(direction), dice) if dice.random() < 0.5 else message
        rest = message[_before(direction) :]
        pieces: list[Piece] = _split(rest, dice)
        if lossy:
            at = dice.randrange(len(pieces))
            whole = pieces[at]
            assert isinstance(whole, bytes)
            kept = dice.randrange(len(whole))
            lost = dice.randrange(1, len(whole) - kept + 1)
            pieces[at : at + 1] = [each for each in (whole[:kept], lost, whole[kept + lost :]) if each]
        data = message + bytes(KEEP)
        pieces += [bytes(KEEP)] if dice.random() < 0.8 else [KEEP]
        _reader(dice).check(data, pieces, key, version, direction)


def test_a_large_fetch_with_many_partitions() -> None:
    parts = [{"partition_index": number, "records": b"\0" * 100 if number % 3 else None} for number in range(4000)]
    value = {"responses": [{"topic_id": uuid.UUID(int=9), "partitions": parts}]}
    message = header(1, 13, RESPONSE) + wire.encode(1, 13, RESPONSE, value)
    assert len(message) > KEEP
    dice = random.Random(6)
    ALL.check(message, [message[4:]], 1, 13, RESPONSE)
    ALL.check(message, _split(message[4:], dice, 40), 1, 13, RESPONSE)


def test_messages_that_nobody_knows() -> None:
    for key, version in ((900, 0), (3, 99), (-1, -1), (5000, 3), (0, 127)):
        for client in (b"\xff\xff", b"\0\0", b"\0\3app", b"\0\x09app", b"\x80\0"):
            for tail in (b"", b"abcdefghij"):
                head = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
                message = head + (77).to_bytes(4, "big") + client + tail
                if len(message) >= 10:
                    ALL.check(message, [message[8:]], key, version, REQUEST)
        ALL.check(b"\0\0\0\x4dabc", [b"abc"], key, version, RESPONSE)


def test_two_machines_take_turns() -> None:
    dice = random.Random(7)
    for _ in range(150):
        reader = _reader(dice)
        ways = []
        for _ in range(2):
            key, version, direction = dice.choice(FAST)
            message = random_message(key, version, direction, dice)
            ways.append((message, _split(message[_before(direction) :], dice, 8), key, version, direction))
        reader.check_in_turns(ways, dice)
