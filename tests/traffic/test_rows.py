"""Every row class has the columns of its table, with their types."""

import types
import typing

import pytest

from netdiag.traffic import rows
from netdiag.traffic.column import Kind
from netdiag.traffic.tables import NAMES, PARTIAL_NAMES, PAYLOAD_NAMES, RAW_NAMES, table

CLASSES = {
    "exchanges": rows.ExchangeRow,
    "partitions": rows.PartitionRow,
    "batches": rows.BatchRow,
    "group_events": rows.GroupEventRow,
    "endpoints": rows.EndpointRow,
    "leaders": rows.LeaderRow,
    "connections": rows.ConnectionRow,
    "names": rows.NameRow,
    "losses": rows.LossRow,
    "records": rows.RecordRow,
    "packets": rows.PacketRow,
    "segments": rows.SegmentRow,
    "latencies": rows.LatencyRow,
}
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


@pytest.mark.parametrize("name", NAMES + PAYLOAD_NAMES + RAW_NAMES + PARTIAL_NAMES)
def test_a_row_has_the_columns_of_its_table(name: str) -> None:
    hints = typing.get_type_hints(CLASSES[name])
    assert tuple(hints) == table(name).names
    for column in table(name).columns:
        plain: object = TYPES[column.kind]
        expected = plain if column.required else typing.Union[plain, types.NoneType]  # noqa: UP007
        assert hints[column.name] == expected, column.name


def test_there_is_a_class_for_every_table() -> None:
    assert tuple(CLASSES) == NAMES + PAYLOAD_NAMES + RAW_NAMES + PARTIAL_NAMES
