"""The version that each api of a connection was last called in: most connections call a few apis only."""

from collections.abc import Mapping
from typing import Any

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_state import FEW_VERSIONS, KEYS, Lane


@inlined
def note_version(lane: Lane, slot: Any, key: Any, version: Any) -> None:
    """An api, below KEYS, is called in a version, below VERSIONS."""
    few = lane.versions[slot]
    for place in range(FEW_VERSIONS):
        entry = few[place]
        if entry == 0 or (entry - 1) >> 8 == key:
            few[place] = (key << 8 | version) + 1
            return
    lane.more_versions[slot, key] = version + 1


@kernel
def forget_versions(lane: Lane, slot: Any) -> None:
    """Nothing was called."""
    few = lane.versions[slot]
    if few[FEW_VERSIONS - 1]:
        for key in range(KEYS):
            lane.more_versions[slot, key] = 0
    for place in range(FEW_VERSIONS):
        few[place] = 0


def versions_of(lane: Lane, slot: int) -> dict[int, int]:
    """By api key."""
    few = [entry - 1 for entry in lane.versions[slot].tolist() if entry]
    found = {entry >> 8: entry & 0xFF for entry in few}
    if len(few) == FEW_VERSIONS:
        found |= {key: entry - 1 for key, entry in enumerate(lane.more_versions[slot].tolist()) if entry}
    return found


def write_versions(lane: Lane, slot: int, versions: Mapping[int, int]) -> None:
    """All that was called."""
    if lane.versions[slot, -1]:
        lane.more_versions[slot] = 0
    lane.versions[slot] = 0
    for place, (key, version) in enumerate(versions.items()):
        if place < FEW_VERSIONS:
            lane.versions[slot, place] = (key << 8 | version) + 1
        else:
            lane.more_versions[slot, key] = version + 1
