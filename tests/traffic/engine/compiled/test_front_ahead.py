"""Guesses about packets to come are made within the bytes that there are."""

from random import Random

from netdiag.traffic.engine.compiled import front_ahead
from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from tests.traffic.engine.compiled.openings import short_connections


def test_a_front_that_asks_ahead_gives_the_same_packets() -> None:
    """Cut anywhere, and with damage in the record chain: against one that knows few pairs and so never asks."""
    dice = Random(9)
    whole = short_connections(dice, 40, odd=0.1, ports=100)
    for _ in range(30):
        data = bytearray(whole[: dice.randrange(3000, len(whole))])
        for _ in range(dice.randrange(3)):
            data[dice.randrange(24, len(data))] = dice.randrange(256)
        fronts = [Front(Keys()), Front(Keys())]
        wide = fronts[1]._keys
        while len(wide.arrays.slots) <= front_ahead.FEW:
            wide.grow()
        told = []
        for front in fronts:
            chunks = [front.take(bytes(data)), front.end()]
            told.append([chunk.packets.tolist() for chunk in chunks])
        assert told[0] == told[1]
