"""Bar: what clients count and brokers describe equals the rows of the capture.

That these checks see every disagreement is tested here, too.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.each import each
from tests.figures import Report as Figure
from tests.native.reading import row_class, rows_of_files
from tests.wire.traffic.facts import Consumed, Counted, Facts, Generation, Position, Produced, Recording
from tests.wire.truth import (
    CONSUMER_GROUP_HEARTBEAT,
    FETCH,
    JOIN_GROUP,
    LIST_OFFSETS,
    OFFSET_COMMIT,
    PRODUCE,
    SHARE_GROUP_HEARTBEAT,
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


def _row(name: str, **values: object) -> Any:
    """A row that has these values and nothing else."""
    kind = row_class(name)
    return kind(**{**dict.fromkeys(kind._fields), "time": 0, **values})


ROWS: Rows = {
    "exchanges": [
        _row("exchanges", client_id="p", api_key=PRODUCE, request_bytes=396, response_bytes=46, connection=1),
        _row("exchanges", client_id="p", api_key=PRODUCE, request_bytes=96, response_bytes=46, connection=2),
    ],
    "partitions": [
        _row("partitions", client_id="p", api_key=PRODUCE, topic="t", partition=0, records=3, record_bytes=300),
        _row("partitions", client_id="p", api_key=PRODUCE, topic="t", partition=1, records=1, record_bytes=90),
        _row("partitions", client_id="p", api_key=PRODUCE, topic="t", partition=1, records=9, error_code=6),
        _row("partitions", client_id="c", api_key=FETCH, topic="t", partition=0, records=3, high_watermark=4),
        _row("partitions", group="g", api_key=OFFSET_COMMIT, topic="t", partition=0, request_offset=1),
        _row("partitions", group="g", api_key=OFFSET_COMMIT, topic="t", partition=0, request_offset=3, time=1),
        _row("partitions", api_key=LIST_OFFSETS, topic="t", partition=0, timestamp=-1, response_offset=5),
    ],
    "group_events": [
        _row("group_events", group="g", api_key=JOIN_GROUP, generation=1),
        _row("group_events", group="g", api_key=JOIN_GROUP, generation=2),
        _row("group_events", group="g", api_key=JOIN_GROUP, generation=9, error_code=27),
        _row("group_events", group="n", api_key=CONSUMER_GROUP_HEARTBEAT, generation=2),
        _row("group_events", group="s", api_key=SHARE_GROUP_HEARTBEAT, generation=2),
    ],
}


def _counted(**other: Any) -> Facts:
    told: dict[str, Any] = {"requests": 2, "responses": 2, "sent": 500, "received": 100, "batch_bytes": 390}
    return Facts(counted=[Counted(client_id="p", **{**told, **other})])


def _produced(records: dict[str, int], requests: int | None = 2, is_hidden: bool = False) -> Facts:
    return Facts(produced=[Produced(client_id="p", records=records, requests=requests, is_hidden=is_hidden)])


def _consumed(records: dict[str, int], is_all: bool) -> Facts:
    return Facts(consumed=[Consumed(client_id="c", group="g", records=records, is_all=is_all)])


def _position(current: int, end: int, lag: int) -> Facts:
    return Facts(positions=[Position(group="g", topic="t", partition=0, current=current, end=end, lag=lag)])


def _generations(*numbers: int, group: str = "g", is_classic: bool = True) -> Facts:
    return Facts(generations=[Generation(group=group, number=one, is_classic=is_classic) for one in numbers])


CASES: list[tuple[Callable[[Facts, Rows], list[str]], Facts, bool]] = [
    (wrong_traffic, _counted(), True),
    (wrong_traffic, _counted(requests=3), False),
    (wrong_traffic, _counted(responses=1), False),
    (wrong_traffic, _counted(sent=501), False),
    (wrong_traffic, _counted(received=99), False),
    (wrong_traffic, _counted(batch_bytes=391), False),
    (wrong_traffic, _counted(forgets_bootstrap=True, requests=1, responses=1, sent=100, received=50), True),
    (wrong_traffic, _counted(forgets_bootstrap=True), False),
    (wrong_produced, _produced({"t-0": 3, "t-1": 1}), True),
    (wrong_produced, _produced({"t-0": 3, "t-1": 1}, requests=None), True),
    (wrong_produced, _produced({"t-0": 3, "t-1": 1}, requests=3), False),
    (wrong_produced, _produced({"t-0": 3, "t-1": 2}), False),
    (wrong_produced, _produced({"t-0": 3}), False),
    (wrong_produced, _produced({"t-0": 3, "t-1": 1}, is_hidden=True), False),
    (wrong_consumed, _consumed({"t-0": 3}, is_all=True), True),
    (wrong_consumed, _consumed({"t-0": 2}, is_all=True), False),
    (wrong_consumed, _consumed({"t-0": 2}, is_all=False), True),
    (wrong_consumed, _consumed({"t-0": 4}, is_all=False), False),
    (wrong_consumed, _consumed({"t-1": 1}, is_all=False), False),
    (wrong_positions, _position(3, 5, 2), True),
    (wrong_positions, _position(1, 5, 4), False),
    (wrong_positions, _position(3, 4, 1), False),
    (wrong_generations, _generations(1, 2), True),
    (wrong_generations, _generations(1), False),
    (wrong_generations, _generations(1, 2, 3), False),
    (wrong_generations, _generations(2, 3, group="n", is_classic=False), True),
    (wrong_generations, _generations(3, group="n", is_classic=False), False),
    (wrong_generations, _generations(2, group="s", is_classic=False), True),
    (wrong_generations, _generations(3, group="s", is_classic=False), False),
    (wrong_generations, _generations(1, group="unseen", is_classic=False), False),
]


@each(("check", "facts", "is_right"), CASES)
def test_each_disagreement_is_seen(check: Callable[[Facts, Rows], list[str]], facts: Facts, is_right: bool) -> None:
    assert (check(facts, ROWS) == []) is is_right
