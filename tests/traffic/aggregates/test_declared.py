"""Every aggregate and every column of it says what it holds."""

import pytest

from netdiag.traffic.aggregates.declared import aggregate, chart_names, names


@pytest.mark.parametrize("name", [*names(), *chart_names()])
def test_every_column_says_what_it_holds(name: str) -> None:
    table = aggregate(name)
    assert table.doc
    assert all(column.doc for column in table.columns)
    assert len(set(table.names)) == len(table.names)


def test_a_strange_name_is_refused() -> None:
    with pytest.raises(KeyError, match="nothing"):
        aggregate("nothing")


def test_no_name_stands_twice() -> None:
    assert not set(names()) & set(chart_names())
