"""The page in a real browser: it answers to mouse and keyboard, nothing overlaps, nothing runs that is not ours."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from netdiag.render.topology.html import html_page as page_text
from netdiag.render.topology.svg import svg_text
from netdiag.topology.graph import Topology
from tests.render.topology.browser import Browser, Page, browser
from tests.render.topology.traces import with_traces
from tests.tools import tool
from tests.topology.five_brokers import crowd, hostile, machine

Opened = Callable[[str], Page]
STORY = "document.querySelector('#story h2')?.textContent ?? ''"
VIEW = "document.querySelector('.picture').getAttribute('viewBox')"

# Pairs of texts of the picture whose glyphs meet, and texts that leave the rectangle they belong to.
OVERLAPS = """(() => {
  const texts = [...document.querySelectorAll('.picture text')].filter((t) => t.textContent.trim());
  const boxes = texts.map((t) => [t, t.getBoundingClientRect()]).sort((a, b) => a[1].top - b[1].top);
  const met = [];
  for (let i = 0; i < boxes.length; i += 1) {
    const [one, a] = boxes[i];
    for (let j = i + 1; j < boxes.length; j += 1) {
      const [other, b] = boxes[j];
      if (b.top > a.bottom) break;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 0.5 && high > 1) met.push(one.textContent + ' | ' + other.textContent);
    }
    const rect = one.parentNode.querySelector(':scope > rect');
    if (rect && one.parentNode.classList.contains('node')) {
      const r = rect.getBoundingClientRect();
      if (a.left < r.left - 0.5 || a.right > r.right + 0.5) met.push('leaves its box: ' + one.textContent);
    }
  }
  return met;
})()"""


def ten_containers() -> Topology:
    """Five brokers and five other containers, one of them ended, one on two networks, one with a very long name."""
    made = machine()
    made.container(
        "shop-worker-1", service="worker", networks=("shop_front",), ports=(("", 8443, 443),), listens=(443,)
    )
    made.container(f"shop-{'very-' * 60}long-1", service="long", networks=("shop_front",))
    assert len(made.containers) == 10
    return with_traces(made.topology())


TOPOLOGIES: dict[str, Callable[[], Topology]] = {
    "ten": ten_containers,
    "many": lambda: with_traces(crowd(200)),
    "some": lambda: with_traces(crowd(40)),
    "hostile": lambda: with_traces(hostile()),
}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with browser(tool("chromium"), tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pages are."""
    return tmp_path_factory.mktemp("pages")


def written(folder: Path, name: str) -> Path:
    """A page or a picture as a file, written when it is first asked for."""
    path = folder / name
    if not path.exists():
        topology = TOPOLOGIES[path.stem]()
        path.write_text(page_text(topology) if path.suffix == ".html" else svg_text(topology), encoding="utf-8")
    return path


@pytest.fixture
def opened(chromium: Browser, folder: Path) -> Iterator[Opened]:
    """Opens a page by its file's name; afterwards it must have asked for nothing and complained of nothing."""
    with ExitStack() as stack:
        pages: list[Page] = []

        def opening(name: str) -> Page:
            pages.append(stack.enter_context(chromium.page(written(folder, name))))
            return pages[-1]

        yield opening
        for page in pages:
            assert page.complaints() == []
            assert page.requests() == [page.url]


def chosen(page: Page) -> str:
    """The key of what is marked as chosen in the picture."""
    key: str = page.evaluate("document.querySelector('.picture .chosen')?.dataset.key ?? ''")
    return key


def node(key: str) -> str:
    """The selector of a thing in the picture."""
    return f".picture [data-key={json.dumps(key)}]"


@pytest.mark.parametrize("name", ["ten.html", "ten.svg", "hostile.html", "many.html"])
def test_no_label_overlaps_another(opened: Opened, name: str) -> None:
    page = opened(name)
    # as large as it is made: far away the browser rounds glyphs to whole pixels
    page.evaluate(
        "(() => { const s = document.querySelector('.picture');"
        " s.setAttribute('viewBox', `0 0 ${s.clientWidth} ${s.clientHeight}`); })()"
    )
    assert page.evaluate("document.querySelectorAll('.picture text').length") > 20
    assert page.evaluate(OVERLAPS) == []


