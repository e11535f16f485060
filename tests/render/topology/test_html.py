"""The page: one file, its own policy, foreign names only as text. What a browser makes of it: test_page."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.render.topology.html import html_page
from netdiag.topology.graph import Topology
from tests.render.topology.ways import with_ways
from tests.topology.five_brokers import HOSTILE_TEXT, SECRET, crowd, five_brokers, hostile, without_brokers


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


@pytest.mark.parametrize("topology", [with_ways(five_brokers()), with_ways(hostile())], ids=["five", "hostile"])
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
    text = html_page(with_ways(hostile()), title=HOSTILE_TEXT)
    assert text.count("<script") == 2
    assert not {"\x1b", "\u202e"} & set(text)
    assert SECRET not in text
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert any("<script>alert(1)</script>" in story["title"] for story in data["stories"].values())


def test_the_table_stands_before_the_picture() -> None:
    text = html_page(with_ways(five_brokers()))
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
    head = html_page(with_ways(five_brokers()), findings=findings).partition("</header>")[0]
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
    assert len(html_page(with_ways(crowd(200))).encode()) < 1_000_000
