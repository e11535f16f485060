"""The page: one file, its own policy, a story for everything, foreign names only as text."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.render.topology.broker_access import BrokerAccess
from netdiag.render.topology.html import Stories, Story, html_page
from netdiag.render.topology.scene import scene
from netdiag.topology.graph import LinkTraffic, Topology
from netdiag.topology.inventory import LinkId
from tests.render.topology.traces import with_traces
from tests.topology.five_brokers import HOSTILE_TEXT, SECRET, crowd, five_brokers, hostile, without_brokers
from tests.topology.namespaces import ROOT


class Seen(HTMLParser):
    """What stands in a page: elements, attributes, and the text of styles and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str, str]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._tag = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.attributes.append((tag, "", ""))

    def handle_data(self, data: str) -> None:
        if self._tag in self.inside:
            self.inside[self._tag].append(data)

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""


@pytest.mark.parametrize("topology", [with_traces(five_brokers()), with_traces(hostile())], ids=["five", "hostile"])
def test_the_page_is_one_file_and_its_policy_names_what_is_in_it(topology: Topology) -> None:
    seen = Seen(html_page(topology, title=HOSTILE_TEXT))
    policy = next(v for t, n, v in seen.attributes if t == "meta" and n == "content" and "default-src" in v)
    style, (_, script) = "".join(seen.inside["style"]), ("".join(seen.inside["script"][:-1]), seen.inside["script"][-1])
    for kind, text in (("style", style), ("script", script)):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    names = {name for _, name, _ in seen.attributes}
    assert not {name for name in names if name.startswith("on") or name in ("src", "style", "srcdoc", "action")}
    assert {value[:1] for _, name, value in seen.attributes if name == "href"} == {"#"}
    assert {tag for tag, _, _ in seen.attributes} & {"link", "img", "iframe", "object", "a", "base"} <= {"a"}
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(|XMLHttp|import\(", script)


def test_hostile_names_are_text_and_secrets_are_not_in_it() -> None:
    text = html_page(with_traces(hostile()), title=HOSTILE_TEXT)
    assert text.count("<script") == 2
    assert not {"\x1b", "\u202e"} & set(text)
    assert SECRET not in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert any("<script>alert(1)</script>" in story["title"] for story in data["stories"].values())


def test_the_table_stands_before_the_picture() -> None:
    text = html_page(with_traces(five_brokers()))
    assert text.index("<h1>Who can reach this broker") < text.index("<table>") < text.index('<svg class="picture"')
    assert text.count("<tr>") == 6
    assert "<b>reached</b> broker-5:29092" in text
    assert 'id="coverage">9 namespaces' in text


def test_what_was_left_out_of_the_ways_and_which_engine_was_asked_is_said() -> None:
    text = html_page(replace(five_brokers(), reach_note="5 of 9 <places>", engine="Docker <28>"))
    assert '<p class="note">5 of 9 &lt;places&gt;</p>' in text
    assert " · Docker &lt;28&gt;</p>" in text


def test_the_worst_stands_above_everything_and_leads_to_its_place() -> None:
    findings = [
        Finding(
            rule="some-rule",
            severity=severity,
            message=f"{severity.value} <b>{number}",
            location=TopologyLocation(place="shop-ui-1" if number else "nowhere"),
        )
        for severity in (Severity.WARNING, Severity.ERROR)
        for number in range(2)
    ]
    findings.append(
        Finding(
            rule="some-rule",
            severity=Severity.NOTE,
            message="of a broker",
            location=TopologyLocation(place="host", part="broker-1/EXTERNAL"),
        )
    )
    head = html_page(with_traces(five_brokers()), findings=findings).partition("</header>")[0]
    lines = re.findall(r'<li class="(\w+)">(.*?)</li>', head)
    assert [kind for kind, _ in lines] == ["note", "error", "error"]
    assert lines[0][1].startswith('<button type="button" data-open="listener:broker-1/EXTERNAL">')
    assert lines[1][1] == '<button type="button" data-open="place:shop-ui-1"><b>error</b> error &lt;b&gt;1</button>'
    assert lines[2][1] == "<b>error</b> error &lt;b&gt;0"
    assert "and 2 more" in head


def test_without_brokers_there_is_no_table_and_it_says_why() -> None:
    text = html_page(without_brokers(five_brokers()))
    assert "<table>" not in text
    assert "No Kafka listener is known here." in text


def test_a_page_of_two_hundred_containers_stays_small() -> None:
    assert len(html_page(with_traces(crowd(200))).encode()) < 1_000_000


def told(topology: Topology) -> Stories:
    """The stories of a topology."""
    judge = BrokerAccess(topology=topology)
    return Stories(judge, scene(judge))


@pytest.fixture(scope="module")
def five() -> Stories:
    """Those of the five brokers."""
    return told(with_traces(five_brokers()))


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
    judge = BrokerAccess(topology=with_traces(crowd(120)))
    stories = Stories(judge, scene(judge), {"team5-app-19-1"})
    story = stories.stories["listener:team0-broker-1-1/EXTERNAL"]
    assert sum(len(way["from"]) for way in story["ways"]) == 240
    assert len(story["ways"]) == 4
    assert [[number for number, _ in way["hops"]] for way in story["ways"]] == [[0], [0, 108], [0], [0, 108]]
    assert stories.names[story["ways"][1]["from"][108]] == "team5-app-19-1"


def test_nothing_hostile_and_no_secret_is_in_any_story() -> None:
    text = json.dumps(told(with_traces(hostile())).stories, ensure_ascii=False)
    assert SECRET not in text
    assert not {"\x1b", "\u202e"} & set(text)


def test_places_that_see_the_same() -> None:
    stories = told(with_traces(five_brokers()))
    stories.add_vantage("column:1", ["shop-client-1", "elsewhere"])
    story = stories.stories["column:1"]
    assert story["title"] == "2 places with the same result"
    assert story["sections"][0] == ("These places", [("", "shop-client-1"), ("", "another machine")])
    assert story["near"] == ["place:shop-client-1"]
    assert len(story["sections"][1][1]) == 15
    stories.add_vantage("column:0", ["host"])
    assert stories.stories["column:0"]["title"] == "host"
