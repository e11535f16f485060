"""What the kernels are asked for, out of the options of the engine."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_wishes import CLASS, CLASSES, new_wishes
from netdiag.traffic.engine.options import EngineOptions


def test_nobody_asks_for_rows_or_ports() -> None:
    wishes = new_wishes(EngineOptions(tables=frozenset({"exchanges"}), flow_class=(2, 5)))
    assert (len(wishes.ended), len(wishes.softwares), len(wishes.ports)) == (0, 0, 0)
    assert (wishes.figures[CLASS], wishes.figures[CLASSES]) == (2, 5)


def test_ports_by_number() -> None:
    wishes = new_wishes(EngineOptions(ports=frozenset({9092, 65_535, 70_000})))
    assert np.flatnonzero(wishes.ports).tolist() == [9092, 65_535]
    assert len(wishes.ended) > 0
