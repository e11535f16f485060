"""Batches that a group may wait for: those where it stands in the log, and the first behind that."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_COMMITS, _TOLD = (8, 28), 9
_PLACE = ("topic", "partition")
_NUMBERS = ("_base", "_last", "_first_stamp", "_last_stamp")
_OFFSETS_SCHEMA = pa.schema([("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())])


def waiting(offsets: pa.Table) -> pa.Table:
    """The offsets that groups have last, by topic and partition, each once; `offsets` is the fold of that name."""
    topics = pc.coalesce(offsets["topic"], offsets["topic_id"])
    named = offsets.set_column(offsets.schema.get_field_index("topic"), "topic", topics)
    is_told = pc.equal(named["api_key"], _TOLD)
    offset = pc.if_else(is_told, named["response_offset"], named["request_offset"])
    worked = pc.or_(is_told, pc.equal(pc.fill_null(named["error_code"], 0), 0))
    known = pc.and_(pc.is_in(named["api_key"], pa.array((*_COMMITS, _TOLD), pa.int16())), pc.is_valid(named["group"]))
    wanted = pc.and_(pc.and_(known, pc.is_valid(topics)), pc.and_(worked, pc.greater_equal(offset, 0)))
    rows = named.select(("group", *_PLACE, "time")).append_column("offset", offset)
    rows = rows.filter(wanted).sort_by([("time", "ascending"), ("offset", "ascending")])
    last = rows.group_by(["group", *_PLACE], use_threads=False).aggregate([("offset", "last")])
    found = last.rename_columns([*last.column_names[:-1], "offset"]).group_by([*_PLACE, "offset"], use_threads=False)
    return found.aggregate([]).select(_OFFSETS_SCHEMA.names).cast(_OFFSETS_SCHEMA)


def stamps(lists: pa.Table, waiting: pa.Table) -> pa.Table:
    """Where batches lie and when they were made, of those that `waiting` groups may wait for, each once.

    `lists` is the fold of that name, in which a row is a partition.
    """
    places = waiting.group_by(list(_PLACE), use_threads=False).aggregate([("offset", "min")])
    places = places.rename_columns([*_PLACE, "least"]).append_column("place", pa.array(np.arange(places.num_rows)))
    topics = pc.coalesce(lists["topic"], lists["topic_id"])
    named = lists.select(["partition", *_NUMBERS]).append_column("topic", topics)
    # What is told as a list cannot be joined.
    keys = named.select(list(_PLACE)).append_column("row", pa.array(np.arange(named.num_rows)))
    met = keys.join(places, list(_PLACE), join_type="inner", use_threads=False)
    rows = named.take(met["row"])
    sizes = pc.fill_null(pc.list_value_length(rows["_base"]), 0).to_numpy()
    columns = {name: pc.list_flatten(rows[name]) for name in _NUMBERS}
    whole = pa.table(
        {
            **{name: pa.array(np.repeat(np.arange(met.num_rows), sizes)) for name in ("row",)},
            **columns,
        }
    )
    spread = {name: met[name].take(whole["row"]) for name in (*_PLACE, "least", "place")}
    found = pa.table({**spread, **columns})
    found = found.filter(pc.greater_equal(found["_last"], found["least"]))
    offsets = waiting.join(places, list(_PLACE), use_threads=False)
    near = found.filter(_near(found, offsets)).select([*_PLACE, *_NUMBERS])
    return near.group_by(near.column_names, use_threads=False).aggregate([]).select([*_PLACE, *_NUMBERS])


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
