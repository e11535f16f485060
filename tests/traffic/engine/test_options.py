"""Asked for nothing in particular, the engine gives everything."""

import pytest

from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.tables import NAMES


def test_the_default_is_everything() -> None:
    options = EngineOptions()
    assert options.tables == frozenset(NAMES)
    assert options.flow_class == (0, 1)
    assert (options.ports, options.clients, options.brokers, options.topics) == (frozenset(),) * 4


def test_keys_and_values_are_not_part_of_everything() -> None:
    assert not EngineOptions().payloads
    with pytest.raises(ValueError, match="payloads"):
        EngineOptions(tables=frozenset({"records"}))
    assert EngineOptions(tables=frozenset({"records"}), payloads=True).tables == frozenset({"records"})
