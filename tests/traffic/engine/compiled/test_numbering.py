"""Numbers of connections made in a kernel: those of the plain engine."""

import random

import numpy as np

from netdiag.traffic.engine.compiled.layout import KEY
from netdiag.traffic.engine.compiled.numbering import connection_number, digested
from netdiag.traffic.engine.flows import number_of
from netdiag.traffic.engine.pairing import Digest


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


def test_digests_are_the_same() -> None:
    rng = random.Random(5)
    words, digest, held = np.zeros(32, np.uint64), Digest(), 0
    for _ in range(100):
        size, head = rng.choice((0, 9, 10, (1 << 31) - 1)), rng.randbytes(rng.randint(0, 64))
        digest.update(b"%d," % size + head)
        held = int(digested(words, np.int64(held), size, np.frombuffer(b"xx" + head, np.uint8), 2, len(head)))
        assert held.to_bytes(8, "big", signed=True) == digest.text
