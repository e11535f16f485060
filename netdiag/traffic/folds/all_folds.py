"""The written-out list of the folds, and of the views of several tables that some of them are of."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from netdiag.traffic.folds import batches, exchanges, joined, partitions
from netdiag.traffic.folds.fold import Fold, View

VIEWS: Mapping[str, View] = {
    **exchanges.VIEWS,
    "asked": View(schema=joined.asked_schema, rows=joined.asked),
    "placed": View(schema=joined.placed_schema, rows=joined.placed),
    "refused": View(schema=joined.refused_schema, rows=joined.refused),
    "spoken": View(schema=joined.spoken_schema, rows=joined.spoken),
    "sent": View(schema=joined.sent_schema, rows=joined.sent),
}
# What is folded when it is known where groups are.
LATER: Mapping[str, Fold] = batches.LATER
ALL: Mapping[str, Fold] = {**exchanges.FOLDS, **partitions.FOLDS, **batches.FOLDS, **LATER}
# What is done with the rows of all parts, instead of folding them again.
SETTLED: Mapping[str, Callable[[Fold, pa.Table], pa.Table]] = {**exchanges.SETTLED, **batches.SETTLED}
