"""Record batches as rows again: tuples in the order of the columns, times as nanoseconds."""

from typing import Any

import pyarrow as pa


def rows_of(batch: pa.RecordBatch) -> list[tuple[Any, ...]]:
    """Its rows."""
    if not batch.num_columns:
        return [()] * batch.num_rows
    return list(zip(*map(_values, batch.columns), strict=True))


def _values(column: pa.Array) -> list[Any]:
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
    if pa.types.is_list(kind):
        return _lists(column)
    if pa.types.is_string(kind):
        # Each text once, however many rows it has.
        encoded = column.dictionary_encode()
        texts = [*encoded.dictionary.to_pylist(), None]
        places = encoded.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False).tolist()
        return [texts[place] for place in places]
    return column.to_pylist()  # type: ignore[no-any-return]


def _lists(column: pa.Array) -> list[Any]:
    values, ends = _values(column.values), column.offsets.to_pylist()
    missing = column.is_null().to_pylist()
    return [
        None if gone else tuple(values[begin:end])
        for gone, begin, end in zip(missing, ends[:-1], ends[1:], strict=True)
    ]
