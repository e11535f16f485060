"""The compiled engine against the one in plain Python: the same rows in the same order, whatever the capture is."""

import random

import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.tables import PAYLOAD_NAMES
from tests.traffic.engine.compiled.compared import RECORDED, by_kernels, by_twin, harmed, recorded
from tests.traffic.engine.compiled.fronts import pieces
from tests.traffic.engine.packets import Talker, pcap_file


@pytest.mark.parametrize("size", [100, 1 << 20])
def test_recorded_captures(size: int) -> None:
    for name, data in recorded():
        rows = by_twin(data)
        assert rows["exchanges"], name
        assert by_kernels(data, (size,)) == rows, name


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_harmed_captures(path: object) -> None:
    """Losses, copies, disorder, translation and snap lengths, by chance."""
    data = getattr(path, "read_bytes")()  # noqa: B009
    for seed in range(12):
        rng = random.Random(seed)
        capture = harmed(data, rng)
        assert by_kernels(capture, (rng.choice((333, 4096, 1 << 20)),)) == by_twin(capture), seed


@pytest.mark.parametrize(
    "options",
    [
        EngineOptions(flow_class=(0, 2)),
        EngineOptions(flow_class=(1, 2)),
        EngineOptions(ports=frozenset({9092})),
        EngineOptions(ports=frozenset({1})),
        EngineOptions(max_connections=1),
        EngineOptions(tables=frozenset({"exchanges"})),
    ],
    ids=["class-0", "class-1", "ports", "no-port", "one-connection", "one-table"],
)
def test_options(options: EngineOptions) -> None:
    for name, data in recorded():
        assert by_kernels(data, (5000,), options) == by_twin(data, options), name


def test_payloads_are_not_for_it() -> None:
    with pytest.raises(ValueError, match="plain Python"):
        CompiledEngine(EngineOptions(tables=frozenset(PAYLOAD_NAMES), payloads=True), ["a.pcap"])


def test_pieces_are_all_of_it() -> None:
    """The control of the tests above."""
    assert b"".join(pieces(b"abcdefg", (2, 3))) == b"abcdefg"


@pytest.mark.parametrize("seed", range(3))
def test_messages_that_end_anywhere(seed: int) -> None:
    """Segments of a few bytes, so that size fields are torn, and copies between them, which only the twin takes."""
    rng = random.Random(seed)
    talker = Talker().open()
    for number in range(40):
        asked = wire.encode_request(12, 4, number, "app", {"group_id": "group" * 90, "generation_id": 1})
        for send, message in ((talker.ask, asked), (talker.answer, wire.encode_response(12, 4, number, {}))):
            for piece in pieces(message, (rng.randint(1, 4), rng.randint(1, 300))):
                send(piece)
            if rng.random() < 0.3:
                copied = talker.packets[-1]
                talker.packets.append(copied._replace(time=copied.time + 1000, number=len(talker.packets) + 1))
    data = pcap_file(talker.close().packets)
    rows = by_twin(data)
    assert len(rows["exchanges"]) == 40
    assert by_kernels(data) == rows
