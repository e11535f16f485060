"""Where everything in a picture stands: equal scenes give equal pictures, and a small change moves little.

From outside in, top to bottom: the addresses that other machines see; the edge of the docker host with its published
ports as pills; networks as bars; and below these, in columns, what is attached to them. A column is one box with its
listeners, or a stack of small boxes that are attached to the same bars. What does not fit side by side goes on below,
on another shelf, its bars tied to those above by a spine at the left. A verdict, a warning or a container that stops
moves nothing.

The order of bars and boxes puts what belongs together side by side. Small pictures go by name alone: whoever adds a
container moves its right-hand neighbours by one place and nothing else. In large ones names no longer tell what belongs
together. There networks that share members are brought side by side, by the reverse Cuthill-McKee order of networkx
(E. Cuthill and J. McKee, 1969: small bandwidth of a symmetric matrix), which depends on the networks and not on how
many boxes each has. Without networkx names decide there, too.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import groupby

from netdiag.render.html import SMALL, natural_key, shortened, text_width
from netdiag.render.topology.scene import Bar, BarKind, Box, Chip, Pill, Scene
from netdiag.values import dataclass

# From so many boxes on a picture is a large one.
LARGE = 100
_KINDS = (BarKind.HOST, BarKind.NETWORK, BarKind.BRIDGE, BarKind.PARENT, BarKind.WIRE)
MARGIN, GAP, GROUP_GAP, SHELF_GAP = 24.0, 22.0, 36.0, 40.0
FULL, SMALL_BOX = 244.0, 164.0
HEADER, SUBTITLE, LISTENER, LINE, PADDING = 24.0, 15.0, 34.0, 15.0, 7.0
COMPACT, STACK_GAP = 38.0, 8.0
BAR, BAR_GAP, PILL, CHIP = 24.0, 10.0, 24.0, 24.0
STEP, RISER = 11.0, 9.0
SPINE = 9.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    """A rectangle by its upper left corner and its size, in pixels."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.w

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.h


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedBox:
    """A box with its place; a small one shows its name and one line more."""

    box: Box
    rect: Rect
    small: bool
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedBar:
    """A bar, or the part of it that is on one shelf; where it `continues` one above it says so."""

    bar: Bar
    rect: Rect
    continues: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line through these points, of a kind ("drop", "spine", "dnat", "proxy", "dead"), belonging to these keys."""

    kind: str
    points: tuple[tuple[float, float], ...]
    keys: tuple[str, ...]
    broken: bool = False
    dot: bool = False


@dataclasses.dataclass(slots=True, kw_only=True)
class Picture:
    """A scene with a place for everything. `edges` are pieces of the docker host's edge: (left, right, y)."""

    scene: Scene
    width: float = 0.0
    height: float = 0.0
    boxes: list[PlacedBox] = field(default_factory=list)
    bars: list[PlacedBar] = field(default_factory=list)
    pills: list[tuple[Pill, Rect]] = field(default_factory=list)
    chips: list[tuple[Chip, Rect]] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    edges: list[tuple[float, float, float]] = field(default_factory=list)
    note: str = ""


def layout(scene: Scene) -> Picture:
    """The places of all things of a scene."""
    ordered = order(scene)
    large = len(scene.boxes) > LARGE
    picture = Picture(scene=scene, note=ordered.note)
    shelves = _shelves(scene, ordered, 3600.0 if large else 1560.0, 8 if large else 4)
    where = _Shelving(picture=picture, scene=scene, ordered=ordered, shelves=shelves)
    inner = max([720.0, *(_shelf_width(shelf) for shelf in shelves)])
    # room for one spine in any case, so that the first shelf stays where it is when the second one comes
    left = MARGIN + SPINE * (max(where.spines(), 1) + 1)
    where.right = left + inner
    picture.width = where.right + MARGIN
    y = _outside(picture, left, inner)
    for shelf in shelves:
        y = where.put(shelf, left, y) + SHELF_GAP
    where.tie(left)
    picture.height = max(y - SHELF_GAP, 120.0) + MARGIN
    return picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Boxes that hang together through bars, in order; `bars` are the keys of these, in order."""

    boxes: tuple[Box, ...]
    bars: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The groups in order, the bars of each box in order, and a remark for the reader about how they were found."""

    groups: tuple[Group, ...]
    bars_of: Mapping[str, tuple[str, ...]]
    note: str = ""


