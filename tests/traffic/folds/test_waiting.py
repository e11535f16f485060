"""Where groups committed last."""

import pyarrow as pa
import pytest

from netdiag.traffic.folds.all_folds import ALL
from netdiag.traffic.folds.parts import schema_of_folded
from netdiag.traffic.folds.waiting import waiting

COMMIT, TOLD = 8, 9
OFFSETS = schema_of_folded(ALL["offsets"])


def commit(time: int, group: str | None, offset: int, **other: object) -> dict[str, object]:
    row = {"api_key": COMMIT, "time": time, "group": group, "topic": "orders", "partition": 0, "request_offset": offset}
    return dict.fromkeys(OFFSETS.names) | row | other


CASES = {
    "the last one counts, not the greatest": ([commit(1, "a", 9), commit(2, "a", 5)], {("orders", 0, 5)}),
    "several groups": ([commit(1, "a", 9), commit(2, "b", 20)], {("orders", 0, 9), ("orders", 0, 20)}),
    "several groups at one place": ([commit(1, "a", 9), commit(2, "b", 9)], {("orders", 0, 9)}),
    "of one time the greatest": ([commit(1, "a", 7), commit(1, "a", 6)], {("orders", 0, 7)}),
    "a refused one does not count": ([commit(1, "a", 9), commit(2, "a", 5, error_code=16)], {("orders", 0, 9)}),
    "what is told counts": (
        [commit(1, "a", 9), commit(2, "a", -1, api_key=TOLD, response_offset=4)],
        {("orders", 0, 4)},
    ),
    "no offset yet": ([commit(1, "a", -1, api_key=TOLD, response_offset=-1)], set()),
    "a topic without a name is its id": ([commit(1, "a", 9, topic=None, topic_id="I" * 22)], {("I" * 22, 0, 9)}),
    "ends of logs are nobody's": ([commit(1, None, 9, api_key=1, log_end=8)], set()),
}


@pytest.mark.parametrize(("rows", "places"), CASES.values(), ids=CASES)
def test_where_groups_are(rows: list[dict[str, object]], places: set[tuple[str, int, int]]) -> None:
    found = waiting(pa.Table.from_pylist(rows, schema=OFFSETS)).to_pylist()
    assert sorted((row["topic"], row["partition"], row["offset"]) for row in found) == sorted(places)
