"""The kernel of the rows says why it comes back, and goes on where it was."""

from random import Random

from netdiag.traffic.engine.compiled.columns import TABLES, Columns
from netdiag.traffic.engine.options import EngineOptions
from tests.traffic.engine.compiled.exchanges import Chunks, plain_rows, rows_of
from tests.traffic.engine.compiled.random_exchanges import random_exchanges
from tests.traffic.engine.compiled.test_columns import only_plain


def test_rows_that_do_not_fit_are_made_in_several_goes() -> None:
    """With room for one row of each table: the kernel comes back for every exchange, and for the large ones twice."""
    options = EngineOptions(tables=frozenset(TABLES))
    exchanges = random_exchanges(Random(8), 80)
    columns = Columns(options, ["a.pcap"], rows=1)
    Chunks(columns, size=20, holds=only_plain).feed(exchanges)
    assert rows_of(columns) == plain_rows(options, ["a.pcap"], exchanges)


def test_every_table_can_be_asked_for_alone() -> None:
    exchanges = random_exchanges(Random(9), 120)
    whole = plain_rows(EngineOptions(tables=frozenset(TABLES)), ["a.pcap"], exchanges)
    for name in TABLES:
        columns = Columns(EngineOptions(tables=frozenset({name})), ["a.pcap"])
        Chunks(columns, holds=only_plain).feed(exchanges)
        assert rows_of(columns) == {name: whole[name]}
