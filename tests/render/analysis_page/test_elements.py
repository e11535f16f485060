"""Pieces of HTML."""

from netdiag.render.analysis.figure import Table
from netdiag.render.analysis.page import folded, name, table, text


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
