"""Asked for nothing in particular, the engine gives everything."""

from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.tables import NAMES


def test_the_default_is_everything() -> None:
    options = EngineOptions()
    assert options.tables == frozenset(NAMES)
    assert options.flow_class == (0, 1)
    assert (options.ports, options.clients, options.brokers, options.topics) == (frozenset(),) * 4
