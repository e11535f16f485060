"""What an api was called in last is known of any number of apis."""

import random

from netdiag.traffic.engine.compiled.lane_state import FEW_VERSIONS, KEYS, VERSIONS, more_slots, new_lane
from netdiag.traffic.engine.compiled.lane_versions import forget_versions, note_version, versions_of, write_versions


def test_the_last_version_of_each_api_is_known() -> None:
    rng = random.Random(8)
    for most in (1, FEW_VERSIONS, FEW_VERSIONS + 1, KEYS):
        lane = new_lane(4)
        keys = rng.sample(range(KEYS), most)
        told: dict[int, int] = {}
        for _ in range(4 * most):
            key, version = rng.choice(keys), rng.choice([0, VERSIONS - 1, rng.randrange(VERSIONS)])
            note_version(lane, 2, key, version)
            told[key] = version
            assert versions_of(lane, 2) == told
        assert versions_of(lane, 1) == versions_of(lane, 3) == {}


def test_another_connection_in_the_same_place_has_called_nothing() -> None:
    lane = new_lane(2)
    for key in range(KEYS):
        note_version(lane, 1, key, 3)
    forget_versions(lane, 1)
    assert versions_of(lane, 1) == {}
    for key in range(FEW_VERSIONS):
        note_version(lane, 1, key, 4)
    assert versions_of(lane, 1) == dict.fromkeys(range(FEW_VERSIONS), 4)


def test_what_is_written_is_known_and_kept_when_there_is_more_room() -> None:
    lane = new_lane(2)
    many = {key: key + 1 for key in range(KEYS - 1, -1, -1)}
    write_versions(lane, 0, many)
    write_versions(lane, 1, {KEYS - 1: 0})
    lane = more_slots(lane, 8)
    assert versions_of(lane, 0) == many
    assert versions_of(lane, 1) == {KEYS - 1: 0}
    write_versions(lane, 0, {1: 2})
    assert versions_of(lane, 0) == {1: 2}
    write_versions(lane, 0, many)
    assert versions_of(lane, 0) == many
