"""A topology as one SVG file that stands alone: no script, nothing fetched, readable on white and on black."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from netdiag.findings import Finding
from netdiag.render.topology.coverage import coverage_line
from netdiag.render.topology.drawing import drawing, total_height
from netdiag.render.topology.layout import layout
from netdiag.render.topology.lettering import shortened, visible
from netdiag.render.topology.scene import scene
from netdiag.render.topology.verdicts import Judge, verdicts
from netdiag.topology.graph import Topology

# Above the picture is room for the answer to its question.
_HEAD = 28.0


def svg(topology: Topology, *, title: str = "", findings: Sequence[Finding] = ()) -> str:
    """The file; equal topologies give equal text."""
    judge = Judge(topology=topology)
    picture = layout(scene(judge, findings))
    footer = visible(coverage_line(topology.inventory))
    width, height = f"{picture.width:.0f}", f"{total_height(picture, footer) + _HEAD:.0f}"
    answer = verdicts(judge).summary
    title = visible(title or f"network of {picture.scene.host}")
    style = (files(__package__) / "picture.css").read_text(encoding="utf-8")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(answer)}</desc>",
        f"<style>\n{style}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        f'<text class="strong" x="24" y="26">{escape(shortened(answer, picture.width - 48.0))}</text>',
        f'<g transform="translate(0 {_HEAD:.0f})">',
        *drawing(picture, live=False, footer=footer),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
