"""A topology as one SVG file that stands alone: no script, nothing fetched, readable on white and on black.

Its elements are also those of the page in `html`. Looks are classes of picture.css, so that no element needs a style of
its own, which a strict content security policy would forbid. Nothing has an id: two pictures may stand in one document.
"""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from netdiag.findings import Finding, Severity
from netdiag.render.html import SIZE, SMALL, shortened, text_width, visible
from netdiag.render.topology.broker_access import WORDS, BrokerAccess, Mark, access_table
from netdiag.render.topology.layout import (
    HEADER,
    LINE,
    LISTENER,
    SUBTITLE,
    Picture,
    PlacedBar,
    PlacedBox,
    Rect,
    Stroke,
    layout,
)
from netdiag.render.topology.lookup import coverage_line
from netdiag.render.topology.scene import BarKind, Box, Chip, Fault, Pill, Row, scene
from netdiag.topology.graph import Topology

_SIGNS = {
    Mark.OK: "M-3.4 0.2l2.4 2.6 4.4 -5.2",
    Mark.HALF: "M0 -4v4.6M0 3.6v.2",
    Mark.BAD: "M-2.8 -2.8l5.6 5.6M2.8 -2.8l-5.6 5.6",
    Mark.UNKNOWN: "M-2.2 -2c0 -2.8 4.4 -2.8 4.4 0c0 1.6 -2.2 1.6 -2.2 3M0 4v.2",
    Mark.NONE: "M-2.6 0h5.2",
}
_LEGEND_MARKS = (
    (Mark.OK, "its advertised address works"),
    (Mark.HALF, "answers, but advertises an address that fails"),
    (Mark.BAD, "works from nowhere"),
    (Mark.UNKNOWN, "unknown"),
)
_WARNINGS = 12
# Above the picture is room for the answer to its question.
_HEAD = 28.0


def svg_text(topology: Topology, *, title: str = "", findings: Sequence[Finding] = ()) -> str:
    """The file; equal topologies give equal text."""
    access = BrokerAccess(topology=topology)
    picture = layout(scene(access, findings))
    footer = visible(coverage_line(topology.inventory))
    width, height = f"{picture.width:.0f}", f"{total_height(picture, footer) + _HEAD:.0f}"
    answer = access_table(access).summary
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


def drawing(picture: Picture, *, live: bool, footer: str = "") -> list[str]:
    """The elements. Those of a `live` picture can be focused and pressed; `footer` stands below everything."""
    parts = _Parts(picture=picture, live=live)
    out = [_edge(*edge) for edge in picture.edges]
    out.append(_text(24.0, 31.0, "LAN and other machines", strong=True))
    x, y = 24.0, picture.edges[0][2] - 18.0 if picture.edges else 60.0
    scene = picture.scene
    out.append(
        _text(x, y, shortened(f"{'docker host' if scene.docker else 'machine'} {scene.host}", 400.0), strong=True)
    )
    below = "published ports on its edge, networks and their containers below"
    out.append(_text(x + 410.0, y, below if scene.pills else "bridges, veth pairs and what they connect", small=True))
    out += [_stroke(stroke) for stroke in picture.strokes]
    out += [parts.chip(chip, rect) for chip, rect in picture.chips]
    out += [parts.pill(pill, rect) for pill, rect in picture.pills]
    out += [parts.bar(placed) for placed in picture.bars]
    out += [parts.box(placed) for placed in picture.boxes]
    return [*out, *parts.below(footer)]


def total_height(picture: Picture, footer: str = "") -> float:
    """The height of the picture with its warnings, its legend and the footer."""
    lines = sum(bool(line) for line in (picture.note, footer))
    return picture.height + 16.0 * len(_warnings(picture)) + 36.0 + 18.0 * lines


def mark_sign(mark: Mark) -> str:
    """The path of a mark's sign around (0, 0), in a circle of radius 7."""
    return _SIGNS[mark]


