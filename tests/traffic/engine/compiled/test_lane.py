"""How many packets the kernels leave to the twin, and how calm ones are counted."""

import random

from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import ACK, PSH
from netdiag.traffic.rows import ConnectionRow
from tests.traffic.engine.capture_files import enhanced, interface, option, section
from tests.traffic.engine.compiled.compared import by_kernels, by_twin, recorded
from tests.traffic.engine.compiled.conversations import Capture, conversation, request, response


def test_calm_connections_stay_in_the_arrays() -> None:
    engine = CompiledEngine(EngineOptions(), ["a.pcap"])
    engine.feed(Front(Keys()).take(conversation(500)))
    engine.finish()
    rows = engine.drain()
    assert len(rows["exchanges"]) == 500
    assert engine.odd < 20


def test_acknowledgements_and_windows_are_counted() -> None:
    data = conversation(100, acknowledged=True)
    assert by_kernels(data) == by_twin(data)


def test_every_piece_ends_where_it_wants() -> None:
    data = conversation(30, largest=37, acknowledged=True)
    for size in (1, 7, 90, 1000):
        assert by_kernels(data, (size,)) == by_twin(data), size


def test_recorded_captures_are_mostly_calm() -> None:
    for name, data in recorded():
        engine = CompiledEngine(EngineOptions(), ["a.pcap"])
        front = Front(Keys())
        packets = 0
        for chunk in (front.take(data), front.end()):
            engine.feed(chunk)
            packets += len(chunk.packets)
        assert engine.odd < packets, name


def test_what_comes_again_is_counted() -> None:
    for seed in range(6):
        rng = random.Random(seed)
        capture = Capture()
        for number in range(300):
            for side, data in ((0, request(number)), (1, response(number))):
                capture.say(side, data, rng.choice((9, 50)))
                _again(capture, side, data, rng)
                if rng.random() < 0.3:
                    capture.add(1 - side)
        capture.close()
        data = _on_interfaces(capture.packets, rng)
        row = _told_alike(data, 1000, seed)
        assert row.retransmissions > 50
        assert row.duplicates > 100
        assert row.keep_alives > 20
        engine = CompiledEngine(EngineOptions(), ["a.pcap"])
        front = Front(Keys())
        for chunk in (front.take(data), front.end()):
            engine.feed(chunk)
        assert engine.odd < 200, seed


def test_bare_acknowledgements_are_known_again() -> None:
    """Of all bytes, of all but some, of one more, each now and then once more, whether bytes came between or not."""
    for seed in range(6):
        rng = random.Random(seed)
        capture = Capture()
        for number in range(200):
            for side, data in ((0, request(number)), (1, response(number))):
                cut = rng.choice((0, len(data) - 1, rng.randrange(len(data))))
                for piece in filter(None, (data[:cut], data[cut:])):
                    capture.add(side, piece, flags=ACK | PSH)
                    _acknowledge(capture, 1 - side, rng)
        capture.close()
        row = _told_alike(_on_interfaces(capture.packets, rng), 700, seed)
        assert row.duplicates > 100
        assert row.keep_alives > 20


def _told_alike(data: bytes, piece: int, seed: int) -> ConnectionRow:
    """The first connection, of which the kernels say what the twin says, whole or in pieces."""
    twin = by_twin(data)
    assert by_kernels(data) == twin, seed
    assert by_kernels(data, (piece,)) == twin, seed
    return ConnectionRow(*twin["connections"][0])


def _acknowledge(capture: Capture, side: int, rng: random.Random) -> None:
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        said = capture.next[side]
        if rng.random() < 0.1:
            capture.next[side] = said - 1
        short = 0 if rng.random() < 0.7 else rng.choice((1, 2, 40, -1))
        capture.add(side, acknowledgement=(capture.next[1 - side] - short) & 0xFFFFFFFF)
        capture.next[side] = said


def _again(capture: Capture, side: int, data: bytes, rng: random.Random) -> None:
    """Bytes that were there before, some with new ones behind them, and probes."""
    last = capture.next[side]
    for _ in range(rng.choice((0, 0, 1, 2))):
        back = rng.randint(1, len(data))
        capture.next[side] = last - back
        capture.add(side, data[len(data) - back :][: rng.randint(1, back)], flags=ACK | PSH)
    capture.next[side] = last
    if rng.random() < 0.2:
        capture.next[side] = last - 1
        capture.add(side, rng.choice((b"", b"\0")))
        capture.next[side] = last


def _on_interfaces(packets: list[tuple[int, bytes]], rng: random.Random) -> bytes:
    """Each packet on up to three of five interfaces, at once or later, now and then with another identification."""
    made = []
    for time, data in packets:
        later = rng.choice((0, 3_000, 2_000_000))
        for index in rng.sample(range(5), rng.choice((1, 1, 2, 3))):
            made.append((time, index, data if rng.random() < 0.9 else data[:18] + rng.randbytes(2) + data[20:]))
            time += later
    made.sort(key=lambda each: each[0])
    names = [interface(options=option(2, b"veth%d" % index) + option(0, b"")) for index in range(5)]
    blocks = [enhanced(time // 1000, data, index=index) for time, index, data in made]
    return b"".join([section(), *names, *blocks])
