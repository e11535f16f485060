"""What a column of a table is, and a table."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The type of a column. A TIME is a whole number of nanoseconds since 1970 UTC in a row of ours."""

    BOOL = "bool"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT64 = "float64"
    STRING = "string"
    STRINGS = "strings"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; `doc` says what it holds, with its unit. Every column that is not `required` may be null."""

    name: str
    kind: Kind
    doc: str
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table; a row of it is a tuple in the order of the columns."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns in their order."""
        return tuple(column.name for column in self.columns)
