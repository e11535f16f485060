"""Room in the arrays: what nobody needs any more is forgotten, what is needed moves together."""

import numpy as np
from numpy.typing import NDArray

from netdiag.traffic.engine.compiled.compaction import compacted, is_crowded
from netdiag.traffic.engine.compiled.lane_state import WHOLE, Lane, Reading
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.machines import machines, take
from netdiag.traffic.engine.compiled.program import Programs, programs
from netdiag.traffic.engine.compiled.store import Store, store
from netdiag.traffic.engine.options import EngineOptions


def new_reading(options: EngineOptions, made: Programs | None = None) -> Reading:
    """A store, machines and programs for what is wanted, unless these are `made` already."""
    reading = Reading(store(1 << 14), machines(), made or programs(options.tables))
    assert take(reading.machines) == WHOLE
    return reading


def waiting_entries(lane: Lane) -> NDArray[np.int64]:
    """The entries of requests that wait."""
    return np.flatnonzero(lane.pending["asked"] != NOTHING)


def compacted_reading(
    reading: Reading, kept: NDArray[np.int64], into: Store | None = None
) -> tuple[Reading, NDArray[np.int64]]:
    """Keep these messages, in the arrays of `into` where there is one; and their new numbers by the old ones."""
    moved = compacted(reading.store, kept, reading.machines, strings=is_crowded(reading.store), into=into)
    return reading._replace(store=moved.store), moved.facts
