"""Where groups committed last, as the fold `offsets` tells it: `lag` asks for the batches there, and the next ones."""

import pyarrow as pa
import pyarrow.compute as pc

_COMMITS, _TOLD = (8, 28), 9
_PLACE = ("topic", "partition")
SCHEMA = pa.schema([("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())])


def waiting(offsets: pa.Table) -> pa.Table:
    """The offsets that groups have last, by topic and partition, each once."""
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
    return found.aggregate([]).select(SCHEMA.names).cast(SCHEMA)