def order(scene: Scene) -> Order:
    """The order of everything in a scene."""
    large = len(scene.boxes) > LARGE
    brokers = {box.key for box in scene.boxes if box.rows}

    def named(bar: Bar) -> tuple[object, ...]:
        return (
            _KINDS.index(bar.kind),
            not any(h.place in brokers for h in bar.attachments),
            natural_key(bar.title),
            bar.key,
        )

    by_name = [bar.key for bar in sorted(scene.bars, key=named)]
    shared: dict[str, list[str]] = {}
    for bar in scene.bars:
        for attached in bar.attachments:
            shared.setdefault(attached.place, []).append(bar.key)
    found = _by_kinship(by_name, list(shared.values())) if large else None
    note = ""
    if large and found is None:
        note = "networks in order of their names; with the extra picture those that share members stand side by side"
    rank = {key: index for index, key in enumerate(found or by_name)}
    bars_of = {place: tuple(sorted(set(keys), key=rank.__getitem__)) for place, keys in shared.items()}
    return Order(groups=tuple(_groups(scene, bars_of, rank)), bars_of=bars_of, note=note)


def _groups(scene: Scene, bars_of: Mapping[str, tuple[str, ...]], rank: Mapping[str, int]) -> list[Group]:
    leader: dict[str, str] = {key: key for key in rank}

    def lead(key: str) -> str:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    for keys in bars_of.values():
        for key in keys[1:]:
            low, high = sorted((lead(keys[0]), lead(key)), key=rank.__getitem__)
            leader[high] = low
    members: dict[str, list[Box]] = {}
    for box in scene.boxes:
        own = bars_of.get(box.key, ())
        members.setdefault(lead(own[0]) if own else "", []).append(box)
    barred: dict[str, list[str]] = {}
    for key in sorted(rank, key=rank.__getitem__):
        barred.setdefault(lead(key), []).append(key)

    def place(box: Box) -> tuple[object, ...]:
        # of several bars the last one is its home: the first are those that lead to the brokers, and reach far
        own = tuple(rank[key] for key in bars_of.get(box.key, ()))
        return (not box.rows, own[-1:], own, natural_key(box.name))

    groups = [
        Group(boxes=tuple(sorted(members.get(first, ()), key=place)), bars=tuple(keys))
        for first, keys in barred.items()
    ]
    groups.sort(key=lambda g: (not any(box.rows for box in g.boxes), not g.boxes, rank[g.bars[0]]))
    alone = tuple(sorted(members.get("", ()), key=place))
    return [*groups, Group(boxes=alone, bars=())] if alone else groups


def _by_kinship(by_name: Sequence[str], sharing: Sequence[Sequence[str]]) -> list[str] | None:
    """The bars so that those which share members are near each other; None without networkx."""
    try:
        import networkx
    except ImportError:
        return None
    graph = networkx.Graph()
    graph.add_nodes_from(by_name)
    graph.add_edges_from(sorted({pair for keys in sharing for pair in _pairs(sorted(set(keys)))}))
    rank = {key: index for index, key in enumerate(by_name)}
    groups = sorted(networkx.connected_components(graph), key=lambda names: min(rank[name] for name in names))
    found: list[str] = []
    for names in groups:
        # a graph of its own, whose nodes stand in the order of names: ties are broken by it
        part = networkx.Graph()
        part.add_nodes_from(sorted(names, key=rank.__getitem__))
        part.add_edges_from(sorted(graph.subgraph(names).edges, key=lambda e: (rank[e[0]], rank[e[1]])))
        run = list(networkx.utils.reverse_cuthill_mckee_ordering(part))
        found += run if rank[run[0]] <= rank[run[-1]] else run[::-1]
    return found


