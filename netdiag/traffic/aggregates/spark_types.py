"""The tables as Spark types, and DataFrames brought into the shape that was declared."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from netdiag.traffic.column import Kind, Table

_TYPES: dict[Kind, DataType] = {
    Kind.BOOL: BooleanType(),
    Kind.INT16: ShortType(),
    Kind.INT32: IntegerType(),
    Kind.INT64: LongType(),
    Kind.FLOAT64: DoubleType(),
    Kind.STRING: StringType(),
    # Spark forgets of files that no element is null, and refuses to be told again.
    Kind.STRINGS: ArrayType(StringType()),
    Kind.TIME: TimestampType(),
}

_OF_ARROW: dict[pa.DataType, DataType] = {
    pa.bool_(): BooleanType(),
    pa.int16(): ShortType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.string(): StringType(),
}


def struct_of(table: Table, names: Sequence[str] | None = None) -> StructType:
    """The Spark schema of a table, or of some of its columns in the order asked for; KeyError for a strange name."""
    known = {column.name: column for column in table.columns}
    chosen = table.columns if names is None else [known[name] for name in names]
    return StructType([StructField(each.name, _TYPES[each.kind], nullable=not each.required) for each in chosen])


def struct_of_arrow(schema: pa.Schema) -> StructType:
    """The Spark schema of columns as Arrow has them, of the types that tables have."""
    return StructType([StructField(each.name, _of_arrow(each.type)) for each in schema])


def shaped(frame: DataFrame, table: Table) -> DataFrame:
    """The declared columns with their types in their order."""
    return frame.select(*[_cast(column.name, column.kind) for column in table.columns])


def _cast(name: str, kind: Kind) -> Column:
    return F.col(name).cast(_TYPES[kind]).alias(name)


def _of_arrow(kind: pa.DataType) -> DataType:
    if pa.types.is_list(kind):
        return ArrayType(_of_arrow(kind.value_type))
    return TimestampType() if pa.types.is_timestamp(kind) else _OF_ARROW[kind]
