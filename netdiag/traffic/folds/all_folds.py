"""The folds: of `exchanges`, of `partitions`, of `batches`, each for a question or an insight; and the list of all.

The folds of the questions have names for clients and brokers; those of the insights have addresses.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds import views
from netdiag.traffic.folds.fold import (
    TIMES,
    Fold,
    Maker,
    Quantiles,
    Reader,
    View,
    column,
    digits,
    hosts,
    merged,
    seconds,
    settled,
)
from netdiag.traffic.folds.views import ACKS, ALL_BYTES, ALL_RECORDS, ENDS, FIRST_OF_PARTITION, FIRST_OF_TOPIC, LOG_END
from netdiag.traffic.tables import table

_EXCHANGES = "exchanges"
_PRODUCE, _FETCH, _LIST_OFFSETS, _METADATA = 0, 1, 2, 3
_JOIN_GROUP, _SYNC_GROUP = 11, 14
# Errors of these are told by partition or topic.
_BY_PARTITION = (_PRODUCE, _FETCH, _LIST_OFFSETS, _METADATA)
_LARGEST_REQUEST = 104_857_600
_CLIENT = ("client", "client_id", "client_name")
_BROKER = ("broker", "broker_name", "listener")
# A client and a broker as they are, with where it was seen: of these the earliest row is told.
_ENDS = ("client", "client_id", "broker", "file")


def _is(name: str, *values: int) -> Maker:
    return lambda rows: pc.fill_null(pc.is_in(rows[name], pa.array(values, rows[name].type)), False)


def _has(name: str) -> Maker:
    return lambda rows: pc.is_valid(rows[name])


def _more_than(name: str, number: int) -> Maker:
    return lambda rows: pc.fill_null(pc.greater(rows[name], number), False)


def _not(maker: Maker) -> Maker:
    return lambda rows: pc.invert(maker(rows))


def _all(*makers: Maker) -> Maker:
    def both(rows: pa.Table) -> pa.ChunkedArray:
        found = makers[0](rows)
        for maker in makers[1:]:
            found = pc.and_(found, maker(rows))
        return found

    return both


def _is_client(rows: pa.Table) -> pa.ChunkedArray:
    return pc.less(pc.fill_null(rows["replica_id"], -1), 0)


def _is_unanswered(rows: pa.Table) -> pa.ChunkedArray:
    return pc.equal(rows["outcome"], "unanswered")


def _until_answered(rows: pa.Table) -> pa.ChunkedArray:
    return pc.coalesce(rows["response_time"], rows["time"])


def _is_wrong(rows: pa.Table) -> pa.ChunkedArray:
    """1 for any error."""
    return pc.not_equal(rows["error_code"], 0).cast(pa.int16())


def _is_long_poll(rows: pa.Table) -> pa.ChunkedArray:
    waits = pc.and_(pc.fill_null(rows["empty"], False), _more_than("wait_ms", 0)(rows))
    return pc.and_(waits, _is("api_key", _FETCH)(rows))


def _of_long_polls(name: str) -> Maker:
    """A column that says something of long polls only."""
    return lambda rows: pc.if_else(_is_long_poll(rows), rows[name], pa.scalar(None, rows[name].type))


def _service(rows: pa.Table) -> pa.ChunkedArray:
    """As `aggregates.latency.service` has it."""
    whole = rows["latency_ms"]
    waited = rows["wait_ms"].cast(pa.float64())
    asked = pc.and_(_is_long_poll(rows), pc.fill_null(pc.greater_equal(whole, waited), False))
    less = pc.if_else(asked, pc.subtract(whole, waited), whole)
    return pc.if_else(_is("api_key", _JOIN_GROUP, _SYNC_GROUP)(rows), pa.scalar(None, pa.float64()), less)


def _first_topic(rows: pa.Table) -> pa.ChunkedArray:
    return pc.list_slice(rows["topics"], 0, 1).cast(rows["topics"].type)


def _shown(rows: pa.Table) -> pa.ChunkedArray:
    """A broker as `analysis.called_by_name` has it."""
    both = pc.binary_join_element_wise(rows["broker_name"], rows["listener"], " ")
    return pc.coalesce(both, rows["broker_name"], rows["broker"])


def _tellers(part: Reader, columns: Iterable[str]) -> Iterator[pa.Table]:
    """The exchanges that may have told an address, and those that asked for topics."""
    told = [each["time"].unique() for each in part.rows("endpoints", ("time",))]
    times = pa.chunked_array([chunk for each in told for chunk in _chunks(each)], pa.timestamp("us", tz="UTC"))
    for each in part.rows(_EXCHANGES, columns):
        tells = pc.is_in(each["response_time"], times.unique())
        yield each.filter(pc.or_(tells, _is("api_key", _METADATA)(each)))


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return list(column.chunks) if isinstance(column, pa.ChunkedArray) else [column]


OF_EXCHANGES: Mapping[str, Fold] = {
    "coverage": Fold(
        of=_EXCHANGES,
        keys=("api_name", "api_version", "decoded", "outcome"),
        sums=("request_bytes", "response_bytes"),
    ),
    "rates": Fold(
        of=_EXCHANGES,
        keys=("api_name", *_CLIENT, *_BROKER),
        sums=("request_bytes", "response_bytes", "records", "record_bytes"),
        greatest=("response_time",),
        first=("time",),
        made={"client": hosts("client"), "response_time": _until_answered},
    ),
    "timeline": Fold(
        of=_EXCHANGES,
        keys=("time", "error_code", "outcome"),
        sums=("request_bytes", "response_bytes"),
        greatest=("latency_ms",),
        made={"time": seconds("time"), "error_code": _is_wrong},
        beside={"latency": digits(lambda rows: rows["latency_ms"])},
    ),
    "latency": Fold(
        of=_EXCHANGES,
        keys=("api_name", "api_key", *_BROKER, "outcome", "empty", "wait_ms"),
        sums=("request_bytes",),
        greatest=("latency_ms",),
        where=_has("api_name"),
        made={"wait_ms": _of_long_polls("wait_ms"), "empty": _of_long_polls("empty")},
        beside={"latency": digits(lambda rows: rows["latency_ms"]), "service": digits(_service)},
    ),
    "throttling": Fold(
        of=_EXCHANGES,
        keys=("api_name", *_CLIENT, *_BROKER, "throttle_ms"),
        made={"client": hosts("client")},
        where=_all(_has("api_name"), _more_than("throttle_ms", 0)),
    ),
    "api_versions": Fold(
        of=_EXCHANGES,
        keys=("api_name", "api_key", "api_version", *_CLIENT),
        made={"client": hosts("client")},
        where=_all(_has("api_key"), _has("api_version")),
    ),
    "consume": Fold(
        of=_EXCHANGES,
        keys=("api_key", "replica_id", *_CLIENT, "topics", "empty"),
        sums=("response_bytes", "records", "record_bytes"),
        made={"client": hosts("client")},
        where=_all(_is("api_key", _FETCH), _is_client, _has("response_bytes")),
    ),
    "transactions": Fold(
        of=_EXCHANGES,
        keys=(
            *("transactional_id", "api_key", "time", "request_packet", "correlation_id", "error_code"),
            *("outcome", "client_id", "response_time", "committed"),
        ),
        apart=True,
        where=_has("transactional_id"),
    ),
    "calls": Fold(
        of=_EXCHANGES,
        keys=(*_ENDS, "api_key", "api_version", "replica_id", "outcome", "throttle_ms"),
        first=("time", "request_packet"),
        where=_all(_has("api_key"), _is_client),
        beside={"window": seconds("time", 10)},
    ),
    "answers": Fold(
        of=_EXCHANGES,
        keys=("connection", *_ENDS, "api_key", "replica_id", "error_code", "group", "topics"),
        first=("time", "response_packet"),
        made={"topics": _first_topic},
        where=_all(_has("api_key"), _not(_is("api_key", *_BY_PARTITION)), _is_client, _has("error_code")),
    ),
    "cut_off": Fold(
        of=_EXCHANGES,
        keys=(*_ENDS, "api_key", "replica_id", "topics", "outcome", "request_bytes"),
        first=("time", "request_packet"),
        where=_all(_more_than("request_bytes", _LARGEST_REQUEST), _is_unanswered),
    ),
    "acks": Fold(
        of=_EXCHANGES,
        keys=(*_ENDS, "api_key", "acks", "topics"),
        first=("time", "request_packet"),
        where=_all(_is("api_key", _PRODUCE), _has("acks")),
    ),
    "silences": Fold(
        of=_EXCHANGES,
        keys=("connection", "outcome"),
        greatest=("time", "response_time"),
        made={"response_time": _until_answered},
    ),
    "tellers": Fold(
        of="tellers",
        keys=("connection", "correlation_id", "response_time", "response_packet", "file", "api_key", "topics"),
        apart=True,
    ),
}
_OF_BROKERS = ((column("api_name"), column("broker")), (column("api_name"), _shown))
_SETTLED_EXCHANGES: Mapping[str, Callable[[Fold, pa.Table], pa.Table]] = {
    "timeline": settled([Quantiles(value=column("latency_ms"), percents=(95,), groups=(column("time"),))]),
    "latency": settled(
        [
            Quantiles(value=value, percents=(50, 95, 99), groups=groups)
            for value in (column("latency_ms"), _service)
            for groups in _OF_BROKERS
        ]
    ),
}


# Of partitions, and of the exchanges that they say are refused.

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


OF_PARTITIONS: Mapping[str, Fold] = {
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


# Of record batches, and of what their exchanges tell of them.

_SEQUENCE = ("partition", "producer_id", "producer_epoch", "base_sequence")
RESENT, MOST_RESENT = "resent", "most_resent"
"""Of a batch, in the row that stands for it: how often it was sent again, how often it was sent."""


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


OF_BATCHES: Mapping[str, Fold] = {
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
# What is folded when it is known where groups are.
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
_SETTLED_BATCHES: Mapping[str, Callable[[Fold, pa.Table], pa.Table]] = {
    "sequences": settled_sequences,
    "sent": settled([Quantiles(value=column(name), percents=(50,), groups=_PRODUCED) for name in ("bytes", "records")]),
}


VIEWS: Mapping[str, View] = {
    "tellers": View(schema=lambda: schema_of(table(_EXCHANGES), unit="us"), rows=_tellers),
    "asked": View(schema=views.asked_schema, rows=views.asked),
    "placed": View(schema=views.placed_schema, rows=views.placed),
    "refused": View(schema=views.refused_schema, rows=views.refused),
    "spoken": View(schema=views.spoken_schema, rows=views.spoken),
    "sent": View(schema=views.sent_schema, rows=views.sent),
}
ALL: Mapping[str, Fold] = {**OF_EXCHANGES, **OF_PARTITIONS, **OF_BATCHES, **LATER}
# What is done with the rows of all parts, instead of folding them again.
SETTLED: Mapping[str, Callable[[Fold, pa.Table], pa.Table]] = {**_SETTLED_EXCHANGES, **_SETTLED_BATCHES}