class _Parts:
    def __init__(self, *, picture: Picture, live: bool) -> None:
        self._picture = picture
        self._live = live

    def chip(self, chip: Chip, rect: Rect) -> str:
        faults = self._faults(chip.key)
        label = shortened(chip.text, rect.w - 16.0 - (18.0 if faults else 0.0), SMALL)
        inside = [_rect(rect, 4.0), _text(rect.x + 8.0, rect.y + 16.0, label, small=True)]
        return self._node("chip", chip.key, f"device {chip.text}", [*inside, *_badge(rect, faults)], faults)

    def pill(self, pill: Pill, rect: Rect) -> str:
        faults = self._faults(pill.key)
        sign = bool(pill.dead or faults)
        room = rect.w - 18.0 - (14.0 if sign else 0.0)
        # where there is little room the port says more than that both families are meant
        text = pill.text if text_width(pill.text, SMALL) <= room else pill.text.replace("0.0.0.0+[::]", "*")
        label = shortened(text, room, SMALL)
        inside = [_rect(rect, rect.h / 2), _text(rect.x + 9.0, rect.y + 14.0, label, small=True)]
        if sign:
            inside.append(_mark(rect.right - 11.0, rect.y + rect.h / 2, Mark.BAD))
        how = " and ".join(word for word, there in (("DNAT", pill.dnat), ("docker-proxy", pill.proxy)) if there)
        said = f"published port {pill.text}, {pill.dead or f'by {how}'}"
        return self._node("pill dead" if pill.dead else "pill", pill.key, said, inside, ())

    def bar(self, placed: PlacedBar) -> str:
        bar, rect = placed.bar, placed.rect
        faults = self._faults(bar.key)
        room = rect.w - 16.0 - (20.0 if faults else 0.0)
        title = shortened(bar.title, room)
        facts = ["continued"] if placed.continues else [*bar.facts, *(f"port {name}" for name in bar.ports)]
        facts = [bar.unknown, *facts] if bar.unknown and not placed.continues else facts
        left = text_width(title) + 12.0
        rest = _as_fits(facts, room - left) if room - left > 40.0 else ""
        inside = [_rect(rect, 5.0), _text(rect.x + 8.0, rect.y + 16.0, title, strong=True)]
        inside += [_text(rect.x + 8.0 + left, rect.y + 16.0, rest, small=True, soft=True)] if rest else []
        name = "bar wire" if bar.kind is BarKind.WIRE else "bar"
        said = f"{bar.kind.value} {bar.title}, {', '.join(facts)}, {len(bar.attachments)} on it"
        return self._node(name, bar.key, said, [*inside, *_badge(rect, faults)], faults)

    def box(self, placed: PlacedBox) -> str:
        box, rect = placed.box, placed.rect
        faults = self._faults(box.key)
        room = rect.w - 16.0 - (20.0 if faults else 0.0)
        inside = [_rect(rect, 6.0), _text(rect.x + 8.0, rect.y + 16.0, shortened(box.title, room), strong=True)]
        below = " · ".join(filter(None, (box.state, box.unknown, box.subtitle)))
        if placed.small and placed.lines:
            more = f" +{len(placed.lines) - 1}" if placed.lines[1:] else ""
            address = placed.lines[0].partition("  ")[0] + more
            below = " · ".join(filter(None, (box.state, box.unknown, address)))
        if below:
            at = rect.y + (30.0 if placed.small else 31.0)
            inside.append(_text(rect.x + 8.0, at, shortened(below, rect.w - 16.0, SMALL), small=True, soft=True))
        if not placed.small:
            y = rect.y + HEADER + SUBTITLE
            inside += [self._row(row, rect, y + LISTENER * index) for index, row in enumerate(box.rows)]
            y += LISTENER * len(box.rows) + 11.0
            for index, line in enumerate(placed.lines):
                text = shortened(line, rect.w - 16.0, SMALL)
                inside.append(_text(rect.x + 8.0, y + LINE * index, text, small=True, soft=True))
        return self._node(
            _box_class(box), box.key, _box_label(box, placed.lines), [*inside, *_badge(rect, faults)], faults
        )

    def _row(self, row: Row, rect: Rect, y: float) -> str:
        own = Rect(x=rect.x + 4.0, y=y, w=rect.w - 8.0, h=LISTENER - 3.0)
        faults = self._faults(row.key)
        mark = Mark.BAD if faults and faults[0].severity is Severity.ERROR else row.mark
        reached = text_width(row.reached, SMALL) + 6.0 if row.reached else 0.0
        room = own.w - 14.0 - 20.0 - reached
        name = shortened(row.name, min(room, max(room - text_width(row.bind, SMALL) - 8.0, 80.0)), SMALL)
        start = own.x + 6.0
        bind_at = start + text_width(name, SMALL) + 8.0
        inside = [_rect(own, 4.0), _text(start, own.y + 13.0, name, small=True, strong=True)]
        bind = shortened(row.bind, own.x + 6.0 + room - bind_at, SMALL)
        inside += [_text(bind_at, own.y + 13.0, bind, small=True)] if bind else []
        told = (
            "for controllers"
            if row.controller
            else f"advertises {row.advertised}"
            if row.advertised
            else "advertises nothing"
        )
        inside.append(_text(start, own.y + 26.0, shortened(told, own.w - 34.0, SMALL), small=True, soft=row.controller))
        if not row.controller:
            inside.append(_mark(own.right - 12.0, own.y + own.h / 2, mark))
        if row.reached:
            inside.append(_text(own.right - 22.0 - reached + 3.0, own.y + 13.0, row.reached, small=True, soft=True))
        counted = f", its address works from {row.reached.replace('/', ' of ')} places" if row.reached else ""
        said = f"listener {row.name}, binds {row.bind}, {told}: {WORDS[mark]}{counted}"
        return self._node(f"row {mark.value}", row.key, said, inside, faults)

    def below(self, footer: str) -> list[str]:
        """Warnings, the legend, how the picture came about, and the footer."""
        picture = self._picture
        y = picture.height
        out = []
        for told in _warnings(picture):
            out.append(_text(24.0, y + 4.0, shortened(told, picture.width - 48.0, SMALL), small=True, fault=True))
            y += 16.0
        out += _legend(y + 14.0)
        y += 34.0
        for line in filter(None, (picture.note, footer)):
            out.append(_text(24.0, y + 4.0, shortened(line, picture.width - 48.0, SMALL), small=True, soft=True))
            y += 18.0
        return out

    def _faults(self, key: str) -> Sequence[Fault]:
        return self._picture.scene.faults.get(key, ())

    def _node(self, kind: str, key: str, said: str, inside: Sequence[str], faults: Sequence[Fault]) -> str:
        said = visible("; ".join([said, *(f"{f.severity.value}: {f.text}" for f in faults)]))
        name = f"{kind} faulty" if faults else kind
        press = f' tabindex="0" role="button" aria-label="{escape(said)}"' if self._live else ""
        title = "" if self._live else f"<title>{escape(said)}</title>"
        return f'<g class="node {name}" data-key="{escape(visible(key))}"{press}>{title}{"".join(inside)}</g>'