def test_overlapping_labels_would_be_seen(opened: Opened) -> None:
    page = opened("ten.svg")
    page.evaluate("document.querySelectorAll('.picture .box text').forEach((t) => t.setAttribute('x', '40'))")
    assert len(page.evaluate(OVERLAPS)) > 10


@pytest.mark.parametrize(
    ("key", "title", "words"),
    [
        (
            "listener:broker-1/EXTERNAL",
            "broker-1 · EXTERNAL",
            ("0.0.0.0:9091", "localhost:9091", "docker-proxy", "--to-destination 172.18.0.2:9091", "refused"),
        ),
        ("place:shop-client-1", "shop-client-1", ("172.19.0.2", "shop_front", "netdiag-lab/client:1")),
        ("network:shop_kafka", "shop_kafka", ("172.18.0.0/16", "br-020202020202", "shop-ui-1")),
        ("device:eth0", "eth0 192.168.8.133", ("52:54:00:00:08:85",)),
    ],
)
def test_mouse_and_keyboard_open_the_same_story(opened: Opened, key: str, title: str, words: tuple[str, ...]) -> None:
    page = opened("ten.html")
    page.click("#fit")
    page.click(node(key))
    assert page.evaluate(STORY) == title
    assert chosen(page) == key
    by_mouse = page.evaluate("document.querySelector('#story').textContent")
    assert [word for word in words if word not in by_mouse] == []
    page.key("Escape")
    assert page.evaluate("document.querySelector('#story').hidden")
    page.evaluate(f"document.querySelector({json.dumps(node(key))}).focus()")
    page.key("Enter")
    assert page.evaluate("document.querySelector('#story').textContent") == by_mouse
    assert page.evaluate("document.activeElement.textContent") == title, "a screen reader begins at the heading"
    page.key("Escape")
    assert page.evaluate("document.activeElement.dataset.key") == key, "and is back where it was"


def test_a_published_port_shows_its_rule_and_who_comes_through(opened: Opened) -> None:
    page = opened("ten.html")
    key = page.evaluate("document.querySelector('.picture .pill').dataset.key")
    page.click(node(key))
    text = page.evaluate("document.querySelector('#story').textContent")
    assert "-A DOCKER" in text
    assert "docker-proxy passes it on" in text
    lit = page.evaluate("document.querySelectorAll('.picture .stroke.lit').length")
    assert lit == 2, "the line of the rule and that of the proxy"


def test_a_cell_of_the_table_tells_of_its_place_first(opened: Opened) -> None:
    page = opened("some.html")
    page.click("td.half button")
    head = page.evaluate("document.querySelector('#story h3').textContent")
    assert head == "From team1-app-5-1"
    assert page.evaluate("document.querySelector('#story details').open")
    assert chosen(page) == "listener:team0-broker-1-1/EXTERNAL"
    page.click("thead th:nth-child(3) button")
    assert page.evaluate(STORY) == "20 places with the same result"


def test_searching_finds_names_addresses_ports_and_rules(opened: Opened) -> None:
    page = opened("ten.html")
    for text, first in (
        ("broker-3 external", "broker-3 · EXTERNAL"),
        ("172.19.0.2", "shop_front"),
        ("shop-ui", "shop-ui-1"),
        ("--dport 9094", "broker-4 · EXTERNAL"),
    ):
        page.evaluate("document.getElementById('search').value = ''; document.getElementById('search').focus()")
        page.type(text)
        found = page.evaluate("[...document.querySelectorAll('#found li span')].map((e) => e.textContent)")
        assert first in found[:4], (text, found)
        assert page.evaluate("document.getElementById('status').textContent") == f"{len(found)} found"
        assert page.evaluate("document.querySelectorAll('.picture .hit').length") >= len(found)
    page.key("Enter")
    assert page.evaluate(STORY) == found[0]
    page.evaluate("document.getElementById('search').focus(); document.getElementById('search').value = ''")
    page.type("no such thing anywhere")
    assert page.evaluate("document.getElementById('status').textContent") == "0 found"
    assert page.evaluate("document.getElementById('found').hidden")


