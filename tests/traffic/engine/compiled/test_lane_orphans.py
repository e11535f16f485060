"""Responses without a request on calm connections: what becomes of them, and that they disturb nothing."""

import pytest

from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.capture_files import pcap
from tests.traffic.engine.compiled.compared import by_kernels, by_twin
from tests.traffic.engine.compiled.conversations import Capture, request, response


def strange(*, answered: bool) -> bytes:
    """A conversation with a response to nothing after each exchange; some are `answered` by a request that is late."""
    capture = Capture()
    for number in range(400):
        capture.say(0, request(number))
        capture.say(1, response(number) + response(100_000 + number) if number % 3 else response(number))
        capture.say(1, response(200_000 + number))
        if answered and number % 7 == 0:
            capture.say(0, request(200_000 + number))
    capture.close()
    return capture.file()


@pytest.mark.parametrize("answered", [False, True])
def test_they_are_told_as_the_twin_tells_them(answered: bool) -> None:
    data = strange(answered=answered)
    twin = by_twin(data)
    assert by_kernels(data) == twin
    assert by_kernels(data, (777,)) == twin
    outcomes = [row.outcome for row in twin["exchanges"]]  # type: ignore[attr-defined]
    assert outcomes.count("no-request") > 500
    assert outcomes.count("answered") >= 400


def test_those_of_many_connections_and_of_any_size() -> None:
    """More than the arrays have room for at first, and some that are longer than what is kept of them."""
    captures = [Capture(client=f"10.0.0.1:{40_000 + number}") for number in range(12)]
    for number in range(150):
        for capture in captures:
            capture.say(0, request(number))
            filling = bytes((number * 37 % 23) * (1000 if number % 50 == 49 else 10))
            capture.say(1, response(number) + response(100_000 + number, filling))
    data = pcap(sorted(packet for capture in captures for packet in capture.packets))
    twin = by_twin(data)
    assert by_kernels(data) == twin
    assert by_kernels(data, (300_000,)) == twin
    assert [row.outcome for row in twin["exchanges"]].count("no-request") > 1000  # type: ignore[attr-defined]


def test_the_connection_stays_in_the_arrays() -> None:
    engine = CompiledEngine(EngineOptions(), ["a.pcap"])
    engine.feed(Front(Keys()).take(strange(answered=False)))
    engine.finish()
    assert len(engine.drain()["exchanges"]) > 1000
    assert engine.odd < 60


@pytest.mark.parametrize("acknowledged", [True, False])
def test_thousands_of_requests_wait(acknowledged: bool) -> None:
    capture = Capture()
    for number in range(11_000):
        capture.say(0, request(number))
        if acknowledged and number % 40 == 0:
            capture.say(1, response(number // 3))
        if number % 2000 == 1999:
            capture.say(0, request(50_000 + number, key=18, version=0, body=b""))
    for number in (900, 5000, 5001, 5000, 10_000, 10_001):
        capture.say(1, response(number))
    data = capture.file()
    assert by_kernels(data, (200_000,)) == by_twin(data)
