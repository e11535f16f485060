"""What changed between two documents, and what is no document to compare with."""

import json
from typing import Any

import pytest

from netdiag.errors import InputError
from netdiag.topology.diff import Change, Fact, Turn, differences, load_document


def document(**parts: Any) -> dict[str, Any]:
    return {"format": "netdiag-topology", "version": 1, "places": [{"netns": 7, "name": "host"}], **parts}


def host(**parts: Any) -> dict[str, Any]:
    return document(namespaces=[{"inode": 7, "entered": True, **parts}])


def link(**facts: Any) -> dict[str, Any]:
    return {"ifindex": 2, "ifname": "eth0", "flags": 1, "mtu": 1500, "operstate": "UP", **facts}


def test_nothing_changed() -> None:
    assert differences(host(links=[link()]), host(links=[link()])) == ()


def test_what_appeared_and_what_went() -> None:
    before, after = host(links=[link()]), host(links=[link(ifname="eth1")])
    assert [(change.turn, change.kind, change.name) for change in differences(before, after)] == [
        (Turn.APPEARED, "link", "host eth1"),
        (Turn.GONE, "link", "host eth0"),
    ]


def test_what_is_otherwise_than_it_was() -> None:
    (change,) = differences(host(links=[link()]), host(links=[link(mtu=1400, operstate="DOWN")]))
    assert change == Change(
        turn=Turn.CHANGED,
        kind="link",
        name="host eth0",
        facts=(Fact(name="state", before="UP", after="DOWN"), Fact(name="mtu", before="1500", after="1400")),
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[]", "is no document of netdiag topology"),
        (b"{}", "is no document of netdiag topology"),
        (b'{"format": "netdiag-topology", "version": 1}', "has no list of places"),
        (b'{"format": "netdiag-topology", "version": 1, "places": [], "namespaces": "x"}', "has no list of namespaces"),
        (b'{"format": "netdiag-topology"}', "is version of another kind"),
        (
            b'{"format": "netdiag-topology", "version": 2}',
            "is version 2 of the document, and this netdiag reads version 1",
        ),
        (b'{"format": "netdiag-topology", "version": ' + b"9" * 4000 + b"}", "is version of another kind"),
    ],
)
def test_other_files_are_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_document(data, "before.json")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("before.json: ")


@pytest.mark.parametrize("odd", [None, 1, "x", [], {}, [None], [1], ["x"], [[]], [{}], {"a": 1}])
def test_parts_of_another_shape_are_passed_over(odd: object) -> None:
    """A document may come from anybody; every part of it may hold anything."""
    names = ("places", "namespaces", "containers", "networks", "kafka_listeners", "published", "reach", "findings")
    parts: dict[str, object] = dict.fromkeys((*names, "unmatched", "processes"), odd)
    inside = (
        "links",
        "addresses",
        "routes",
        "rules",
        "neighbours",
        "vlans",
        "listeners",
        "ruleset",
        "settings",
        "ends",
    )
    hostile = document(**{**parts, "namespaces": [{"inode": 7, "ends": odd, **dict.fromkeys(inside, odd)}]})
    told = differences(document(), json.loads(json.dumps(hostile)))
    assert all(isinstance(change.name, str) for change in told)
    assert differences(hostile, hostile) == ()


def test_a_name_that_comes_ten_thousand_times_is_few_things() -> None:
    many = host(links=[link()] * 10_000)
    assert len([change for change in differences(host(), many) if change.kind == "link"]) <= 21
