"""The page as text, and in a real browser: nothing runs that is not ours, everything can be reached and read."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from netdiag.findings import FileLocation, Severity
from netdiag.render.analysis.figure import Table
from netdiag.render.analysis.page import (
    GENERATOR,
    analysis_page,
    connection_table,
    facts_list,
    finding_cards,
    finding_marks,
    folded,
    headline,
    name,
    since_text,
    table,
    text,
    worst_first,
)
from netdiag.traffic.analysis import Analysis, Charts
from tests.render.analysis.analyses import answer
from tests.render.analysis.pages import EVIL, SPAN, T0, S, broken, calm, empty, finding, hostile
from tests.render.topology.browser import Browser, Page, browser
from tests.tools import tool

ANALYSES: dict[str, Callable[[], Analysis]] = {"broken": broken, "calm": calm, "empty": empty, "hostile": hostile}
Opened = Callable[[str], Page]
FIGURES = [
    *("requests", "brokers-failures", "brokers-latency", "brokers-requests"),
    *("latency", "errors", "lag", "opened", "bytes", "rebalances"),
    *("partitions-bytes", "partitions-requests", "partitions-errors"),
]


class Outline(HTMLParser):
    """Headings with their depth, landmarks, identifiers, and the elements that are never closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.depths: list[int] = []
        self.marks: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Anything that begins."""
        if re.fullmatch(r"h\d", tag):
            self.depths.append(int(tag[1]))
        if tag in ("header", "nav", "main", "footer"):
            self.marks.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Anything of an SVG that has nothing inside."""

    def handle_endtag(self, tag: str) -> None:
        """Anything that ends."""
        while self.open and self.open.pop() != tag:
            pass


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The pages."""
    return {name: analysis_page(made()) for name, made in ANALYSES.items()}


@pytest.fixture(scope="module")
def folder(texts: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where they are."""
    made = tmp_path_factory.mktemp("pages")
    for kind, page in texts.items():
        (made / f"{kind}.html").write_text(page, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with browser(tool("chromium"), tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture
def opened(chromium: Browser, folder: Path) -> Iterator[Opened]:
    """Opens a page; afterwards it must have asked for nothing and complained of nothing."""
    with ExitStack() as stack:
        pages: list[Page] = []

        def opening(name: str) -> Page:
            pages.append(stack.enter_context(chromium.page(folder / f"{name}.html")))
            pages[-1].wait("document.documentElement.dataset.ready === 'yes'")
            return pages[-1]

        yield opening
        for one in pages:
            assert one.complaints() == []
            assert one.requests() == [one.url]


@pytest.mark.parametrize("name", ANALYSES)
def test_headings_landmarks_and_identifiers_are_in_order(texts: dict[str, str], name: str) -> None:
    found = Outline(texts[name])
    assert found.depths[0] == 1
    assert found.depths.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(found.depths, found.depths[1:], strict=False))
    assert found.marks == ["header", "nav", "main", "footer"]
    assert len(found.ids) == len(set(found.ids))
    assert found.open == []


def test_what_is_wrong_comes_first_then_time_then_the_rest(texts: dict[str, str]) -> None:
    text = texts["broken"]
    assert GENERATOR in text[:200]
    places = [text.index(part) for part in ("<h1>7 errors and 1 warning</h1>", "since 2023-11-14 22:16:40.000 UTC")]
    places += [
        text.index(f'<section id="{name}"') for name in ("insights", "charts", "connections", "coverage", "tables")
    ]
    assert places == sorted(places)
    assert re.findall(r'<figure class="[^"]*" id="([\w-]+)"', text) == FIGURES
    assert text.count("<svg aria-hidden") == 2 * len(FIGURES)
    assert text.count("<summary>the figures as a table</summary>") == len(FIGURES)
    assert "Bytes that netdiag did not decode, and why" in text
    assert "<summary>clients <small>1 or more</small></summary>" in text
    assert "(others with less may not be shown)" in text


def test_equal_analyses_give_equal_pages(texts: dict[str, str]) -> None:
    assert analysis_page(broken()) == texts["broken"]


def test_an_empty_analysis_is_a_page_too(texts: dict[str, str]) -> None:
    text = texts["empty"]
    assert "These captures contain no readable Kafka traffic" in text
    assert "No data to draw." in text
    assert "<figure" not in text


def test_hostile_names_are_text(texts: dict[str, str]) -> None:
    text = texts["hostile"]
    assert text.count("<script") == text.count("</script>") == 2
    assert "<img" not in text
    assert not {"\u2028", "\u2029", "\u202e", "\x00", "\x1b", "\u200b", "\ufeff"} & set(text)
    assert "long" * 600 not in text
    assert len(text) < 1_200_000
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    labels = [label for label, *_ in data["charts"]["lag"]["series"]]
    assert any(label.startswith("</script>") for label in labels)


def test_hostile_names_do_nothing_in_a_browser(opened: Opened) -> None:
    shown = opened("hostile")
    counted = "document.querySelectorAll('script, img, b, i, iframe, style').length"
    before = shown.evaluate(counted)
    assert shown.evaluate("document.scripts.length") == 2
    assert shown.evaluate("document.title").startswith("3 errors - </script></title><script>")
    shown.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for figure in ("lag", "rebalances", "partitions-bytes"):
        shown.evaluate(f"document.querySelector('[data-figure={figure}]').focus()")
        shown.key("End")
        told = shown.evaluate(f"document.querySelector('[data-figure={figure}] .tip').textContent")
        assert "</script>" in told or figure == "rebalances"
    # what the pointer tells is a heading in bold: three of them now
    assert shown.evaluate(counted) == before + 3
    shown.evaluate("document.getElementById('filter').focus()")
    shown.type(EVIL[:20])
    shown.wait("document.getElementById('shown').value === '40 shown'")
    assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_policy_is_in_force(chromium: Browser, folder: Path) -> None:
    with chromium.page(folder / "broken.html") as shown:
        shown.evaluate(
            "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = true';"
            " document.body.append(s); document.body.setAttribute('style', 'margin: 99px');"
            " document.body.append(Object.assign(new Image(), { src: 'http://example.invalid/a.png' })); })()"
        )
        assert shown.evaluate("fetch('http://example.invalid/').then(() => 'sent', () => 'refused')") == "refused"
        assert shown.evaluate("window.ran") is None
        assert shown.evaluate("getComputedStyle(document.body).marginTop") == "0px"
        said = "\n".join(shown.complaints())
        for directive in ("script-src", "style-src", "img-src", "connect-src"):
            assert directive in said


def test_connections_are_filtered_and_sorted_by_keyboard(opened: Opened) -> None:
    shown = opened("broken")
    visible = "[...document.querySelectorAll('#connection-rows tr')].filter((row) => !row.hidden)"
    shown.evaluate("document.getElementById('filter').focus()")
    shown.type("refused 10.0.0.3:")
    shown.wait("document.getElementById('shown').value === '1 shown'")
    assert shown.evaluate(f"{visible}.map((row) => row.cells[0].textContent)") == ["10.0.0.3:40003"]
    shown.evaluate(
        "(() => { const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'));"
        " document.getElementById('troubled').click(); })()"
    )
    shown.wait("document.getElementById('shown').value === '5 shown'")
    head = "[...document.querySelectorAll('#rows thead th')].find((e) => e.textContent === 'requests')"
    for order, first in (("descending", "40"), ("ascending", "0")):
        shown.evaluate(f"{head}.querySelector('button').focus()")
        shown.key("Enter")
        shown.wait(f"{head}.getAttribute('aria-sort') === '{order}'")
        assert shown.evaluate(f"{visible}[0].cells[9].textContent") == first


def test_the_pointer_and_the_arrow_keys_tell_the_same(opened: Opened) -> None:
    shown = opened("broken")
    tip = "document.querySelector('[data-figure=requests] .tip')"
    shown.evaluate("document.querySelector('[data-figure=requests]').focus()")
    for _ in range(3):
        shown.key("ArrowRight")
    assert shown.evaluate(f"{tip}.textContent") == "22:13:35with an error or no answer0/sothers160/s"
    assert shown.evaluate("document.querySelector('p.skip').textContent") == (
        "22:13:35: with an error or no answer 0/s, others 160/s"
    )
    shown.key("Escape")
    assert shown.evaluate(f"{tip}.hidden")
    place = shown.evaluate(
        "(() => { const s = document.querySelector('[data-figure=requests] svg.wide'); s.scrollIntoView();"
        " const r = s.getBoundingClientRect(); const k = r.width / s.viewBox.baseVal.width;"
        " const [x, y, w] = s.dataset.plot.split(' ').map(Number);"
        " return [r.x + (x + w * 3.5 / 120) * k, r.y + (y + 20) * k]; })()"
    )
    shown.mouse("mouseMoved", *place)
    shown.wait(f"!{tip}.hidden")
    assert shown.evaluate(f"{tip}.textContent").startswith("22:13:35")
    lines = "document.querySelectorAll('.cross[visibility=visible]').length"
    assert shown.evaluate(lines) == shown.evaluate("document.querySelectorAll('.cross').length") > 10


def test_a_heat_map_can_be_of_something_else(opened: Opened) -> None:
    shown = opened("broken")
    assert shown.evaluate("[...document.querySelectorAll('figure[id^=partitions]')].map((f) => f.hidden)") == [
        *(False, True, True)
    ]
    shown.evaluate("document.querySelector('input[value=partitions-errors]').click()")
    assert shown.evaluate("document.getElementById('partitions-bytes').hidden")
    assert not shown.evaluate("document.getElementById('partitions-errors').hidden")


CONTRAST = """(() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (colour !== 'rgba(0, 0, 0, 0)') return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const low = [];
  const texts = 'h1, h2, h3, p, dt, dd, small, summary, a, caption, th, td, bdi, code, b, .badge, .kind, svg text,'
    + ' label, output';
  for (const e of document.querySelectorAll(texts)) {
    if (!e.textContent.trim()) continue;
    const colour = e.closest('svg') ? getComputedStyle(e).fill : getComputedStyle(e).color;
    const [a, b] = [light(colour), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(`${e.textContent.slice(0, 40)}: ${colour} on ${ground(e)}`);
  }
  return [...new Set(low)].slice(0, 9);
})()"""


def test_it_is_readable_in_light_and_in_dark_and_the_switch_has_the_last_word(opened: Opened) -> None:
    shown = opened("broken")
    paper = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        shown.media(scheme=scheme)
        seen[scheme] = shown.evaluate(paper)
        assert shown.evaluate(CONTRAST) == [], scheme
    assert seen["light"] != seen["dark"]
    for theme in ("light", "dark"):
        shown.evaluate(
            f"(() => {{ const s = document.getElementById('theme'); s.value = '{theme}';"
            " s.dispatchEvent(new Event('change')); })()"
        )
        assert shown.evaluate(paper) == seen[theme]
        assert shown.evaluate(CONTRAST) == [], theme


def test_on_a_telephone_nothing_is_wider_than_it(opened: Opened) -> None:
    shown = opened("broken")
    shown.size(400, 800)
    assert shown.evaluate("document.documentElement.scrollWidth") == 400
    drawn = "[...document.querySelectorAll('.plot svg')].filter((s) => s.getClientRects().length)"
    shown.wait(f"{drawn}.every((s) => s.classList.contains('narrow'))")
    assert shown.evaluate(f"{drawn}.length") == len(FIGURES) - 4
    assert shown.evaluate(
        f"Math.min(...{drawn}.flatMap((s) => [...s.querySelectorAll('text')]).map((t) =>"
        " t.getBoundingClientRect().height)) > 9"
    )


def test_everything_that_can_be_pressed_has_a_name_and_shows_its_focus(opened: Opened) -> None:
    shown = opened("broken")
    nameless = shown.evaluate(
        "[...document.querySelectorAll('button, input, select, [tabindex]')].filter((e) =>"
        " !(e.ariaLabel || e.textContent.trim() || e.closest('label')?.textContent.trim())).length"
    )
    assert nameless == 0
    for _ in range(12):
        shown.key("Tab")
        assert shown.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_what_was_cut_of_rows_for_several_tables_is_not_counted_for_each() -> None:
    rows = [{"by": "client_id", "value": f"app-{number}", "requests": 1} for number in range(60)]
    rows.append({"by": "broker", "value": "10.0.0.1:9092", "requests": 5})
    shown = analysis_page(replace(empty(), answers={"rates": answer("rates", *rows, total=8000)}))
    assert "<summary>clients <small>60 or more</small></summary>" in shown
    assert "<caption>clients (at least 10 more are not shown)</caption>" in shown
    assert "<caption>brokers (others with less may not be shown)</caption>" in shown


NOTE = finding("n", rule="note", severity=Severity.NOTE, second=1)


def test_the_first_line_counts() -> None:
    assert headline(broken()) == "7 errors and 1 warning"
    assert headline(replace(broken(), findings=(NOTE, finding(), replace(NOTE, severity=Severity.WARNING)))) == (
        "1 error, 1 warning and 1 note"
    )
    assert headline(calm()) == "Nothing wrong was found"
    assert headline(empty()) == "These captures contain no readable Kafka traffic"


def test_since_when_is_that_of_the_worst() -> None:
    assert since_text(broken()) == "since 2023-11-14 22:16:40.000 UTC, 3 min into the capture"
    assert since_text(replace(broken(), findings=(NOTE,))).endswith(", 1.0 s into the capture")
    assert since_text(calm()) == ""


def test_those_of_a_rule_stand_together_the_worst_first() -> None:
    found = worst_first(broken().findings)
    assert [one.message for one in found] == [
        *(f"orders-{number} has moved" for number in range(6)),
        "localhost:9092 is told to 10.0.0.2",
        "g rebalances",
    ]
    assert [(one.number, one.time) for one in finding_marks(found)] == [
        (1, (T0 + 200 * S) // 1000),
        (7, (T0 + 210 * S) // 1000),
        (8, (T0 + 220 * S) // 1000),
    ]


def test_a_rule_that_speaks_often_is_one_card() -> None:
    text = "\n".join(finding_cards(worst_first(broken().findings)))
    cards = re.findall(r'<li class="(error|warning)"><h3><span class="badge" id="finding-(\d+)">', text)
    assert cards == [("error", "1"), ("error", "7"), ("warning", "8")]
    assert text.count("<b>Do:</b> ask again") == 1
    assert "<summary>3 more like this</summary>" in text
    assert text.count('class="badge"') == 8
    assert '<time datetime="2023-11-14T22:16:40.000Z">2023-11-14 22:16:40.000</time>, packet 1,234 of' in text


def test_many_kinds_are_folded() -> None:
    found = [finding(f"m{number}", rule=f"r{number}", second=number) for number in range(9)]
    text = "\n".join(finding_cards(found))
    head, _, rest = text.partition("<summary>4 more, of 4 other kinds</summary>")
    assert (head.count("<h3>"), rest.count("<h3>")) == (5, 4)


def test_a_finding_of_a_file_has_no_moment() -> None:
    place = FileLocation(path="compose.yml", line=1, column=1, end_line=1, end_column=2, start=0, end=1)
    declared = replace(finding(), location=place)
    assert finding_marks([declared]) == ()
    assert since_text(replace(calm(), findings=(declared,))) == ""
    assert "localhost:9092" in "\n".join(finding_cards([declared]))


def test_figures_say_what_was_looked_at() -> None:
    text = "\n".join(facts_list(broken()))
    told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)<small>", text))
    assert told == {
        "span": "10 min",
        "exchanges": "100,000",
        "with errors": "16,000",
        "unanswered": "240",
        "connections": "1,200",
        "decoded in full": "99 %",
    }
    assert "<small>320 not opened</small>" in text
    assert "<small>5.0 MB not decoded</small>" in text


def test_nearly_all_does_not_look_like_all() -> None:
    analysis = broken()
    coverage = analysis.answers["coverage"]
    rows = ({**coverage.rows[0], "exchanges": 10**7}, {**coverage.rows[1], "exchanges": 1})
    text = "\n".join(facts_list(replace(analysis, answers={"coverage": replace(coverage, rows=rows)})))
    assert ">over 99.99 %<" in text


def page_of(charts: Charts | None) -> str:
    assert charts is not None
    return "\n".join(connection_table(charts))


def test_what_was_cut_is_said() -> None:
    text = page_of(broken().charts)
    assert "40 connections of 1,200, those with the most" in text
    assert "Something went wrong on 5 of these." in text
    assert text.count("<tr") == 41


def test_numbers_are_sorted_by_their_value_not_by_their_text() -> None:
    rows = re.findall(r"<tr.*?</tr>", page_of(broken().charts), re.DOTALL)
    keys = re.findall(r'data-v="([^"]*)"', rows[7])
    assert keys[:2] == ["0", "1700000006000000000"]
    assert "5994" in keys
    assert ">6.0 kB<" in rows[7]
    # a handshake that never was has no key
    assert len(re.findall("data-v", rows[1])) == len(keys) - 1


def test_the_filter_is_labelled_and_its_count_is_told() -> None:
    text = page_of(broken().charts)
    assert re.search(r"<label>filter <input id=\"filter\"", text.replace("\n", ""))
    assert '<output id="shown" role="status" aria-live="polite">40 shown</output>' in text
    assert text.count('<th scope="col"') == text.count('<button type="button">')


def test_names_are_text_and_short() -> None:
    text = page_of(hostile().charts)
    assert "<script" not in text
    assert "<img" not in text


def test_without_connections_there_is_no_table() -> None:
    assert page_of(Charts(span=SPAN)) == ""


def test_foreign_text_is_escaped_and_harmless() -> None:
    assert text("<b>\"'&\u202e\x00") == "&lt;b&gt;&quot;&#x27;&amp;\\u202e\\x00"


def test_a_long_name_is_whole_where_the_pointer_rests() -> None:
    assert name("orders") == "<bdi>orders</bdi>"
    assert name(None) == '<span class="none">-</span>'
    long = name("x" * 100)
    assert long.startswith(f'<bdi title="{"x" * 100}">')
    assert long.count("x") < 170


def test_a_table_has_a_caption_and_heads_of_rows_and_columns() -> None:
    shown = Table(
        caption="a <table>", headings=("who", "count"), rows=(("x<y", "5"),), numbers=(False, True), more=1234
    )
    assert "".join(table(shown)) == (
        '<div class="scroll" tabindex="0" role="region" aria-label="a &lt;table&gt;"><table>'
        "<caption>a &lt;table&gt; (1,234 more are not shown)</caption>"
        '<thead><tr><th scope="col">who</th><th scope="col" class="number">count</th></tr></thead><tbody>'
        '<tr><th scope="row"><bdi>x&lt;y</bdi></th><td class="number">5</td></tr></tbody></table></div>'
    )


def test_what_is_folded_opens_without_a_script() -> None:
    lines = list(folded("more", iter(["<p>x</p>"])))
    assert lines == ['<details class="figures"><summary>more</summary>', "<p>x</p>", "</details>"]


def test_a_table_of_which_nobody_knows_how_much_is_missing_says_so() -> None:
    known = Table(caption="brokers", headings=("who",), rows=(("x",),), more=7, is_open=True)
    assert "<caption>brokers (at least 7 more are not shown)</caption>" in "".join(table(known))
    unknown = Table(caption="brokers", headings=("who",), rows=(("x",),), is_open=True)
    assert "<caption>brokers (others with less may not be shown)</caption>" in "".join(table(unknown))
