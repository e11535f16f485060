"""Vega-Lite specifications drawn as SVG, here and without a browser or a network.

Why Vega (vl-convert-python, the wheel that carries Vega and a JavaScript engine to run it in): its SVG has no style
attribute and no script, so that the page keeps a policy in which nothing but our own style and script runs; colours may
be CSS variables, so that light and dark are one picture; a chart is 20 kB. Measured beside it: bokeh 3.9 needs
'unsafe-inline' styles and data: images, 1.27 MB of script and 0.7 to 1.2 s until eight charts are there; plotly 7.1 has
4.8 MB of script; matplotlib writes colours into style attributes.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from netdiag.errors import cannot_import

# A hundredth of a pixel is exact enough, and a third of a picture is digits behind it. Text has no "<" of its own.
_PATH = re.compile(r'(<path (?:[a-z-]+="[^"<>]*" )*?d=")([^"<>]*)')
_LONG = re.compile(r"(\.\d\d)\d+")


def svg(spec: Mapping[str, Any]) -> str:
    """The picture. Whatever a specification names, nothing is fetched for it."""
    try:
        import vl_convert
    except ImportError as error:
        raise cannot_import("--report", error, extra="report") from error
    drawn: str = vl_convert.vegalite_to_svg(json.dumps(spec), allowed_base_urls=[])
    return _PATH.sub(lambda path: path[1] + _LONG.sub(r"\1", path[2]), drawn)
