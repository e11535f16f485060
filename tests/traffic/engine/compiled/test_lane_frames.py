"""Messages in segments of all kinds, held against the twin."""

import random

import pytest

from tests.traffic.engine.compiled.compared import by_kernels, by_twin
from tests.traffic.engine.compiled.conversations import Capture, request, response


@pytest.mark.parametrize("largest", [1, 2, 3, 5, 11, 40, 1448, 60_000])
def test_messages_in_segments_of_one_size(largest: int) -> None:
    capture = Capture()
    for number in range(20):
        capture.say(0, b"".join(request(3 * number + more) for more in range(3)), largest)
        capture.say(1, b"".join(response(3 * number + more) for more in range(3)), largest)
    data = capture.file()
    rows = by_kernels(data)
    assert rows == by_twin(data)
    assert len(rows["exchanges"]) == 60


def test_messages_of_all_sizes() -> None:
    rng = random.Random(1)
    capture = Capture()
    for number in range(60):
        unknown = rng.randbytes(rng.choice((1, 100, 3000, 100_000, 262_140, 262_160, 300_000)))
        capture.say(0, request(number, key=90, version=0, body=unknown), rng.choice((1448, 17_000)))
        capture.say(1, response(number, unknown), rng.choice((1448, 17_000)))
    data = capture.file()
    assert by_kernels(data, (1 << 16,)) == by_twin(data)


def test_sizes_that_cannot_be() -> None:
    capture = Capture()
    for number in range(20):
        capture.say(0, request(number))
        capture.say(1, response(number) if number % 5 != 4 else b"\xff\xff\xff\xff")
    data = capture.file()
    assert by_kernels(data) == by_twin(data)
