"""The folds that the capture engine makes of `exchanges`, `partitions` and `batches`, and what is done with all of one.

The folds of the questions know clients by their hosts; those of the insights by addresses.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds.lags import stamps, waiting
from netdiag.traffic.folds.merged import (
    ACKS,
    FIRST,
    GREATEST,
    MOST_RESENT,
    RESENT,
    SUM,
    Quantiles,
    column,
    hosts,
    merged,
    settled,
    with_column,
    without_beside,
)
from netdiag.traffic.tables import table

OF_EXCHANGES = (
    *("coverage", "rates", "timeline", "latency", "throttling", "api_versions", "consume", "transactions"),
    *("calls", "answers", "cut_off", "acks", "silences", "tellers", "refused"),
)
OF_PARTITIONS = ("places", "offsets", "refused_partitions", "too_large")
OF_BATCHES = ("sent", "produced", "stamps")
ALL = (*OF_EXCHANGES, *OF_PARTITIONS, *OF_BATCHES)
# What `produced` is told of, and is no table of its own.
SEQUENCES = "sequences"
PIECES = (*ALL, SEQUENCES)
"""What the engine gives in pieces."""

_FETCH, _JOIN_GROUP, _SYNC_GROUP = 1, 11, 14


def _service(rows: pa.Table) -> pa.ChunkedArray:
    """As `aggregates.requests.service` has it."""
    whole = rows["latency_ms"]
    waited = rows["wait_ms"].cast(pa.float64())
    long_poll = pc.and_(pc.equal(rows["api_key"], _FETCH), pc.is_valid(rows["empty"]))
    asked = pc.fill_null(pc.and_(long_poll, pc.greater_equal(whole, waited)), False)
    less = pc.if_else(asked, pc.subtract(whole, waited), whole)
    of_members = pc.is_in(rows["api_key"], pa.array((_JOIN_GROUP, _SYNC_GROUP), pa.int16()))
    return pc.if_else(of_members, pa.scalar(None, pa.float64()), less)


def _shown(rows: pa.Table) -> pa.ChunkedArray:
    """A broker as `analysis.called_by_name` has it."""
    both = pc.binary_join_element_wise(rows["broker_name"], rows["listener"], " ")
    return pc.coalesce(both, rows["broker_name"], rows["broker"])


def _topic(rows: pa.Table) -> pa.ChunkedArray:
    return pc.coalesce(rows["topic"], rows["topic_id"])


_OF_BROKERS = ((column("api_name"), column("broker")), (column("api_name"), _shown))
_PRODUCED = (*(column(name) for name in ("client_id", ACKS, "codec", "producer_id", "transactional")), _topic)
# What is done once more with merged rows.
_SETTLED: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "timeline": settled([Quantiles(value=column("latency_ms"), percents=(95,), groups=(column("time"),))]),
    "latency": settled(
        [
            Quantiles(value=value, percents=(50, 95, 99), groups=groups)
            for value in (column("latency_ms"), _service)
            for groups in _OF_BROKERS
        ]
    ),
    "sent": settled([Quantiles(value=column(name), percents=(50,), groups=_PRODUCED) for name in ("bytes", "records")]),
}


def whole(name: str, pieces: Callable[[str], pa.Table], connections: Callable[[], pa.Table]) -> pa.Table:
    """A fold out of all of its pieces, with topics named; `connections` are those of the table."""
    if name == "stamps":
        return stamps(pieces(name), waiting(pieces("offsets")))
    rows = merged(pieces(name))
    if name == "produced":
        return _with_ends(_with_resent(rows, pieces(SEQUENCES), connections()), connections())
    return without_beside(_SETTLED.get(name, without_beside)(rows))


ENDS = ("client", "broker", "file")
_PRODUCER = ("host", "client_id", "named", "partition", "producer_id", "producer_epoch")
_SENDER = ("host", "client_id", "named")


def _with_ends(rows: pa.Table, connections: pa.Table) -> pa.Table:
    """Rows of known connections, with their ends; those that differ in the connection only as one."""
    place = pc.index_in(rows["connection"], connections["connection"])
    found = rows.filter(pc.is_valid(place)).drop_columns(["connection"])
    place = place.drop_null()
    for name in ENDS:
        found = with_column(found, name, FIRST, connections[name].take(place))
    found = with_column(found, "_host", "beside", pa.chunked_array(_host(found).chunks, pa.string()))
    return without_beside(merged(found))


def _host(rows: pa.Table) -> pa.ChunkedArray:
    """A client as insights know it: its address without port and brackets."""
    return pc.replace_substring_regex(pc.replace_substring_regex(rows["client"], r":\d*$", ""), r"[\[\]]", "")


def _with_resent(rows: pa.Table, sequences: pa.Table, connections: pa.Table) -> pa.Table:
    """How often batches were sent again, in one row of each client and topic."""
    again = _sent_again(sequences)
    place = pc.index_in(rows["connection"], connections["connection"])
    clients = pa.table({"client": connections["client"].take(place)})
    senders = pa.table({"host": _host(clients), "client_id": rows["client_id"], "named": _topic(rows)})
    left = {tuple(row[name] for name in _SENDER): row for row in again.to_pylist()}
    resent, most = np.zeros(rows.num_rows, np.int64), np.ones(rows.num_rows, np.int64)
    if left:
        for number, sender in enumerate(senders.to_pylist()):
            told = left.pop((sender["host"], sender["client_id"], sender["named"]), None)
            if told is not None:
                resent[number], most[number] = told["resent"], told["most"]
    found = with_column(rows, RESENT, SUM, pa.array(resent))
    return with_column(found, MOST_RESENT, GREATEST, pa.array(most))


def _sent_again(sequences: pa.Table) -> pa.Table:
    """By sender how often its batches were sent again, and how often the one that was sent most often."""
    host = pc.replace_substring_regex(hosts("client")(sequences), r"[\[\]]", "")
    host = pc.replace_substring_regex(host, r":0$", "")
    keys = {"host": host, "named": _topic(sequences)}
    keys |= {name: sequences[name] for name in ("client_id", *_PRODUCER[3:])}
    numbered = pa.table({**keys, "row": pa.array(np.arange(sequences.num_rows))})
    producers = numbered.group_by(list(_PRODUCER), use_threads=False).aggregate([("row", "list")])
    owner = np.zeros(sequences.num_rows, np.int64)
    lists = producers["row_list"].combine_chunks()
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    owner[lists.flatten().to_numpy()] = np.repeat(np.arange(producers.num_rows), sizes)
    lengths = pc.fill_null(pc.list_value_length(sequences["base_sequence"]), 0).to_numpy()
    bases = pc.list_flatten(sequences["base_sequence"]).to_numpy().astype(np.int64)
    # A sequence has 31 bits.
    every = np.sort((np.repeat(owner, lengths) << 31) | bases)
    begin = np.flatnonzero(np.r_[True, every[1:] != every[:-1]]) if len(every) else np.zeros(0, np.int64)
    times = np.diff(np.r_[begin, len(every)])
    several = times > 1
    place = pa.array(every[begin][several] >> 31)
    told = {name: producers[name].take(place) for name in _SENDER}
    found = pa.table({**told, "resent": pa.array(times[several] - 1), "most": pa.array(times[several])})
    summed = found.group_by(list(_SENDER), use_threads=False).aggregate([("resent", "sum"), ("most", "max")])
    return summed.rename_columns({"resent_sum": "resent", "most_max": "most"})


def no_connections() -> pa.Table:
    """The connections of nothing."""
    return schema_of(table("connections"), ("connection", *ENDS), unit="us").empty_table()
