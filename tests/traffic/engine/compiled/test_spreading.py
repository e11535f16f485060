"""Columns out of records are what numpy takes out of them."""

import numpy as np
import pytest

from netdiag.traffic.engine.compiled.arrow_columns import record_type
from netdiag.traffic.engine.compiled.spreading import absences, absent, common, spread
from netdiag.traffic.tables import table


@pytest.mark.parametrize("name", ["exchanges", "partitions", "batches"])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000, 20_000])
def test_columns_are_the_fields_of_the_records(name: str, count: int) -> None:
    kind = record_type(table(name))
    rows = np.frombuffer(np.random.default_rng(count).bytes(kind.itemsize * count), kind).copy()
    wanted = [field for place, field in enumerate(kind.names or ()) if place % 7 != 3]
    found = spread(rows, wanted)
    kept = {field: rows[field].copy() for field in wanted}
    rows.view(np.uint8)[:] = 0
    assert list(found) == wanted
    for field in wanted:
        assert found[field].dtype == kept[field].dtype
        assert found[field].shape == kept[field].shape
        assert found[field].tobytes() == kept[field].tobytes()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000])
def test_bits_that_are_there(count: int) -> None:
    present = np.random.default_rng(count).integers(0, 1 << 63, count, np.uint64) | np.uint64(1 << 5)
    everywhere, somewhere = common(present)
    assert everywhere == int(np.bitwise_and.reduce(present))
    assert somewhere == int(np.bitwise_or.reduce(present))
    for bit in (3, 5, 62):
        missing, bitmap = np.empty(count, np.bool_), np.full(-(-count // 8), 255, np.uint8)
        absent(present, 1 << bit, missing, bitmap)
        expected = [not int(each) >> bit & 1 for each in present]
        assert missing.tolist() == expected
        assert bitmap.tobytes() == np.packbits(~np.array(expected, bool), bitorder="little").tobytes()
    told, maps = np.empty((2, count), np.bool_), np.full((2, 8 * count + 8), 255, np.uint8)
    absences(present, np.array([1 << 3, 1 << 62], np.uint64), told, maps)
    assert told[1].tolist() == missing.tolist()
    assert maps[1, : len(bitmap)].tobytes() == bitmap.tobytes()
    assert not maps[1, len(bitmap) :].any()
    assert told[0].tolist() == [not int(each) >> 3 & 1 for each in present]
