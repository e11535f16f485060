"""Numbers of connections made in a kernel: those of the plain engine."""

import random

import numpy as np

from netdiag.traffic.engine.compiled.layout import KEY
from netdiag.traffic.engine.compiled.numbering import connection_number
from netdiag.traffic.engine.flows import number_of


def test_numbers_are_the_same() -> None:
    rng = random.Random(3)
    words = np.zeros(32, np.uint64)
    for _ in range(300):
        width = rng.choice((4, 16))
        source, destination = rng.randbytes(width), rng.randbytes(width)
        ports = rng.choice((0, 7, 65_535)), rng.randrange(1 << 16)
        time = rng.choice((0, 9, 10, rng.randrange(1 << 62)))
        key = np.zeros(1, KEY)
        key["source"][0, :width] = np.frombuffer(source, np.uint8)
        key["destination"][0, :width] = np.frombuffer(destination, np.uint8)
        key["source_port"], key["destination_port"], key["width"] = *ports, width
        assert connection_number(words, key[0], time) == number_of((source, destination, *ports, b""), time)
