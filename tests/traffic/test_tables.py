"""Every table and every column says what it holds."""

import pytest

from netdiag.traffic.tables import NAMES, PARTIAL_NAMES, PAYLOAD_NAMES, RAW_NAMES, table


@pytest.mark.parametrize("name", NAMES + PAYLOAD_NAMES + RAW_NAMES + PARTIAL_NAMES)
def test_every_column_says_what_it_holds(name: str) -> None:
    assert table(name).doc
    assert all(column.doc for column in table(name).columns)


@pytest.mark.parametrize("name", NAMES + PAYLOAD_NAMES + RAW_NAMES + PARTIAL_NAMES)
def test_no_column_is_there_twice(name: str) -> None:
    assert len(set(table(name).names)) == len(table(name).names)