def _warnings(picture: Picture) -> list[str]:
    """The warnings as lines: of what is drawn by its name, and of what has no place."""
    names = {placed.box.key: placed.box.name for placed in picture.boxes}
    scene = picture.scene
    told = [(fault, "") for fault in scene.stray]
    told += [(fault, names.get(key, key.partition(":")[2])) for key, those in scene.faults.items() for fault in those]
    told.sort(key=lambda pair: -pair[0].severity.rank)
    lines = [f"{f.severity.value}: {f'{n}: ' if n and n not in f.text else ''}{f.text}" for f, n in told[:_WARNINGS]]
    return [*lines, f"and {len(told) - _WARNINGS} more"] if len(told) > _WARNINGS else lines


def _as_fits(facts: Sequence[str], room: float) -> str:
    """As many of the facts as there is room for, the first at least in part."""
    text = shortened(facts[0], room, SMALL) if facts else ""
    for fact in facts[1:]:
        longer = f"{text} · {visible(fact)}"
        if text_width(longer, SMALL) > room:
            break
        text = longer
    return text


def _box_class(box: Box) -> str:
    return "box stopped" if box.state else "box unseen" if box.unknown else "box"


def _box_label(box: Box, lines: Sequence[str]) -> str:
    kind = "container" if box.containers else box.place.kind.value if box.place else "container"
    return ", ".join(filter(None, (f"{kind} {box.name}", box.state, box.unknown, box.subtitle, *lines)))