def test_filters_leave_what_belongs_to_a_network_or_a_service(opened: Opened) -> None:
    page = opened("ten.html")
    left = "[...document.querySelectorAll('.picture .box:not(.off)')].map((e) => e.dataset.key).sort()"

    def choose(name: str, value: str) -> list[str]:
        select = f"document.getElementById('{name}')"
        page.evaluate(f"{select}.value = {json.dumps(value)}; {select}.dispatchEvent(new Event('change'))")
        boxes: list[str] = page.evaluate(left)
        return boxes

    front = choose("network", "shop_front")
    assert [key for key in front if "very" not in key] == ["place:shop-client-1", "place:shop-worker-1"]
    assert page.evaluate("document.querySelector('.picture .bar:not(.off)').dataset.key") == "network:shop_front"
    lines = page.evaluate("document.querySelectorAll('.picture .stroke.drop:not(.off)').length")
    assert lines == len(front), "and the lines by which it hangs there"
    assert choose("service", "client") == ["place:shop-client-1"]
    choose("service", "")
    assert len(choose("network", "")) == 11
    assert page.evaluate("document.querySelectorAll('.picture .off').length") == 0


def test_the_picture_is_moved_and_sized_by_wheel_drag_and_keys(opened: Opened) -> None:
    page = opened("ten.html")
    seen = [page.evaluate(VIEW)]
    x, y = 700.0, 700.0
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
    page.wait(f"{VIEW} !== {json.dumps(seen[-1])}")
    seen.append(page.evaluate(VIEW))
    page.mouse("mousePressed", x, y)
    page.mouse("mouseMoved", x - 200, y - 60, buttons=1)
    page.mouse("mouseReleased", x - 200, y - 60)
    seen.append(page.evaluate(VIEW))
    page.evaluate("document.getElementById('view').focus()")
    for key in ("ArrowRight", "-", "+", "ArrowDown", "0"):
        page.key(key)
        seen.append(page.evaluate(VIEW))
    assert len(set(seen)) == len(seen)
    start = page.middle(node("place:shop-broker-3-1"))
    page.mouse("mousePressed", *start)
    page.mouse("mouseMoved", start[0] + 90, start[1] + 40, buttons=1)
    page.mouse("mouseReleased", start[0] + 90, start[1] + 40)
    assert page.evaluate("document.getElementById('story').hidden"), "who drags does not press"


def test_everything_in_the_picture_is_reached_by_keyboard_and_has_a_name(opened: Opened) -> None:
    page = opened("ten.html")
    unnamed = page.evaluate(
        "[...document.querySelectorAll('.picture .node')].filter((n) => n.tabIndex !== 0 ||"
        " n.getAttribute('role') !== 'button' || !n.getAttribute('aria-label')).length"
    )
    assert unnamed == 0
    page.evaluate("document.getElementById('view').focus()")
    page.key("Tab")
    assert page.evaluate("document.activeElement.dataset.key") == "device:lo"
    assert page.evaluate("[...document.querySelectorAll('button, input, select')].filter((e) =>"
                         " !(e.textContent.trim() || e.labels?.length || e.ariaLabel)).length") == 0  # fmt: skip


