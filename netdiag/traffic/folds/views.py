"""Views: rows of a table with what other rows of their exchange say, an exchange at a time.

Rows of one exchange lie in row groups of one number, see `netdiag.traffic.tables.TOGETHER`.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds.fold import Reader
from netdiag.traffic.tables import table

FIRST_OF_TOPIC, FIRST_OF_PARTITION, LOG_END = "first_of_topic", "first_of_partition", "log_end"
"""1 in the row that stands for an exchange among those of its topic, of its partition; the end of the log it tells."""
ACKS, ALL_BYTES, ALL_RECORDS = "acks", "all_bytes", "all_records"
ENDS = ("client", "broker", "file")
_KEY = ("connection", "correlation_id", "time")
_ANSWERED = ("connection", "correlation_id", "response_time")
_PRODUCE, _FETCH, _LIST_OFFSETS, _LATEST = 0, 1, 2, -1
_PLACE = ("topic", "partition")
_NAMED = ("topic", "topic_id", "partition")
_STAMPS = ("_base", "_last", "_first_stamp", "_last_stamp")


def refused_schema() -> pa.Schema:
    """The schema of `refused`."""
    return schema_of(table("exchanges"), unit="us")


def refused(part: Reader, columns: Iterable[str]) -> Iterator[pa.Table]:
    """The rows of `exchanges` with an error, be it one of a partition only."""
    told = [_errors(rows) for rows in part.rows("leaders", (*_KEY, "error_code"))]
    leaders = pa.concat_tables(told).rename_columns(_ANSWERED) if told else None
    own = frozenset(columns) | {*_KEY, "response_time", "error_code"}
    for group in part.together({"exchanges": own, "partitions": (*_KEY, "error_code")}):
        rows = group["exchanges"]
        wrong = _true(pc.not_equal(rows["error_code"], 0))
        wrong = pc.or_(wrong, _among(rows, _KEY, _errors(group["partitions"])))
        if leaders is not None:
            wrong = pc.or_(wrong, _among(rows, _ANSWERED, leaders))
        yield rows.filter(wrong)


def asked_schema() -> pa.Schema:
    """The schema of `asked`."""
    return _with_fields(schema_of(table("partitions"), unit="us"), FIRST_OF_TOPIC, FIRST_OF_PARTITION, LOG_END)


def asked(part: Reader, columns: Iterable[str]) -> Iterator[pa.Table]:
    """The rows of `partitions`; which of them count for their exchange, and the end of the log."""
    needs = (*_KEY, *_NAMED, "api_key", "replica_id", "records", "error_code", "high_watermark", "response_offset")
    given = frozenset(columns) - {FIRST_OF_TOPIC, FIRST_OF_PARTITION, LOG_END}
    for group in part.together({"partitions": given | {*needs, "timestamp"}}):
        rows = group["partitions"]
        counts = _counts(rows)
        of_topic = _first(rows, counts, ())
        rows = rows.append_column(FIRST_OF_TOPIC, of_topic)
        rows = rows.append_column(FIRST_OF_PARTITION, _first(rows, counts, ("partition",)))
        yield rows.append_column(LOG_END, _log_end(rows))


def sent_schema() -> pa.Schema:
    """The schema of `sent`."""
    whole = schema_of(table("batches"), unit="us").append(pa.field(ACKS, pa.int16()))
    return _with_fields(whole, ALL_BYTES, ALL_RECORDS)


def sent(part: Reader, columns: Iterable[str]) -> Iterator[pa.Table]:
    """The rows of `batches` that were produced, with acks of their exchange; sizes twice, as some are summed up."""
    given = frozenset(columns) - {ACKS, ALL_BYTES, ALL_RECORDS}
    batches = given | {*_KEY, "api_key", "bytes", "records"}
    for group in part.together({"batches": batches, "exchanges": {*_KEY, "api_key", ACKS}}):
        produced = group["batches"].filter(pc.equal(group["batches"]["api_key"], _PRODUCE))
        asked_for = group["exchanges"].filter(pc.equal(group["exchanges"]["api_key"], _PRODUCE))
        rows = produced.join(asked_for.drop_columns(["api_key"]), list(_KEY), use_threads=False)
        yield rows.append_column(ALL_BYTES, rows["bytes"]).append_column(ALL_RECORDS, rows["records"])


def spoken_schema() -> pa.Schema:
    """The schema of `spoken`."""
    ends = schema_of(table("connections"), ENDS, unit="us")
    return pa.schema([*schema_of(table("batches"), unit="us"), *ends])


def spoken(part: Reader, columns: Iterable[str]) -> Iterator[pa.Table]:
    """The rows of `batches`, with the ends of their connections."""
    none = schema_of(table("connections"), ("connection", *ENDS), unit="us").empty_table()
    told = (rows.select(none.column_names) for rows in part.rows("connections", none.column_names))
    known = pa.concat_tables([none, *told]).combine_chunks()
    given = frozenset(columns) - frozenset(ENDS)
    for rows in part.rows("batches", given | {"connection"}):
        place = pc.index_in(rows["connection"], known["connection"])
        found = rows.filter(pc.is_valid(place))
        place = place.drop_null()
        yield pa.table(
            {**{name: found[name] for name in found.column_names}, **{name: known[name].take(place) for name in ENDS}}
        )


def placed_schema() -> pa.Schema:
    """The schema of `placed`."""
    return _with_fields(schema_of(table("batches"), ("topic", "partition"), unit="us"), *_STAMPS)


def placed(part: Reader, columns: Iterable[str]) -> Iterator[pa.Table]:
    """Batches that groups may wait for: their places in the log, their times, as `lag` of the aggregates finds them."""
    del columns
    if not part.waiting.num_rows:
        return
    places = part.waiting.group_by(list(_PLACE), use_threads=False).aggregate([("offset", "min")])
    places = places.rename_columns([*_PLACE, "least"]).append_column("place", pa.array(np.arange(places.num_rows)))
    offsets = part.waiting.join(places, list(_PLACE), use_threads=False)
    own = ("control", "max_timestamp", "first_timestamp", "log_append_time", "base_offset", "last_offset_delta")
    told = {*_KEY, *_NAMED, "api_key", "error_code", "response_offset"}
    for group in part.together({"batches": {*_KEY, *_NAMED, *own, "api_key", "records"}, "partitions": told}):
        rows = _named(group["batches"]).join(places, list(_PLACE), join_type="inner", use_threads=False)
        wanted = pc.and_(pc.invert(_true(rows["control"])), _true(pc.greater_equal(rows["max_timestamp"], 0)))
        rows = rows.filter(wanted)
        fetched = rows.filter(pc.equal(rows["api_key"], _FETCH))
        produced = rows.filter(pc.equal(rows["api_key"], _PRODUCE))
        known = _places(_named(group["partitions"]))
        found = produced.join(known, [*_KEY, *_PLACE], join_type="inner", use_threads=False)
        fetched = _stamped(fetched.append_column("_base", fetched["base_offset"]))
        both = pa.concat_tables([fetched, _stamped(found).select(fetched.column_names)])
        yield both.filter(_near(both, offsets)).select(placed_schema().names)


def _errors(rows: pa.Table) -> pa.Table:
    return rows.filter(_true(pc.not_equal(rows["error_code"], 0))).select(_KEY)


def _among(rows: pa.Table, keys: tuple[str, ...], some: pa.Table) -> pa.Array:
    """Which rows have the keys of one of some others."""
    found = np.zeros(rows.num_rows, np.bool_)
    if some.num_rows:
        numbered = rows.select(keys).append_column("row", pa.array(np.arange(rows.num_rows)))
        found[numbered.join(some, list(keys), join_type="left semi", use_threads=False)["row"].to_numpy()] = True
    return pa.array(found)


def _counts(rows: pa.Table) -> pa.ChunkedArray:
    """The rows that are counted by exchange: what was produced, and what was fetched by clients and had records."""
    api = rows["api_key"]
    client = pc.less(pc.fill_null(rows["replica_id"], -1), 0)
    fetched = pc.and_(pc.and_(pc.equal(api, _FETCH), client), _true(pc.greater(rows["records"], 0)))
    return pc.or_(pc.equal(api, _PRODUCE), fetched)


def _first(rows: pa.Table, counts: pa.ChunkedArray, more: tuple[str, ...]) -> pa.Array:
    topics = pc.coalesce(rows["topic"], rows["topic_id"]).combine_chunks().dictionary_encode().indices
    keys = rows.select([*_KEY, "api_key", *more]).append_column("topic", topics)
    whole = keys.append_column("row", pa.array(np.arange(rows.num_rows)))
    first = whole.filter(counts).group_by(keys.column_names, use_threads=False).aggregate([("row", "min")])
    found = np.zeros(rows.num_rows, np.int64)
    found[first["row_min"].to_numpy()] = 1
    return pa.array(found)


def _log_end(rows: pa.Table) -> pa.ChunkedArray:
    api, offset = rows["api_key"], rows["response_offset"]
    latest = pc.and_(pc.equal(api, _LIST_OFFSETS), _true(pc.equal(rows["timestamp"], _LATEST)))
    written = pc.and_(pc.equal(api, _PRODUCE), _true(pc.greater_equal(offset, 0)))
    told = pc.if_else(latest, offset, pc.if_else(written, pc.add(offset, rows["records"]), None))
    end = pc.if_else(pc.equal(api, _FETCH), rows["high_watermark"], told)
    return pc.if_else(pc.and_(_ok(rows), _true(pc.greater_equal(end, 0))), end, None)


def _places(partitions: pa.Table) -> pa.Table:
    answered = pc.and_(pc.equal(partitions["api_key"], _PRODUCE), _ok(partitions))
    rows = partitions.filter(pc.and_(answered, _true(pc.greater_equal(partitions["response_offset"], 0))))
    return rows.select([*_KEY, "topic", "partition", "response_offset"]).rename_columns(
        [*_KEY, "topic", "partition", "_base"]
    )


def _stamped(rows: pa.Table) -> pa.Table:
    first, last = rows["first_timestamp"], rows["max_timestamp"]
    unknown = pc.or_(_true(rows["log_append_time"]), _true(pc.less(first, 0)))
    delta = pc.coalesce(rows["last_offset_delta"].cast(pa.int64()), pc.subtract(rows["records"], 1), pa.scalar(0))
    stamps = {
        "_base": rows["_base"],
        "_last": pc.add(rows["_base"], delta),
        "_first_stamp": pc.if_else(unknown, last, pc.coalesce(first, last)),
        "_last_stamp": last,
    }
    found = pa.table({"topic": rows["topic"], "partition": rows["partition"], **stamps}, schema=placed_schema())
    found = found.append_column("place", rows["place"])
    return found.filter(_true(pc.greater_equal(found["_last"], rows["least"])))


def _near(rows: pa.Table, offsets: pa.Table) -> pa.Array:
    """Which batches lie where a group is, or first behind that; `offsets` are where groups are, by `place`."""
    where, base, last = (rows[name].to_numpy() for name in ("place", "_base", "_last"))
    _, ranks = np.unique(np.concatenate([offsets["offset"].to_numpy(), base, last]), return_inverse=True)
    of_groups, begin, end = np.split(ranks, [offsets.num_rows, offsets.num_rows + len(base)])
    held = np.sort(offsets["place"].to_numpy() * len(ranks) + of_groups)
    before = np.searchsorted(held, where * len(ranks) + begin)
    # Where a batch ends before it begins, nobody knows what that would be the first of.
    near = (np.searchsorted(held, where * len(ranks) + end, "right") > before) | (last < base)
    # Of those that have the same offsets before them the first is enough.
    order = np.lexsort((rows["_first_stamp"].to_numpy(), base, before, where))
    alike = (before[order][1:] == before[order][:-1]) & (where[order][1:] == where[order][:-1])
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = ~alike
    near[order[is_first]] = True
    return pa.array(near)


def _named(rows: pa.Table) -> pa.Table:
    topics = pc.coalesce(rows["topic"], rows["topic_id"])
    named = rows.set_column(rows.schema.get_field_index("topic"), "topic", topics).drop_columns(["topic_id"])
    return named.filter(pc.is_valid(topics))


def _ok(rows: pa.Table) -> pa.ChunkedArray:
    return pc.equal(pc.fill_null(rows["error_code"], 0), 0)


def _true(condition: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(condition, False)


def _with_fields(schema: pa.Schema, *names: str) -> pa.Schema:
    return pa.schema([*schema, *(pa.field(name, pa.int64()) for name in names)])
