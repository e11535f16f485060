"""Every table and every column says what it holds, and row classes have their columns."""

import types
import typing

import pytest

from netdiag.traffic import rows
from netdiag.traffic.tables import NAMES, PARTIAL_NAMES, PAYLOAD_NAMES, RAW_NAMES, Column, Kind, Table, table


@pytest.mark.parametrize("name", NAMES + PAYLOAD_NAMES + RAW_NAMES + PARTIAL_NAMES)
def test_every_column_says_what_it_holds(name: str) -> None:
    assert table(name).doc
    assert all(column.doc for column in table(name).columns)


@pytest.mark.parametrize("name", NAMES + PAYLOAD_NAMES + RAW_NAMES + PARTIAL_NAMES)
def test_no_column_is_there_twice(name: str) -> None:
    assert len(set(table(name).names)) == len(table(name).names)


def test_names_are_in_order() -> None:
    columns = tuple(Column(name=name, kind=Kind.INT16, doc=name) for name in ("b", "a"))
    assert Table(name="t", doc="d", columns=columns).names == ("b", "a")


CLASSES = {"exchanges": rows.ExchangeRow, "connections": rows.ConnectionRow, "losses": rows.LossRow}
TYPES = {
    Kind.BOOL: bool,
    Kind.INT16: int,
    Kind.INT32: int,
    Kind.INT64: int,
    Kind.TIME: int,
    Kind.FLOAT64: float,
    Kind.STRING: str,
    Kind.STRINGS: tuple[str, ...],
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_row_has_the_columns_of_its_table(name: str) -> None:
    hints = typing.get_type_hints(CLASSES[name])
    assert tuple(hints) == table(name).names
    for column in table(name).columns:
        plain: object = TYPES[column.kind]
        expected = plain if column.required else typing.Union[plain, types.NoneType]  # noqa: UP007
        assert hints[column.name] == expected, column.name
