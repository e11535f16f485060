"""Rows wait in arrays until they are taken."""

import numpy as np

from netdiag.traffic.engine.compiled.gather import EXCHANGES, NEED_LISTED, NEED_PARTITIONS
from netdiag.traffic.engine.compiled.naming import Naming
from netdiag.traffic.engine.compiled.row_arrays import RowArrays
from netdiag.traffic.engine.options import EngineOptions


def test_what_waits_is_taken_once() -> None:
    naming = Naming(EngineOptions(), ["a.pcap"])
    arrays = RowArrays({"exchanges": ("api_key", "api_name", "correlation_id")}, "ns", 4)
    out = arrays.out(len(naming.texts))
    out.exchanges[0]["api_key"], out.exchanges[0]["correlation_id"] = 18, 7
    out.exchanges[0]["present"] = (1 << 64) - 1
    out.ends[EXCHANGES] = 1
    assert arrays.used == 1
    (batch,) = arrays.take(naming).values()
    assert batch.to_pylist() == [{"api_key": 18, "api_name": "ApiVersions", "correlation_id": 7}]
    assert arrays.used == 0
    assert arrays.take(naming) == {}


def test_there_is_room_for_a_pair_of_any_size() -> None:
    arrays = RowArrays({"partitions": ("time",)}, "ns", 4)
    out = arrays.out(500)
    assert len(out.stamps) >= 500
    assert len(out.batches) == 1
    out.ends[[NEED_LISTED, NEED_PARTITIONS]] = 100, 90
    arrays.make_room()
    wider = arrays.out(1)
    assert (len(wider.listed), len(wider.partitions)) == (100, 90)
    assert np.shares_memory(wider.stamps, out.stamps)
