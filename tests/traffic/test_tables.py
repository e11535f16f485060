"""Every table and every column says what it holds, and rows become its columns.

Nothing is lost but what microseconds cannot hold.
"""

import datetime
import types
import typing

import pyarrow as pa
import pytest

from netdiag.traffic import rows
from netdiag.traffic.arrow import record_batch, schema_of
from netdiag.traffic.rows import LossRow
from netdiag.traffic.tables import (
    LOG_NAMES,
    NAMES,
    PARTIAL_NAMES,
    PAYLOAD_NAMES,
    RAW_NAMES,
    STORED_NAMES,
    Column,
    Kind,
    Table,
    table,
)
from tests.native.reading import row_class

ALL = NAMES + PAYLOAD_NAMES + RAW_NAMES + PARTIAL_NAMES + LOG_NAMES + STORED_NAMES


@pytest.mark.parametrize("name", ALL)
def test_every_column_says_what_it_holds(name: str) -> None:
    assert table(name).doc
    assert all(column.doc for column in table(name).columns)


@pytest.mark.parametrize("name", ALL)
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


NAME = row_class("names")(
    time=1_700_000_000_123_456_789,
    client="10.0.0.2:5353",
    server="127.0.0.11:53",
    name="broker-1",
    type="A",
    result="NOERROR",
    addresses=("172.18.0.2",),
    latency_ms=0.5,
)


@pytest.mark.parametrize("name", NAMES + RAW_NAMES)
def test_a_schema_has_every_column_and_says_what_may_be_null(name: str) -> None:
    schema = schema_of(table(name))
    assert tuple(schema.names) == table(name).names
    assert [field.nullable for field in schema] == [not column.required for column in table(name).columns]
    times = [column.name for column in table(name).columns if column.kind is Kind.TIME]
    assert [field.name for field in schema if pa.types.is_timestamp(field.type)] == times


def test_a_row_comes_back_as_it_was() -> None:
    batch = record_batch(table("names"), [NAME])
    (row,) = batch.drop_columns(["time"]).to_pylist()
    assert {**row, "time": None, "addresses": None} == {**NAME._asdict(), "time": None, "addresses": None}
    assert row["addresses"] == ["172.18.0.2"]
    assert batch.column("time").cast(pa.int64()).to_pylist() == [NAME.time]


def test_microseconds_are_cut_not_rounded() -> None:
    batch = record_batch(table("names"), [NAME], ["time"], unit="us")
    assert batch.column("time").to_pylist() == [
        datetime.datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=datetime.UTC),
    ]


def test_columns_come_in_the_order_asked_for() -> None:
    batch = record_batch(table("names"), [NAME], ["type", "name"])
    assert batch.to_pylist() == [{"type": "A", "name": "broker-1"}]


def test_no_column_keeps_the_count() -> None:
    assert record_batch(table("names"), [NAME] * 3, []).num_rows == 3


def test_a_missing_time_stays_missing() -> None:
    row = LossRow("f", None, None, None, "damage", 1, 1, None)
    assert record_batch(table("losses"), [row], unit="us").to_pylist()[0]["time"] is None


def test_a_strange_column_is_refused() -> None:
    with pytest.raises(KeyError, match="payload"):
        schema_of(table("names"), ["payload"])
