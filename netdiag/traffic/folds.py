"""Folds: tables whose rows are summed up where they are alike, made by the capture engine and merged here.

The engine folds `exchanges`, `partitions` and `batches` of each piece of a capture. A folded table has columns of its
table by the same names, `times`, in how many rows that was, and where it is asked for `until`, the time of the last of
them. What becomes of a column the engine says in the metadata of its field. Folds of the questions know clients by
their hosts; those of the insights by addresses.

In this order: merging the pieces of one fold, the batches that a group may wait for, which rows count (known only when
everything was read), and the list of all folds.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.tables import table
from netdiag.values import dataclass

TIMES, UNTIL = "times", "until"
FIRST_OF_TOPIC, FIRST_OF_PARTITION, LOG_END = "first_of_topic", "first_of_partition", "log_end"
"""In how many exchanges a row stands for those of its topic, of its partition; the end of the log it tells."""
ACKS, ALL_BYTES, ALL_RECORDS = "acks", "all_bytes", "all_records"
RESENT, MOST_RESENT = "resent", "most_resent"
"""Of batches: how often they were sent again, how often the one was sent that was sent most often."""

KEY, BESIDE, SUM, GREATEST, FIRST = "key", "beside", "sum", "greatest", "first"
"""Rows are alike that have the same; the same, of what is of no more use then; what becomes of the rest of them."""
_ROLE = b"role"
_ROW = "row"

Maker = Callable[[pa.Table], pa.ChunkedArray | pa.Array]


def roles(schema: pa.Schema, *wanted: str) -> list[str]:
    """The columns of which the engine says that."""
    return [field.name for field in schema if field.metadata and field.metadata[_ROLE].decode() in wanted]


def with_column(rows: pa.Table, name: str, role: str, column: pa.ChunkedArray | pa.Array) -> pa.Table:
    """The rows with one more column, which has a role."""
    return rows.append_column(pa.field(name, column.type, metadata={_ROLE: role.encode()}), column)


def merged(rows: pa.Table) -> pa.Table:
    """Rows that are alike as one; what is not added up stays as it is."""
    schema = rows.schema
    if TIMES not in schema.names or rows.num_rows == 0:
        return rows
    first, sums, greatest = roles(schema, FIRST), roles(schema, SUM), roles(schema, GREATEST)
    common = roles(schema, KEY, BESIDE)
    if first:
        order = pa.table({name: _ranked(rows[name]) for name in first})
        rows = rows.take(pc.sort_indices(order, [(name, "ascending") for name in first]))
    keys = {f"k{number}": _hashed(rows[name]) for number, name in enumerate(common)}
    # A sum of nothing but nulls is null, and nulls are never added to numbers.
    keys |= {f"n{number}": pc.is_null(rows[name]) for number, name in enumerate(sums)}
    beside = {name: rows[name] for name in (*sums, *greatest)}
    grouped = (
        pa.table({**keys, **beside, _ROW: pa.array(np.arange(rows.num_rows))})
        .group_by(list(keys), use_threads=False)
        .aggregate([(_ROW, "min"), *((name, "sum") for name in sums), *((name, "max") for name in greatest)])
    )
    ones = rows.select([*common, *first]).take(grouped[f"{_ROW}_min"])
    found = {name: ones[name] for name in ones.column_names}
    found |= {name: grouped[f"{name}_sum"] for name in sums} | {name: grouped[f"{name}_max"] for name in greatest}
    return pa.table({name: found[name] for name in schema.names}).cast(schema)


def without_beside(rows: pa.Table) -> pa.Table:
    """What is of use when everything is merged."""
    return rows.drop_columns(roles(rows.schema, BESIDE))


def _ranked(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that can be sorted by, nulls first."""
    if pa.types.is_string(column.type):
        return pc.fill_null(column, "")
    return pc.fill_null(column.cast(pa.int64()), -1)


