"""The folds of `partitions`, and of the exchanges that it says are refused."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.folds.fold import Fold, Maker
from netdiag.traffic.folds.joined import FIRST_OF_PARTITION, FIRST_OF_TOPIC, LOG_END

_ASKED = "asked"
_TOPIC = ("topic", "topic_id")
_OFFSETS = (8, 9, 28)
"""OffsetCommit, OffsetFetch, TxnOffsetCommit."""
_TOO_LARGE = (10, 18)


def _of_groups(rows: pa.Table) -> pa.ChunkedArray:
    return pc.and_(pc.is_valid(rows["group"]), pc.is_in(rows["api_key"], pa.array(_OFFSETS, pa.int16())))


def _refused(rows: pa.Table) -> pa.ChunkedArray:
    return pc.not_equal(rows["error_code"], 0)


def _too_large(rows: pa.Table) -> pa.ChunkedArray:
    return pc.is_in(rows["error_code"], pa.array(_TOO_LARGE, pa.int16()))


def _of_groups_only(name: str) -> Maker:
    """The column where the offset of a group is told, null elsewhere."""

    def made(rows: pa.Table) -> pa.ChunkedArray:
        return pc.if_else(_of_groups(rows), rows[name], None)

    return made


FOLDS: Mapping[str, Fold] = {
    "places": Fold(
        of=_ASKED,
        keys=("connection", "api_key", "client_id", "group", *_TOPIC, "partition", "error_code", "replica_id"),
        sums=("records", "record_bytes", FIRST_OF_TOPIC, FIRST_OF_PARTITION),
        first=("time",),
        beside={"with_records": lambda rows: pc.greater(rows["record_bytes"], 0)},
    ),
    "offsets": Fold(
        of=_ASKED,
        keys=(
            *("api_key", "client_id", "group", *_TOPIC, "partition", "error_code"),
            *("time", "request_offset", "response_offset"),
        ),
        greatest=(LOG_END,),
        where=lambda rows: pc.or_(_of_groups(rows), pc.is_valid(rows[LOG_END])),
        made={
            name: _of_groups_only(name) for name in ("client_id", "time", "request_offset", "response_offset", "group")
        },
    ),
    # Nothing is alike here, but most is left out.
    "refused": Fold(
        of="refused",
        keys=(
            *("connection", "correlation_id", "time", "response_time", "api_name", "error_code"),
            *("client", "client_id", "client_name", "broker", "broker_name", "listener"),
        ),
        apart=True,
    ),
    "refused_partitions": Fold(
        of=_ASKED, keys=("connection", "correlation_id", "time", *_TOPIC, "error_code"), where=_refused, apart=True
    ),
    "too_large": Fold(
        of=_ASKED,
        keys=("connection", "client_id", *_TOPIC, "error_code"),
        greatest=("record_bytes",),
        first=("time",),
        where=_too_large,
    ),
}