def _legend(y: float) -> list[str]:
    out, x = [], 24.0
    for mark, words in _LEGEND_MARKS:
        out += [_mark(x + 7.0, y - 4.0, mark), _text(x + 19.0, y, words, small=True, soft=True)]
        x += 19.0 + text_width(words, SMALL) + 18.0
    for kind, words in (("dnat", "DNAT"), ("proxy", "docker-proxy")):
        points = ((x, y - 4.0), (x + 26.0, y - 4.0))
        out += [_stroke(Stroke(kind=kind, points=points, keys=())), _text(x + 32.0, y, words, small=True, soft=True)]
        x += 32.0 + text_width(words, SMALL) + 18.0
    return out


def _stroke(stroke: Stroke) -> str:
    path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in stroke.points)
    name = f"stroke {stroke.kind}{' broken' if stroke.broken else ''}"
    keys = f' data-of="{escape(chr(10).join(map(visible, stroke.keys)))}"' if stroke.keys else ""
    drawn = f'<path class="{name}" d="{path}"{keys}/>'
    if stroke.dot:
        x, y = stroke.points[0]
        drawn += f'<circle class="dot" cx="{_n(x)}" cy="{_n(y)}" r="3.5"/>'
    return drawn


def _edge(left: float, right: float, y: float) -> str:
    return f'<path class="edge" d="M{_n(left)} {_n(y)}H{_n(right)}"/>'


def _rect(rect: Rect, radius: float) -> str:
    return f'<rect x="{_n(rect.x)}" y="{_n(rect.y)}" width="{_n(rect.w)}" height="{_n(rect.h)}" rx="{_n(radius)}"/>'


def _mark(x: float, y: float, mark: Mark) -> str:
    return (
        f'<g class="mark {mark.value}" transform="translate({_n(x)} {_n(y)})">'
        f'<circle r="7"/><path d="{_SIGNS[mark]}"/></g>'
    )


def _badge(rect: Rect, faults: Sequence[Fault]) -> list[str]:
    if not faults:
        return []
    x, y = rect.right - 21.0, rect.y + 5.0
    count = str(min(len(faults), 9)) if len(faults) > 1 else "!"
    triangle = f"M{_n(x)} {_n(y + 14.0)}L{_n(x + 8.0)} {_n(y)}L{_n(x + 16.0)} {_n(y + 14.0)}Z"
    number = f'<text class="small" x="{_n(x + 4.9)}" y="{_n(y + 12.5)}">{count}</text>'
    return [f'<g class="badge"><path d="{triangle}"/>{number}</g>']


def _text(
    x: float, y: float, text: str, *, small: bool = False, soft: bool = False, strong: bool = False, fault: bool = False
) -> str:
    named = (("small", small), ("soft", soft), ("strong", strong), ("fault-text", fault))
    classes = " ".join(name for name, there in named if there)
    # what is beyond ASCII may be drawn wider than its cells by another font
    wide = text_width(text, SMALL if small else SIZE)
    fitted = "" if text.isascii() else f' textLength="{_n(wide)}" lengthAdjust="spacingAndGlyphs"'
    kind = f' class="{classes}"' if classes else ""
    return f'<text{kind} x="{_n(x)}" y="{_n(y)}"{fitted}>{escape(text)}</text>'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
