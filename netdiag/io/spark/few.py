"""What tables that lie in memory say of questions to all rows, so that Spark need not be asked.

The first questions are the dearest, and what they find is joined to every later one.
"""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

Parts = Mapping[str, pa.Table]
_SAME = ("digest", "client_bytes", "broker_bytes")


def may_relay(connections: pa.Table) -> bool:
    """Whether the same was said on two connections, as on both sides of a proxy."""
    spoken = connections.select(_SAME).filter(pc.is_valid(connections["digest"]))
    alike = spoken.group_by(list(_SAME), use_threads=False).aggregate([])
    return bool(alike.num_rows < spoken.num_rows)


def may_name(parts: Parts) -> bool:
    """Whether there is a topic id without its name, and the name somewhere else."""
    known: set[str] = set()
    for name in ("leaders", "partitions"):
        rows = parts[name].select(["topic_id", "topic"])
        known.update(rows.filter(pc.is_valid(rows["topic"]))["topic_id"].drop_null().to_pylist())
    if not known:
        return False
    ids = pa.array(sorted(known), pa.string())
    for name in ("partitions", "batches", "leaders"):
        nameless = parts[name]["topic_id"].filter(pc.is_null(parts[name]["topic"]))
        if pc.any(pc.is_in(nameless, ids)).as_py():
            return True
    return bool(pc.any(pc.is_in(pc.list_flatten(parts["exchanges"]["topics"]), ids)).as_py())
