"""Which pairs Python looks at, and which connections pairs are of."""

from typing import Any

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.layout import FACTS, FROM_TWIN, NOTHING, PAIR
from netdiag.traffic.engine.compiled.sorting_out import distinct, rare_pairs


def pairs(*rows: tuple[int, int, int]) -> npt.NDArray[Any]:
    made = np.zeros(len(rows), PAIR)
    for pair, (asked, answer, connection) in zip(made, rows, strict=True):
        pair["asked"], pair["answer"], pair["connection"] = asked, answer, connection
    return made


def test_pairs_are_rare_for_a_reason() -> None:
    facts = np.zeros(5, FACTS)
    facts["raw"] = NOTHING
    facts["api_key"] = [1, 1, 12, 3, 1]
    facts["raw"][3] = 0
    facts["endpoints"][4] = 2, 3
    some = pairs((0, 1, 0), (FROM_TWIN, 1, 0), (0, FROM_TWIN - 3, 0), (2, 1, 0), (3, NOTHING, 0), (0, 4, 0))
    groups = np.zeros(13, np.uint8)
    groups[12] = 1

    def found(*, reads_raw: bool, groups: npt.NDArray[Any], endpoints: bool) -> Any:
        places = np.zeros(len(some), np.int64)
        return places[: rare_pairs(some, facts, reads_raw, groups, endpoints, places)].tolist()

    assert found(reads_raw=True, groups=groups, endpoints=True) == [1, 2, 3, 4, 5]
    assert found(reads_raw=False, groups=groups, endpoints=False) == [1, 2, 3]
    assert found(reads_raw=True, groups=groups[:0], endpoints=False) == [1, 2, 4]


def test_each_connection_is_found_once() -> None:
    some = pairs((0, 0, 7), (0, 0, 2), (0, 0, 7), (0, 0, 9))
    places, found, local = np.full(10, NOTHING, np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32)
    assert distinct(some, places, found, local) == 3
    assert found[:3].tolist() == [7, 2, 9]
    assert local.tolist() == [0, 1, 0, 2]
    assert places.tolist() == [NOTHING] * 10
