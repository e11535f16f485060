"""Connections that are opened in the kernels: the rows of the twin, however they begin and end."""

import random

import pytest

from netdiag.traffic.engine.compiled.front import Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.tables import NAMES
from tests.traffic.engine.compiled.compared import RECORDED, by_kernels, by_twin, harmed
from tests.traffic.engine.compiled.openings import short_connections

EXCHANGES = frozenset({"exchanges"})
ALL = frozenset(NAMES)


@pytest.mark.parametrize(
    "options",
    [
        EngineOptions(tables=EXCHANGES),
        EngineOptions(),
        EngineOptions(flow_class=(1, 3)),
        EngineOptions(ports=frozenset(range(40_000, 40_100))),
        EngineOptions(ports=frozenset({1})),
    ],
    ids=["exchanges", "all tables", "a class", "half of the ports", "another port"],
)
def test_ordinary_connections_cost_the_twin_nothing(options: EngineOptions) -> None:
    data = short_connections(random.Random(1), 300, odd=0.0, ports=200)
    engine = CompiledEngine(options, ["a.pcap"])
    engine.feed(Front(Keys()).take(data))
    engine.finish()
    assert engine.drain() == by_twin(data, options)
    # the first packet, as the clock begins with it, and those of its connection
    assert engine.odd < 30


@pytest.mark.parametrize("odd", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("tables", [EXCHANGES, ALL], ids=["exchanges", "all"])
def test_short_connections(tables: frozenset[str], odd: float) -> None:
    for seed in range(4):
        rng = random.Random(seed)
        data = short_connections(rng, 40, odd=odd, ports=rng.choice((2, 10, 100)))
        options = EngineOptions(tables=tables, max_connections=rng.choice((3, 12, 50_000)))
        twin = by_twin(data, options)
        assert twin["exchanges"]
        assert by_kernels(data, (rng.choice((333, 4096, 1 << 20)),), options) == twin, seed


def test_some_of_them() -> None:
    """Those of a class, of some ports, of some clients; so that the others are opened, too, and not listened to."""
    for seed in range(24):
        rng = random.Random(seed)
        data = short_connections(rng, 40, odd=rng.choice((0.0, 0.3, 1.0)), ports=rng.choice((2, 10, 100)))
        classes = rng.randint(1, 3)
        options = EngineOptions(
            flow_class=(rng.randrange(classes), classes),
            ports=rng.choice((frozenset(), frozenset({40_001, 40_003}), frozenset({9092}))),
            clients=rng.choice((frozenset(), frozenset({"app"}))),
            max_connections=rng.choice((3, 12, 50_000)),
        )
        assert by_kernels(data, (rng.choice((333, 4096, 1 << 20)),), options) == by_twin(data, options), seed


def test_harmed_ones() -> None:
    options = EngineOptions(tables=ALL)
    for seed in range(8):
        rng = random.Random(seed)
        data = harmed(short_connections(rng, 40, odd=rng.choice((0.0, 0.3)), ports=rng.choice((3, 100))), rng)
        assert by_kernels(data, (rng.choice((333, 4096, 1 << 20)),), options) == by_twin(data, options), seed


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_harmed_captures(path: object) -> None:
    data = getattr(path, "read_bytes")()  # noqa: B009
    options = EngineOptions(tables=ALL)
    for seed in range(3):
        rng = random.Random(seed)
        capture = harmed(data, rng) if seed else data
        assert by_kernels(capture, (rng.choice((333, 4096, 1 << 20)),), options) == by_twin(capture, options), seed