def test_hostile_names_do_nothing(opened: Opened) -> None:
    page = opened("hostile.html")
    assert page.evaluate("document.scripts.length") == 2
    counted = "document.querySelectorAll('script, b, i, iframe, img, object').length"
    before = page.evaluate(counted)
    keys = page.evaluate("Object.keys(JSON.parse(document.getElementById('data').textContent).stories)")
    assert any("<script>" in key for key in keys)
    for key in keys:
        there = page.evaluate(
            f"(() => {{ const n = [...document.querySelectorAll('.picture .node')].find((e) => e.dataset.key ==="
            f" {json.dumps(key)}); n?.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}));"
            " return Boolean(n); })()"
        )
        assert there or key.startswith("column:"), key
        assert page.evaluate(counted) == before
    assert page.evaluate("document.querySelector('#story').scrollWidth <= document.querySelector('#story').clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_policy_is_in_force(chromium: Browser, folder: Path) -> None:
    with chromium.page(written(folder, "ten.html")) as page:
        page.evaluate(
            "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = true';"
            " document.body.append(s); document.body.setAttribute('style', 'margin: 99px');"
            " document.body.append(Object.assign(new Image(), { src: 'http://example.invalid/a.png' })); })()"
        )
        refused = page.evaluate("fetch('http://example.invalid/').then(() => 'sent', () => 'refused')")
        assert refused == "refused"
        assert page.evaluate("window.ran") is None
        assert page.evaluate("getComputedStyle(document.body).marginTop") == "0px"
        said = "\n".join(page.complaints())
        for directive in ("script-src", "style-src", "img-src", "connect-src"):
            assert directive in said


CONTRAST = """(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const rect = at.querySelector(':scope > rect');
      if (rect && at.classList.contains('node')) return getComputedStyle(rect).fill;
      const colour = getComputedStyle(at).backgroundColor;
      if (colour !== 'rgba(0, 0, 0, 0)') return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const low = [];
  const texts = '.picture text, h1, #summary, caption, th, td b, td span, #coverage, label';
  for (const e of document.querySelectorAll(texts)) {
    if (e.closest('.badge')) continue;
    const colour = e.closest('.picture') ? getComputedStyle(e).fill : getComputedStyle(e).color;
    const [a, b] = [light(colour), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(e.textContent + ' ' + colour + ' on ' + ground(e));
  }
  return low;
})()"""


@pytest.mark.parametrize("name", ["ten.html", "ten.svg"])
def test_it_is_readable_in_light_and_in_dark(opened: Opened, name: str) -> None:
    page = opened(name)
    paper = "getComputedStyle(document.querySelector('.picture')).backgroundColor"
    seen = set()
    for scheme in ("light", "dark"):
        page.media(scheme=scheme)
        seen.add(page.evaluate(paper))
        assert page.evaluate(CONTRAST) == [], scheme
    assert len(seen) == 2


def test_on_paper_there_are_no_tools_and_all_of_the_picture(opened: Opened) -> None:
    page = opened("ten.html")
    page.media(kind="print")
    assert page.evaluate("getComputedStyle(document.getElementById('tools')).display") == "none"
    whole = page.evaluate(
        "(({ width, height }) => `0 0 ${width} ${height}`)(document.querySelector('.picture').dataset)"
    )
    page.wait(f"{VIEW} === {json.dumps(whole)}")
    width = "document.querySelector('.picture').getBoundingClientRect().width"
    page.wait(f"Math.abs({width} - innerWidth) < 2")
    page.media()
    page.wait(f"{VIEW} !== {json.dumps(whole)}")


def test_two_hundred_containers_are_there_at_once_and_can_be_found(opened: Opened) -> None:
    page = opened("many.html")
    page.wait("document.documentElement.dataset.ready === 'yes'")
    assert page.evaluate("document.querySelectorAll('.picture .box').length") == 200
    page.evaluate("document.getElementById('search').focus()")
    page.type("team7-app-12-1")
    page.key("Enter")
    assert page.evaluate(STORY) == "team7-app-12-1"
    rect = page.evaluate(
        "(() => { const r = document.querySelector('.picture .chosen').getBoundingClientRect();"
        " const v = document.getElementById('view').getBoundingClientRect();"
        " return r.left >= v.left && r.right <= v.right && r.top >= v.top && r.bottom <= v.bottom; })()"
    )
    assert rect, "what is chosen is brought into sight"
