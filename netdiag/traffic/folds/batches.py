"""The folds of `batches`, and of what their exchanges tell of them."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.folds.fold import TIMES, Fold, Maker, merged
from netdiag.traffic.folds.joined import ACKS, ALL_BYTES, ALL_RECORDS, ENDS
from netdiag.traffic.folds.making import digits, hosts
from netdiag.traffic.folds.settling import Quantiles, column, settled

_PRODUCE = 0
_SEQUENCE = ("partition", "producer_id", "producer_epoch", "base_sequence")
RESENT, MOST_RESENT = "resent", "most_resent"
"""Of a batch, in the row that stands for it: how often it was sent again, how often it was sent."""
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


def settled_sequences(fold: Fold, rows: pa.Table) -> pa.Table:
    """Batches of all parts: how often each was sent again, so that sequences need not be told apart any more."""
    del fold
    number = pa.array(np.arange(rows.num_rows))
    keys = {
        "host": pc.replace_substring_regex(hosts("client")(rows), r"[\[\]]", ""),
        "named": pc.coalesce(rows["topic"], rows["topic_id"]),
        **{name: rows[name] for name in ("client_id", *_SEQUENCE)},
    }
    whole = pa.table({**keys, TIMES: rows[TIMES], "row": number})
    found = whole.group_by(list(keys), use_threads=False).aggregate([(TIMES, "sum"), ("row", "min")])
    named = pc.and_(pc.greater_equal(found["producer_id"], 0), pc.greater_equal(found["base_sequence"], 0))
    sent = pc.if_else(pc.fill_null(named, False), found[f"{TIMES}_sum"], 1).to_numpy()
    counts = np.zeros(rows.num_rows, np.int64)
    counts[found["row_min"].to_numpy()] = sent
    resent = pa.array(np.maximum(counts - 1, 0))
    return merged(_SETTLED, rows.append_column(RESENT, resent).append_column(MOST_RESENT, pa.array(counts)))


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
        of="spoken",
        keys=(
            *("api_key", "client_id", *_TOPIC, "partition", "codec", "control"),
            *_SEQUENCE[1:],
        ),
        sums=("records", "bytes"),
        first=("time", *ENDS),
        where=_data,
        made={"base_sequence": _idempotent_only("base_sequence")},
        beside={"host": hosts("client")},
    ),
}
LATER: Mapping[str, Fold] = {
    "stamps": Fold(of="placed", keys=("topic", "partition", "_base", "_last", "_first_stamp", "_last_stamp")),
}
_SETTLED = Fold(
    of="spoken",
    keys=("api_key", "client_id", *_TOPIC, "codec", "control"),
    sums=("records", "bytes", RESENT),
    greatest=(MOST_RESENT,),
    first=("time", *ENDS),
    beside={"host": hosts("client")},
)
_PRODUCED = (
    *(column(name) for name in ("client_id", ACKS, "codec", "producer_id", "transactional")),
    lambda rows: pc.coalesce(rows["topic"], rows["topic_id"]),
)
SETTLED: Mapping[str, Callable[[Fold, pa.Table], pa.Table]] = {
    "sequences": settled_sequences,
    "sent": settled([Quantiles(value=column(name), percents=(50,), groups=_PRODUCED) for name in ("bytes", "records")]),
}
