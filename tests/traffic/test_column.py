"""A table gives its names in the order of its columns."""

from netdiag.traffic.column import Column, Kind, Table


def test_names_are_in_order() -> None:
    columns = tuple(Column(name=name, kind=Kind.INT16, doc=name) for name in ("b", "a"))
    assert Table(name="t", doc="d", columns=columns).names == ("b", "a")
