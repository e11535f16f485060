"""The table of pairs: numbers in their order, both ways, growth, an end."""

from random import Random

import numpy as np

from netdiag.traffic.engine.compiled.front_keys import NO_PAIR, NO_ROOM, Keys, look_up

Pair = tuple[bytes, bytes, bytes]


def _number(keys: Keys, pair: Pair) -> int:
    data = np.frombuffer(bytearray(b"".join(pair)), np.uint8)
    width = len(pair[0])
    number = int(look_up(keys.arrays, data, 0, width, width, 2 * width))
    if number != NO_ROOM:
        return number
    keys.grow()
    return int(look_up(keys.arrays, data, 0, width, width, 2 * width))


def _pairs(random: Random, count: int) -> list[Pair]:
    """Few addresses and ports, so that many pairs differ in one byte only."""
    made: dict[Pair, None] = {}
    while len(made) < count:
        width = random.choice((4, 16))
        source, destination = (bytes(width - 1) + bytes([random.randrange(40)]) for _ in range(2))
        made[source, destination, bytes([0, random.randrange(60), 0, random.randrange(60)])] = None
    return list(made)


def _back(pair: Pair) -> Pair:
    return pair[1], pair[0], pair[2][2:] + pair[2][:2]


def test_numbers_are_those_of_a_dictionary() -> None:
    random, keys, known = Random(5), Keys(), dict[Pair, int]()
    pairs = _pairs(random, 4000)
    for pair in pairs + random.choices(pairs, k=4000):
        if pair == _back(pair):
            assert _number(keys, pair) == NO_PAIR
            continue
        if pair not in known:
            known[pair], known[_back(pair)] = len(known), len(known) + 1
        assert _number(keys, pair) == known[pair]
    assert len(keys) == len(known)
    for pair, number in known.items():
        key = keys.arrays.keys[number]
        assert bytes(key["source"])[: key["width"]] == pair[0]
        assert bytes(key["destination"])[: key["width"]] == pair[1]
        assert (key["source_port"], key["destination_port"]) == (pair[2][1], pair[2][3])
        assert key["back"] == number ^ 1


def test_a_crowded_table_says_so_and_begins_again() -> None:
    keys = Keys(most=100)
    pairs = [pair for pair in _pairs(Random(6), 200) if pair != _back(pair)]
    numbers = [_number(keys, pair) for pair in pairs]
    assert keys.is_crowded
    assert len(keys) == 200
    assert NO_PAIR in numbers
    old = keys.arrays.keys
    keys.start_over()
    assert (keys.epoch, len(keys), keys.is_crowded) == (1, 0, False)
    assert _number(keys, pairs[50]) == 0
    assert bytes(old[0]["source"])[: old[0]["width"]] == pairs[0][0], "who has the old numbers reads the old table"
