"""The story of a listener goes from its configuration over the socket and the published port to who gets there."""

import json
from dataclasses import replace

import pytest

from netdiag.render.topology.broker_access import BrokerAccess
from netdiag.render.topology.html import Stories, Story
from netdiag.render.topology.scene import scene
from netdiag.topology.graph import LinkTraffic, Topology
from netdiag.topology.inventory import LinkId
from tests.render.topology.ways import with_ways
from tests.topology.five_brokers import SECRET, crowd, five_brokers, hostile
from tests.topology.namespaces import ROOT


def told(topology: Topology) -> Stories:
    """The stories of a topology."""
    judge = BrokerAccess(topology=topology)
    return Stories(judge, scene(judge))


@pytest.fixture(scope="module")
def five() -> Stories:
    """Those of the five brokers."""
    return told(with_ways(five_brokers()))


def rows(story: Story) -> dict[str, str]:
    """All rows of all sections, the first of a name."""
    found: dict[str, str] = {}
    for _, pairs in story["sections"]:
        for name, value in pairs:
            found.setdefault(name, value)
    return found


def test_a_listener(five: Stories) -> None:
    story = five.stories["listener:broker-1/EXTERNAL"]
    found = rows(story)
    assert found["binds"] == "0.0.0.0:9091"
    assert found["advertises"] == "localhost:9091"
    assert found["held by"].endswith("(java)")
    assert found["leads to"] == "172.18.0.2:9091/tcp"
    assert "--to-destination 172.18.0.2:9091" in found["DNAT rule"]
    assert "docker-proxy" in found["docker-proxy"]
    assert {"place:shop-broker-1-1"} < set(story["near"])
    assert [(way["mark"], way["end"], way["to"], len(way["from"])) for way in story["ways"]] == [
        ("ok", "connected", "localhost:9091", 1),
        ("ok", "connected", "localhost:9091", 1),
        ("ok", "connected", "192.168.8.133:9091", 6),
        ("bad", "refused", "localhost:9091", 6),
    ]
    assert [len(way["hops"]) for way in story["ways"]] == [1, 1, 6, 6]
    first = story["ways"][0]
    assert five.names[first["from"][0]] == "host"
    assert [five.hops[number][:2] for number in first["hops"][0][1]] == [
        ("resolver", "host"),
        ("route", "host"),
        ("filter", "host"),
    ]


def test_a_container(five: Stories) -> None:
    story = five.stories["place:shop-client-1"]
    assert story["networks"] == ["shop_kafka", "shop_front"]
    assert story["services"] == ["client"]
    found = rows(story)
    assert found["shop_front"].startswith("172.19.0.2 · eth1 — veth")
    assert found["broker-1/INTERNAL by broker-1:29092"] == "reached (connected): java (5010) accepts"


def test_a_published_port_borrows_the_ways_of_its_listener(five: Stories) -> None:
    story = next(story for key, story in five.stories.items() if key.startswith("port:0.0.0.0:9091"))
    assert story["ways_of"] == ["listener:broker-1/EXTERNAL"]
    assert story["dialled"] == "9091"


def test_a_network_and_a_device(five: Stories) -> None:
    assert rows(five.stories["network:shop_kafka"])["shop-ui-1"].startswith("172.18.0.8")
    assert rows(five.stories["device:eth0"])["address"] == "192.168.8.133/24"


def test_captured_traffic_stands_with_the_device_that_it_passed() -> None:
    topology = five_brokers()
    device = LinkId(netns=ROOT, ifindex=2)
    seen = LinkTraffic(link=device, connections=3, requests=8, responses=7, request_bytes=900, failed=1)
    found = rows(told(replace(topology, traffic={device: seen})).stories["device:eth0"])
    assert found["eth0"] == "3 connections, 8 requests, 7 responses, 900 bytes, 1 failed, captured elsewhere"


def test_what_cannot_be_seen_is_not_called_absent() -> None:
    topology = five_brokers()
    unseen = replace(topology.listeners[0], bound=None, pids=())
    nowhere = replace(topology.listeners[1], bound=(), pids=())
    stories = told(replace(topology, listeners=(unseen, nowhere))).stories
    assert rows(stories[f"listener:{unseen.key}"])["bound to"] == "not visible"
    assert rows(stories[f"listener:{nowhere.key}"])["bound to"] == "nowhere: nothing listens"


def test_in_a_crowd_ways_that_end_alike_are_told_once() -> None:
    judge = BrokerAccess(topology=with_ways(crowd(120)))
    stories = Stories(judge, scene(judge), {"team5-app-19-1"})
    story = stories.stories["listener:team0-broker-1-1/EXTERNAL"]
    assert sum(len(way["from"]) for way in story["ways"]) == 240
    assert len(story["ways"]) == 4
    assert [[number for number, _ in way["hops"]] for way in story["ways"]] == [[0], [0, 108], [0], [0, 108]]
    assert stories.names[story["ways"][1]["from"][108]] == "team5-app-19-1"


def test_nothing_hostile_and_no_secret_is_in_any_story() -> None:
    text = json.dumps(told(with_ways(hostile())).stories, ensure_ascii=False)
    assert SECRET not in text
    assert not {"\x1b", "\u202e"} & set(text)


def test_places_that_see_the_same() -> None:
    stories = told(with_ways(five_brokers()))
    stories.add_vantage("column:1", ["shop-client-1", "elsewhere"])
    story = stories.stories["column:1"]
    assert story["title"] == "2 places with the same result"
    assert story["sections"][0] == ("These places", [("", "shop-client-1"), ("", "another machine")])
    assert story["near"] == ["place:shop-client-1"]
    assert len(story["sections"][1][1]) == 15
    stories.add_vantage("column:0", ["host"])
    assert stories.stories["column:0"]["title"] == "host"