def _hashed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that can be a key: a list as the text of it."""
    if not pa.types.is_list(column.type):
        return column
    return pa.chunked_array([_texts(chunk) for chunk in column.chunks], pa.string())


def _texts(lists: pa.ListArray) -> pa.Array:
    """A text for each list, the same for the same lists only: no length stands without its text."""
    words = lists.flatten()
    lengths = pc.utf8_length(words).cast(pa.string())
    marked = pc.fill_null(pc.binary_join_element_wise(lengths, words, ":"), "")
    sizes = pc.fill_null(pc.list_value_length(lists), 0)
    ends = pc.cumulative_sum(sizes).cast(pa.int32()) if len(lists) else sizes
    starts = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    joined = pc.binary_join(pa.ListArray.from_arrays(starts, marked), ",")
    return pc.if_else(pc.is_null(lists), None, joined)


_PORT = re.compile(r":[0-9]+$")


def hosts(name: str) -> Maker:
    """An address:port, with port 0 whatever it is."""
    return lambda rows: mapped(rows[name], lambda text: _PORT.sub(":0", text))


def mapped(column: pa.ChunkedArray, of: Callable[[str], str | None]) -> pa.ChunkedArray:
    """A text for every text, found once for those that are the same."""
    chunks = []
    for chunk in column.chunks:
        coded = chunk.dictionary_encode()
        texts = pa.array([of(text) for text in coded.dictionary.to_pylist()], pa.string())
        chunks.append(texts.take(coded.indices))
    return pa.chunked_array(chunks, pa.string())


_PLACE = "place_{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """The percentiles of a value that a question asks for in each group of rows, null where a row has no such value."""

    value: Maker
    percents: tuple[int, ...]
    groups: tuple[Maker, ...]


def column(name: str) -> Maker:
    """A column as it is."""
    return lambda rows: rows[name]


def settled(asked: Sequence[Quantiles]) -> Callable[[pa.Table], pa.Table]:
    """Merged rows merged once more, enough for these percentiles."""

    def whole(rows: pa.Table) -> pa.Table:
        rows = without_beside(rows).combine_chunks()
        if rows.num_rows == 0:
            return rows
        places = {_PLACE.format(number): _places(each, rows) for number, each in enumerate(asked)}
        for name, place in places.items():
            rows = with_column(rows, name, BESIDE, pa.array(place))
        return without_beside(merged(rows))

    return whole


def _places(asked: Quantiles, rows: pa.Table) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Where each row is: at a place that is asked for (odd), or between which of them (even), within its group."""
    values = asked.value(rows).cast(pa.float64()).to_numpy(zero_copy_only=False)
    times = rows[TIMES].to_numpy()
    group = _numbered([maker(rows) for maker in asked.groups], rows.num_rows)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.lexsort((values[known], group[known]))]
    found = np.full(rows.num_rows, -1, np.int64)
    if len(order) == 0:
        return found
    groups, until = group[order], np.cumsum(times[order])
    begin = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    end = np.r_[begin[1:], len(order)]
    before = until[begin] - times[order][begin]
    last = until[end - 1] - before - 1
    marks = np.zeros(len(order), np.bool_)
    marks[end - 1] = True
    for percent in asked.percents:
        # As Spark finds it: between two rows where this is no whole number.
        position = last * (percent / 100)
        for near in (np.floor(position), np.ceil(position)):
            marks[np.searchsorted(until, before + near.astype(np.int64), "right")] = True
    found[order] = 2 * np.cumsum(marks) - marks
    return found


