"""Bits of values are places of columns."""

from netdiag.traffic.engine.bodies.facts import BatchFacts
from netdiag.traffic.engine.compiled.layout import SCALARS
from netdiag.traffic.engine.compiled.row_bits import bit, mask
from netdiag.traffic.rows import BatchRow, ExchangeRow
from netdiag.traffic.tables import table


def test_a_bit_is_the_place_of_the_column() -> None:
    for place, name in enumerate(table("exchanges").names):
        assert bit(ExchangeRow, name) == 1 << place


def test_a_mask_is_the_place_of_the_name() -> None:
    assert mask(SCALARS, "acks") == 1
    assert mask(SCALARS, SCALARS[-1]) == 1 << len(SCALARS) - 1


def test_batches_have_their_facts_in_the_order_of_the_columns() -> None:
    """`partition_rows` moves all of these bits at once."""
    assert BatchRow._fields[-14:] == BatchFacts._fields[-14:]
    assert BatchFacts._fields[-14] == "base_offset"
