"""The table of connections."""

import re

from netdiag.render.analysis.page import connection_table
from netdiag.traffic.analysis import Charts
from tests.render.analysis_page.pages import SPAN, broken, hostile


def page_of(charts: Charts | None) -> str:
    assert charts is not None
    return "\n".join(connection_table(charts))


def test_what_was_cut_is_said() -> None:
    text = page_of(broken().charts)
    assert "40 connections of 1,200, those with most" in text
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