def _numbered(columns: Sequence[pa.ChunkedArray], rows: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """A number for each row, the same for those that are alike in all of these columns."""
    found = np.zeros(rows, np.int64)
    for each in columns:
        coded = (each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each).dictionary_encode(
            null_encoding="encode"
        )
        indices = coded.indices.to_numpy(zero_copy_only=False)
        _, found = np.unique(found * len(coded.dictionary) + indices, return_inverse=True)
    return found


_COMMITS, _TOLD = (8, 28), 9
_PARTITION = ("topic", "partition")
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
    rows = named.select(("group", *_PARTITION, "time")).append_column("offset", offset)
    rows = rows.filter(wanted).sort_by([("time", "ascending"), ("offset", "ascending")])
    last = rows.group_by(["group", *_PARTITION], use_threads=False).aggregate([("offset", "last")])
    found = last.rename_columns([*last.column_names[:-1], "offset"]).group_by(
        [*_PARTITION, "offset"], use_threads=False
    )
    return found.aggregate([]).select(_OFFSETS_SCHEMA.names).cast(_OFFSETS_SCHEMA)


def stamps(lists: pa.Table, waiting: pa.Table) -> pa.Table:
    """Where batches lie and when they were made, of those that `waiting` groups may wait for, each once.

    `lists` is the fold of that name, in which a row is a partition.
    """
    places = waiting.group_by(list(_PARTITION), use_threads=False).aggregate([("offset", "min")])
    places = places.rename_columns([*_PARTITION, "least"]).append_column("place", pa.array(np.arange(places.num_rows)))
    topics = pc.coalesce(lists["topic"], lists["topic_id"])
    named = lists.select(["partition", *_NUMBERS]).append_column("topic", topics)
    # What is told as a list cannot be joined.
    keys = named.select(list(_PARTITION)).append_column("row", pa.array(np.arange(named.num_rows)))
    met = keys.join(places, list(_PARTITION), join_type="inner", use_threads=False)
    rows = named.take(met["row"])
    sizes = pc.fill_null(pc.list_value_length(rows["_base"]), 0).to_numpy()
    columns = {name: pc.list_flatten(rows[name]) for name in _NUMBERS}
    whole = pa.table(
        {
            **{name: pa.array(np.repeat(np.arange(met.num_rows), sizes)) for name in ("row",)},
            **columns,
        }
    )
    spread = {name: met[name].take(whole["row"]) for name in (*_PARTITION, "least", "place")}
    found = pa.table({**spread, **columns})
    found = found.filter(pc.greater_equal(found["_last"], found["least"]))
    offsets = waiting.join(places, list(_PARTITION), use_threads=False)
    near = found.filter(_near(found, offsets)).select([*_PARTITION, *_NUMBERS])
    return near.group_by(near.column_names, use_threads=False).aggregate([]).select([*_PARTITION, *_NUMBERS])


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


_CONNECTION, _TOPIC, _TOPIC_ID, _TOPICS = "connection", "topic", "topic_id", "topics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`relays`: connections on which everything was said a second time; `names`: topics by their ids."""

    relays: frozenset[int] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_namesakes(self) -> bool:
        """Whether topics have the same name, of which the engine has to know: it counts the topics of an exchange."""
        return len(set(self.names.values())) < len(self.names)

    def of(self, rows: pa.Table) -> pa.Table:
        """What is left of these rows, with their topics named."""
        if self.relays and _CONNECTION in rows.column_names:
            relays = pa.array(sorted(self.relays), pa.int64())
            rows = rows.filter(pc.invert(pc.is_in(rows[_CONNECTION], relays)))
        if self.names and _TOPIC in rows.column_names:
            known = mapped(rows[_TOPIC_ID], self.names.get)
            rows = _with(rows, _TOPIC, pc.coalesce(rows[_TOPIC], known))
        if self.names and _TOPICS in rows.column_names:
            lists = [self._named(each) for each in rows[_TOPICS].chunks]
            rows = _with(rows, _TOPICS, pa.chunked_array(lists, rows[_TOPICS].type))
        return rows

    def _named(self, lists: pa.ListArray) -> pa.ListArray:
        whole = lists.flatten()
        words = mapped(pa.chunked_array([whole], pa.string()), lambda text: self.names.get(text, text))
        sizes = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int32())
        ends = pc.cumulative_sum(sizes).cast(pa.int32())
        starts = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        mask = pc.is_null(lists)
        return pa.ListArray.from_arrays(starts, pa.concat_arrays(words.chunks), type=lists.type, mask=mask)


def told_names(tables: Iterable[pa.Table]) -> dict[str, str]:
    """The topic of every id that is told in these, as `aggregates.topic_names` has them."""
    found: dict[str, str] = {}
    for rows in tables:
        told = rows.filter(pc.and_(pc.is_valid(rows[_TOPIC_ID]), pc.is_valid(rows[_TOPIC])))
        pairs = told.select([_TOPIC_ID, _TOPIC]).group_by([_TOPIC_ID, _TOPIC], use_threads=False).aggregate([])
        for key, topic in zip(pairs[_TOPIC_ID].to_pylist(), pairs[_TOPIC].to_pylist(), strict=True):
            found[key] = min(found.get(key, topic), topic)
    return found


def _with(rows: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    place = rows.column_names.index(name)
    return rows.set_column(place, rows.schema.field(place), column)


OF_EXCHANGES = (
    *("coverage", "rates", "timeline", "latency", "throttling", "api_versions", "consume", "transactions"),
    *("calls", "answers", "cut_off", "acks", "silences", "tellers", "refused"),
)
OF_PARTITIONS = ("places", "offsets", "refused_partitions", "too_large")
OF_BATCHES = ("sent", "produced", "stamps")
ALL = (*OF_EXCHANGES, *OF_PARTITIONS, *OF_BATCHES)
# What `produced` is told of, and is no table of its own.
SEQUENCES = "sequences"
_TOLD_WITH = {"produced": SEQUENCES, "stamps": "offsets"}
PIECES = (*ALL, SEQUENCES)
"""What the engine gives in pieces."""


def pieces_of(folds: Collection[str]) -> tuple[str, ...]:
    """What of PIECES these folds are made of."""
    beside = {piece for fold, piece in _TOLD_WITH.items() if fold in folds}
    return tuple(name for name in PIECES if name in folds or name in beside)


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
