"""Vega draws, fetches nothing, and writes nothing that the page's policy would refuse."""

import re
import sys

import pytest

from netdiag.distribution import install_line
from netdiag.errors import MissingExtra
from netdiag.render.analysis.figure import vega_svg

NAME = "</text><script>alert(1)</script>\"'& \u2028"
SPEC = {
    "data": {"values": [{"x": 1, "t": NAME}]},
    "mark": {"type": "text", "aria": False},
    "encoding": {
        "x": {"field": "x", "type": "quantitative"},
        "text": {"field": "t", "type": "nominal"},
        "color": {"value": "var(--c1)"},
    },
}


def test_a_picture_has_no_style_no_script_and_no_name_of_its_own() -> None:
    drawn = vega_svg(SPEC)
    assert drawn.startswith("<svg ")
    assert 'fill="var(--c1)"' in drawn
    assert "&lt;script&gt;" in drawn
    for refused in ("<script", "<style", " style=", " id=", "href"):
        assert refused not in drawn
    assert vega_svg(SPEC) == drawn


def test_paths_are_exact_to_a_hundredth_and_texts_are_left_alone() -> None:
    drawn = vega_svg({**SPEC, "data": {"values": [{"x": 1, "t": 'x d="M0.123456'}]}})
    assert 'x d="M0.123456' in drawn.replace("&quot;", '"')
    shape = {"type": "arc", "aria": False, "theta": 1.234567}
    path = vega_svg({"data": {"values": [{}]}, "mark": shape}).split(' d="')
    assert len(path) > 2
    assert not any(re.search(r"\.\d{3}", part.partition('"')[0]) for part in path[1:])


def test_nothing_is_fetched() -> None:
    with pytest.raises(ValueError, match="url not allowed"):
        vega_svg({**SPEC, "data": {"url": "http://127.0.0.1:9/a.json"}})


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtra) as raised:
        vega_svg(SPEC)
    assert raised.value.hint == install_line("report")