def _pairs(keys: Sequence[str]) -> list[tuple[str, str]]:
    """A chain through the bars of one box would do, but which chain would depend on names."""
    return [(a, b) for i, a in enumerate(keys) for b in keys[i + 1 :]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    boxes: tuple[Box, ...]
    bars: tuple[str, ...]
    pills: tuple[Pill, ...]
    stacked: bool
    first: bool

    @property
    def inset(self) -> float:
        """What the lines to the bars take of a stack's width, at the left."""
        return 8.0 + STEP * len(self.bars) if self.stacked else 0.0

    @property
    def width(self) -> float:
        if not self.stacked:
            return FULL
        return self.inset + SMALL_BOX + (6.0 + RISER * len(self.pills) if self.pills else 0.0)


def _shelves(scene: Scene, ordered: Order, room: float, stack: int) -> list[list[_Column]]:
    """Columns side by side while there is room; a group that does not fit beside others starts a shelf of its own."""
    shelves: list[list[_Column]] = [[]]
    used = 0.0
    for group in ordered.groups:
        columns = list(_columns(scene, ordered, group.boxes, stack))
        for number, run in enumerate(_runs(columns)):
            apart = GROUP_GAP - GAP if used and number == 0 else 0.0
            whole = sum(c.width + GAP for c in run) - GAP
            # what has its home on one bar stays together, unless it fills a shelf anyway
            if used and used + apart + whole > room and whole <= room:
                shelves.append([])
                used = apart = 0.0
            for column in run:
                if used and used + apart + column.width > room:
                    shelves.append([])
                    used = apart = 0.0
                shelves[-1].append(column)
                used += apart + column.width + GAP
                apart = 0.0
    return shelves


def _runs(columns: Sequence[_Column]) -> Iterator[list[_Column]]:
    """Columns next to each other that have their home on the same bar; those with listeners are a run of their own."""
    for _, run in groupby(columns, key=lambda c: (c.stacked, c.bars[-1:]) if c.stacked else (False, ())):
        yield list(run)


def _shelf_width(shelf: Sequence[_Column]) -> float:
    return sum(c.width + (GROUP_GAP if c.first and i else GAP) for i, c in enumerate(shelf)) - GAP


def _columns(scene: Scene, ordered: Order, boxes: Sequence[Box], stack: int) -> Iterator[_Column]:
    large = len(scene.boxes) > LARGE
    pills: dict[str, list[Pill]] = {}
    for pill in scene.pills:
        pills.setdefault(pill.box, []).append(pill)
    waiting: list[Box] = []
    first = True

    def column(those: Sequence[Box], *, stacked: bool) -> _Column:
        nonlocal first
        opens, first = first, False
        return _Column(
            boxes=tuple(those),
            bars=ordered.bars_of.get(those[0].key, ()),
            pills=tuple(p for box in those for p in pills.get(box.key, ())),
            stacked=stacked,
            first=opens,
        )

    for box in boxes:
        full = bool(box.rows or (box.devices and not large))
        bars = ordered.bars_of.get(box.key, ())
        if waiting and (full or len(waiting) >= stack or ordered.bars_of.get(waiting[0].key, ()) != bars):
            yield column(waiting, stacked=True)
            waiting = []
        if full:
            yield column([box], stacked=False)
        else:
            waiting.append(box)
    if waiting:
        yield column(waiting, stacked=True)


def _outside(picture: Picture, left: float, inner: float) -> float:
    """The devices that other machines see, in rows from the left; returns where the docker host begins."""
    x, y = left + 210.0, 14.0
    for chip in picture.scene.chips:
        width = min(text_width(shortened(chip.text, 420.0, SMALL), SMALL) + 18.0, inner - 210.0)
        if x + width > left + inner and x > left + 210.0:
            x, y = left + 210.0, y + CHIP + 6.0
        picture.chips.append((chip, Rect(x=x, y=y, w=width, h=CHIP)))
        x += width + 8.0
    return y + CHIP + 34.0


@dataclasses.dataclass(slots=True, kw_only=True)
class _Shelving:
    picture: Picture
    scene: Scene
    ordered: Order
    shelves: list[list[_Column]]
    right: float = 0.0
    parts: dict[str, list[Rect]] = field(default_factory=dict)

    def many(self) -> dict[str, list[int]]:
        """The bars that are on more than one shelf, and on which."""
        found: dict[str, list[int]] = {}
        for index, shelf in enumerate(self.shelves):
            for key in dict.fromkeys(key for column in shelf for key in column.bars):
                found.setdefault(key, []).append(index)
        return {key: on for key, on in found.items() if len(on) > 1}

    def spines(self) -> int:
        """How many spines run side by side."""
        return len({*self._lanes().values()})

    def _lanes(self) -> dict[str, int]:
        many = self.many()
        spans = sorted(many, key=lambda key: (many[key][0], many[key][-1], key))
        return _packed([(key, many[key][0], many[key][-1]) for key in spans])

    def put(self, shelf: Sequence[_Column], left: float, y: float) -> float:
        """Place one shelf from `y` on; returns where it ends."""
        lefts: list[float] = []
        x = left
        for index, column in enumerate(shelf):
            x += (GROUP_GAP - GAP) if column.first and index else 0.0
            lefts.append(x)
            x += column.width + GAP
        most = max((len(column.pills) for column in shelf), default=0)
        first = not self.picture.edges
        tops = y + PILL * most + (14.0 if most else 28.0 if first else 0.0)
        rects, boxes_top = self._bars(shelf, lefts, left, tops)
        ends = []
        for column, at in zip(shelf, lefts, strict=True):
            self._drops(column, at, rects, boxes_top)
            ends.append(self._boxes(column, at, boxes_top))
            self._pills(column, at, y, boxes_top)
        pilled = [(at, at + c.width) for c, at in zip(shelf, lefts, strict=True) if c.pills]
        if pilled or first:
            right = pilled[-1][1] if pilled else left
            self.picture.edges.append((left, max(right, left + 480.0), y + PILL / 2))
        return max(ends, default=boxes_top)

    def _bars(
        self, shelf: Sequence[_Column], lefts: Sequence[float], left: float, y: float
    ) -> tuple[dict[str, Rect], float]:
        """The bars of a shelf in lanes below each other; returns them and where the boxes begin."""
        many = self.many()
        spans: dict[str, tuple[float, float]] = {}
        for column, at in zip(shelf, lefts, strict=True):
            for key in column.bars:
                low, high = spans.get(key, (left if key in many else at, at))
                spans[key] = (min(low, at), max(high, at + column.width))
        # a bar with one member is long enough for its name, where there is room
        spans = {k: (low, min(max(high, low + 240.0), self.right)) for k, (low, high) in spans.items()}
        lanes = _packed([(key, low, high + GAP / 2) for key, (low, high) in spans.items()])
        by_key = {bar.key: bar for bar in self.scene.bars}
        rects: dict[str, Rect] = {}
        for key, (low, high) in spans.items():
            rect = Rect(x=low, y=y + lanes[key] * (BAR + BAR_GAP), w=high - low, h=BAR)
            rects[key] = rect
            self.parts.setdefault(key, []).append(rect)
            continues = len(self.parts[key]) > 1
            self.picture.bars.append(PlacedBar(bar=by_key[key], rect=rect, continues=continues))
        count = max(lanes.values(), default=-1) + 1
        return rects, y + count * (BAR + BAR_GAP) + (8.0 if count else 0.0)

    def _drops(self, column: _Column, at: float, rects: dict[str, Rect], top: float) -> None:
        for index, key in enumerate(column.bars):
            bar = rects[key]
            attached = {h.place: h for b in self.scene.bars if b.key == key for h in b.attachments}
            if not column.stacked:
                x = at + 14.0 + STEP * index
                broken = bool(attached[column.boxes[0].key].broken)
                keys = (key, column.boxes[0].key)
                points = ((x, bar.bottom), (x, top))
                self.picture.strokes.append(Stroke(kind="drop", points=points, keys=keys, broken=broken, dot=True))
                continue
            x = at + 5.0 + STEP * index
            for number, box in enumerate(column.boxes):
                y = top + number * (COMPACT + STACK_GAP) + 10.0 + 8.0 * min(index, 2)
                self.picture.strokes.append(
                    Stroke(
                        kind="drop",
                        points=((x, bar.bottom), (x, y), (at + column.inset, y)),
                        keys=(key, box.key),
                        broken=bool(attached[box.key].broken),
                        dot=True,
                    )
                )

    def _boxes(self, column: _Column, at: float, top: float) -> float:
        y = top
        for box in column.boxes:
            lines = tuple(self._lines(box))
            height = COMPACT if column.stacked else _height(box, lines)
            width = SMALL_BOX if column.stacked else FULL
            rect = Rect(x=at + column.inset, y=y, w=width, h=height)
            self.picture.boxes.append(PlacedBox(box=box, rect=rect, small=column.stacked, lines=lines))
            y = rect.bottom + STACK_GAP
        return y - STACK_GAP

    def _lines(self, box: Box) -> Iterator[str]:
        """What stands below the listeners: the address on each network, then devices that are no cable."""
        for key in self.ordered.bars_of.get(box.key, ()):
            bar = next(bar for bar in self.scene.bars if bar.key == key)
            attached = next(h for h in bar.attachments if h.place == box.key)
            if attached.address:
                yield f"{attached.address}  {bar.title}"
        yield from box.devices[:3]
        if len(box.devices) > 3:
            yield f"and {len(box.devices) - 3} devices more"

    def _pills(self, column: _Column, at: float, y: float, boxes_top: float) -> None:
        count = len(column.pills)
        tops = {box.key: boxes_top + i * (COMPACT + STACK_GAP) for i, box in enumerate(column.boxes)}
        for index, pill in enumerate(column.pills):
            if column.stacked:
                end = at + column.inset + SMALL_BOX
                riser = end + 8.0 + RISER * (count - 1 - index)
                target: tuple[tuple[float, float], ...] = (
                    (riser, tops[pill.box] + COMPACT / 2),
                    (end, tops[pill.box] + COMPACT / 2),
                )
            else:
                riser = at + FULL - 14.0 - RISER * index
                target = ((riser, boxes_top),)
            room = at + column.width - 10.0 - RISER * count - 12.0 - at
            width = min(text_width(pill.text, SMALL) + 32.0, room)
            rect = Rect(x=at, y=y + PILL * index, w=width, h=PILL - 4.0)
            self.picture.pills.append((pill, rect))
            middle = rect.y + rect.h / 2
            kinds = [kind for kind, there in (("dnat", pill.dnat), ("proxy", pill.proxy)) if there and pill.box]
            for number, kind in enumerate(kinds):
                # side by side, so that a person sees both ways
                shift = 3.0 * number
                last = tuple((px + (shift if i == 0 else 0.0), py + shift) for i, (px, py) in enumerate(target))
                if not column.stacked:
                    last = ((riser + shift, boxes_top),)
                points = ((rect.right, middle + shift), (riser + shift, middle + shift), *last)
                self.picture.strokes.append(Stroke(kind=kind, points=points, keys=(pill.key, pill.box)))
            if not kinds:
                points = ((rect.right, middle), (riser, middle), (riser, middle + 12.0))
                self.picture.strokes.append(Stroke(kind="dead", points=points, keys=(pill.key, pill.box)))

    def tie(self, left: float) -> None:
        """The spines of bars that are on several shelves."""
        for key, lane in self._lanes().items():
            x = left - SPINE * (lane + 1)
            parts = self.parts[key]
            points = [(x, parts[0].y + BAR / 2), (x, parts[-1].y + BAR / 2)]
            self.picture.strokes.append(Stroke(kind="spine", points=tuple(points), keys=(key,)))
            for part in parts:
                y = part.y + BAR / 2
                self.picture.strokes.append(Stroke(kind="spine", points=((x, y), (part.x, y)), keys=(key,)))


def _height(box: Box, lines: Sequence[str]) -> float:
    return HEADER + SUBTITLE + LISTENER * len(box.rows) + LINE * len(lines) + PADDING


def _packed(spans: Sequence[tuple[str, float, float]]) -> dict[str, int]:
    """A lane for each span (key, from, to), so that no two in a lane overlap; earlier ones get the first lanes."""
    lanes: list[list[tuple[float, float]]] = []
    found: dict[str, int] = {}
    for key, low, high in spans:
        free = (i for i, taken in enumerate(lanes) if all(high < a or low > b for a, b in taken))
        number = next(free, len(lanes))
        if number == len(lanes):
            lanes.append([])
        lanes[number].append((low, high))
        found[key] = number
    return found
