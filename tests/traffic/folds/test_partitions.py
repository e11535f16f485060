"""Rows of partitions that a question cannot tell apart."""

import pytest

from netdiag.traffic.folds.fold import folded
from netdiag.traffic.folds.joined import asked
from netdiag.traffic.folds.partitions import FOLDS
from tests.traffic.folds.memory import InMemory, rows_of

PRODUCE, FETCH, COMMIT = 0, 1, 8


def partition(time: int, **other: object) -> dict[str, object]:
    plain = {"time": time, "connection": 1, "correlation_id": 7, "api_key": PRODUCE, "topic": "orders", "partition": 0}
    return plain | {"error_code": 0, "records": 2, "record_bytes": 100, "response_offset": 10} | other


def places_of(name: str, *rows: dict[str, object]) -> list[dict[str, object]]:
    part = InMemory(partitions=rows_of("partitions", rows))
    (whole,) = asked(part, FOLDS[name].reads)
    found: list[dict[str, object]] = folded(FOLDS[name], whole).to_pylist()
    return found


def test_what_is_asked_of_a_partition_is_added_up() -> None:
    (place,) = places_of("places", partition(2), partition(1, records=3), partition(1, records=3))
    sums = {name: place[name] for name in ("times", "records", "record_bytes", "first_of_topic", "first_of_partition")}
    assert sums == {"times": 3, "records": 8, "record_bytes": 300, "first_of_topic": 2, "first_of_partition": 2}


def test_offsets_of_groups_stay_what_they_are_and_ends_of_logs_become_one() -> None:
    commits = [partition(time, api_key=COMMIT, group="a", request_offset=time) for time in (1, 2)]
    ends = [partition(time, response_offset=10 * time) for time in (3, 4)]
    rows = places_of("offsets", *commits, *ends, partition(5, api_key=FETCH))
    assert sorted((row["group"] or "", row["request_offset"] or 0, row["log_end"] or 0) for row in rows) == [
        ("", 0, 42),
        ("a", 1, 0),
        ("a", 2, 0),
    ]


@pytest.mark.parametrize(("name", "codes"), [("refused_partitions", [3, 10]), ("too_large", [10])])
def test_only_what_is_refused(name: str, codes: list[int]) -> None:
    rows = [partition(1, error_code=code) for code in (0, 3, 10, None)]
    assert [row["error_code"] for row in places_of(name, *rows)] == codes
