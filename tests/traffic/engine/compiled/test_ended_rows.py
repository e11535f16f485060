"""Rows of connections that the kernels had alone: those of the twin, in its order."""

import random

from netdiag.traffic.engine.compiled.ended_rows import software_text
from netdiag.traffic.engine.compiled.lane_wishes import new_wishes
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.places import Places
from tests.traffic.engine.compiled.compared import by_kernels, by_twin
from tests.traffic.engine.compiled.openings import short_connections


def test_with_names_and_for_some_only() -> None:
    data = short_connections(random.Random(3), 60, odd=0.1, ports=50)
    places = Places(hosts={"10.0.0.1": "app"}, ports={"10.0.0.2:9092": ("kafka", "INTERNAL")})
    found = 0
    for brokers in (frozenset(), frozenset({"10.0.0.2"}), frozenset({"10.0.0.3"})):
        options = EngineOptions(tables=frozenset({"connections"}), places=places, brokers=brokers)
        rows = by_kernels(data, (4096,), options)["connections"]
        assert rows == by_twin(data, options)["connections"]
        found += len(rows)
    # on the same port one follows the other
    assert found >= 120


def test_software_is_told_without_the_space_behind_it() -> None:
    wishes = new_wishes(EngineOptions())
    wishes.softwares[1] = (4, list(b"lib ") + [0] * 252)
    assert software_text(wishes, 1) == "lib"
    assert software_text(wishes, -1) is None
