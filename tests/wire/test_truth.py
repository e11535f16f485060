"""Bar: what clients count and brokers describe equals the rows of the capture."""

from collections.abc import Callable

import pytest

from tests.figures import Report as Figure
from tests.native.reading import rows_of_files
from tests.wire.traffic.facts import Facts, Recording
from tests.wire.truth import (
    Rows,
    wrong_consumed,
    wrong_generations,
    wrong_positions,
    wrong_produced,
    wrong_traffic,
)

_CHECKS: dict[str, tuple[Callable[[Facts, Rows], list[str]], Callable[[Facts], int]]] = {
    "clients' own counts of requests and bytes": (wrong_traffic, lambda facts: len(facts.counted)),
    "producers": (wrong_produced, lambda facts: len(facts.produced)),
    "consumers": (wrong_consumed, lambda facts: len(facts.consumed)),
    "offsets, ends and lags described": (wrong_positions, lambda facts: len(facts.positions)),
    "generations and epochs logged": (wrong_generations, lambda facts: len(facts.generations)),
}


@pytest.mark.bar("wire-truth")
def test_clients_and_brokers_say_the_same(recording: Recording, figure: Figure) -> None:
    assert not any(recording.dropped.values())
    _assert_true(recording, figure)


@pytest.mark.bar("wire-truth", long=True)
def test_each_kind_of_traffic(recordings: list[Recording], figure: Figure) -> None:
    for recording in recordings:
        _assert_true(recording, figure)


def _assert_true(recording: Recording, figure: Figure) -> None:
    rows = rows_of_files(recording.files["bridge"])
    wrong = []
    for what, (check, count) in _CHECKS.items():
        found = check(recording.facts, rows)
        wrong += found
        figure(f"Kafka {recording.version} {recording.name}: {what}", f"{count(recording.facts)}, {len(found)} wrong")
    assert not wrong, "\n".join(wrong)
