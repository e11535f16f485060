"""Who is paired with whom, held against the twin."""

import random
import struct

import pytest

from netdiag.traffic.rows import ExchangeRow
from tests.traffic.engine.compiled.compared import by_kernels, by_twin
from tests.traffic.engine.compiled.conversations import Capture, request, response

_OUTCOME = ExchangeRow._fields.index("outcome")


def test_what_is_not_answered() -> None:
    """Produce without acknowledgements, answers out of turn, answers to nothing."""
    rng = random.Random(2)
    silent = struct.pack(">hii", 0, 1000, 0)
    outcomes = set()
    for _ in range(10):
        capture = Capture()
        asked = []
        for number in range(200):
            if rng.random() < 0.3:
                capture.say(0, request(number, key=0, version=0, body=silent))
                continue
            capture.say(0, request(number))
            asked.append(number)
            if rng.random() < 0.05:
                capture.say(1, response(10_000 + number))
            if rng.random() < 0.5:
                answered = asked.pop(rng.choice((0, -1)))
                asked = [later for later in asked if later > answered]
                capture.say(1, response(answered))
        data = capture.file()
        rows = by_kernels(data)
        assert rows == by_twin(data)
        outcomes |= {row[_OUTCOME] for row in rows["exchanges"]}
    assert outcomes == {"answered", "no-response", "unanswered", "no-request"}


@pytest.mark.parametrize("count", [600, 10_050])
def test_many_requests_wait(count: int) -> None:
    capture = Capture()
    capture.say(0, request(-1))
    capture.say(1, response(-1))
    for number in range(count):
        capture.say(0, request(number))
    for number in range(count - 100, count):
        capture.say(1, response(number))
    data = capture.file()
    assert by_kernels(data) == by_twin(data)


def test_numbers_that_come_again() -> None:
    rng = random.Random(3)
    capture = Capture()
    for _ in range(300):
        number = rng.randrange(-2, 4)
        capture.say(*((0, request(number)) if rng.random() < 0.6 else (1, response(number))))
    data = capture.file()
    assert by_kernels(data) == by_twin(data)
