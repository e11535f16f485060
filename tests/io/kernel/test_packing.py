"""What goes to another process comes back equal."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from netdiag.io.kernel.packing import packed, unpacked
from netdiag.linux.rtnetlink import Link, NextHop, Route
from tests.topology.five_brokers import hostile

ROUTE = Route(
    family=4,
    destination="0.0.0.0/0",
    table=254,
    type="unicast",
    scope=0,
    protocol=2,
    hops=(NextHop(gateway="10.0.0.1", ifindex=2), NextHop(gateway="10.0.0.2", ifindex=None, weight=3)),
    metrics={"mtu": 1400},
)


def test_every_fact_of_a_machine() -> None:
    namespaces = hostile().inventory.namespaces
    assert unpacked(packed(namespaces)) == namespaces


def test_every_field_is_carried() -> None:
    for value in (ROUTE, Link(ifindex=7, ifname="a\x1b", link=3, altnames=("b",), details={"x": [1, {"y": None}]})):
        again = unpacked(packed(value))
        assert again is not value
        assert [getattr(again, field.name) for field in fields(value)] == [
            getattr(value, field.name) for field in fields(value)
        ]


def test_what_comes_back_is_as_frozen_as_before() -> None:
    again = unpacked(packed(ROUTE))
    with pytest.raises(FrozenInstanceError):
        again.table = 1
    assert replace(again, table=1).table == 1


def test_other_values_are_carried_as_ever() -> None:
    value = {"unread": ["x"], 5: (None, 1.5), "set": frozenset({1})}
    assert unpacked(packed(value)) == value
