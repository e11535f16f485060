"""The folds of `batches`, and of what their exchanges tell of them."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.folds.fold import Fold, Maker
from netdiag.traffic.folds.joined import ACKS, ALL_BYTES, ALL_RECORDS
from netdiag.traffic.folds.making import digits

_PRODUCE = 0
_TOPIC = ("topic", "topic_id")


def _sign(rows: pa.Table) -> pa.ChunkedArray:
    """0 for a producer with an id, -1 for one without."""
    known = pc.greater_equal(rows["producer_id"], 0)
    return pc.if_else(known, pa.scalar(0, pa.int64()), pa.scalar(-1, pa.int64()))


def _idempotent_only(name: str) -> Maker:
    """The column where a sequence names a batch, null elsewhere."""

    def made(rows: pa.Table) -> pa.ChunkedArray:
        known = pc.fill_null(pc.greater_equal(rows["producer_id"], 0), False)
        return pc.if_else(known, rows[name], None)

    return made


def _data(rows: pa.Table) -> pa.ChunkedArray:
    controls = pc.fill_null(rows["control"], False)
    return pc.and_(pc.equal(rows["api_key"], _PRODUCE), pc.invert(controls))


FOLDS: Mapping[str, Fold] = {
    "sent": Fold(
        of="sent",
        keys=("api_key", "client_id", *_TOPIC, ACKS, "codec", "producer_id", "transactional"),
        sums=(ALL_BYTES, ALL_RECORDS),
        greatest=("bytes", "records"),
        made={"producer_id": _sign},
        beside={"bytes": digits(lambda rows: rows["bytes"]), "records": digits(lambda rows: rows["records"])},
    ),
    "sequences": Fold(
        of="batches",
        keys=(
            *("connection", "api_key", "client_id", *_TOPIC, "partition", "codec", "control"),
            *("producer_id", "producer_epoch", "base_sequence"),
        ),
        sums=("records", "bytes"),
        first=("time",),
        where=_data,
        made={"base_sequence": _idempotent_only("base_sequence")},
    ),
}
LATER: Mapping[str, Fold] = {
    "stamps": Fold(of="placed", keys=("topic", "partition", "_base", "_last", "_first_stamp", "_last_stamp")),
}
