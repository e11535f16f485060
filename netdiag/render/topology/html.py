"""A topology as one page that needs nothing else: no network, no other file, no server.

First a table that answers who can reach which broker, by which address, and where it stops; below it the picture, in
which everything can be pressed and then shows its story: what the thing is, in sections of text. Texts and hops that
many stories share are kept once, in tables that the stories point into by number.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from netdiag.findings import Finding
from netdiag.render.html import natural_key, script_json, security_policy, visible
from netdiag.render.redact import redacted
from netdiag.render.topology.broker_access import (
    WORDS,
    AccessCell,
    AccessColumn,
    AccessTable,
    BrokerAccess,
    Mark,
    access_table,
    address,
    place_title,
)
from netdiag.render.topology.layout import Picture, layout
from netdiag.render.topology.lookup import coverage_line
from netdiag.render.topology.scene import (
    Attachment,
    Bar,
    BarKind,
    Box,
    Chip,
    Fault,
    Pill,
    Row,
    Scene,
    endpoint,
    listener_key,
    scene,
)
from netdiag.render.topology.svg import drawing, mark_sign, total_height
from netdiag.topology.graph import Published, Reach, Topology
from netdiag.topology.inventory import LinkId

QUESTION = "Who can reach this broker, by which address, and where does it stop?"

# A table of more columns than these is set narrow: a cell shows the beginning of what it says.
_COLUMNS = 5

# So many of the things that are wrong stand above everything.
_WRONG = 3

# So many names stand in the head of a column before the rest is counted.
_NAMES = 2


def html_page(topology: Topology, *, findings: Sequence[Finding] = (), title: str = "") -> str:
    """The page; equal topologies give equal text."""
    access = BrokerAccess(topology=topology)
    drawn = scene(access, findings)
    picture = layout(drawn)
    table = access_table(access)
    stories = Stories(access, drawn, {column.sources[0] for column in table.columns})
    for index, column in enumerate(table.columns):
        stories.add_vantage(f"column:{index}", column.sources)
    style, script = _ours("picture.css") + _ours("page.css"), _ours("page.js")
    data = {
        "stories": stories.stories,
        "hops": stories.hops,
        "names": stories.names,
        "words": {m.value: w for m, w in WORDS.items()},
    }
    title = visible(title or f"network of {drawn.host}")
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{security_policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style></head><body>",
        f'<header><h1>{QUESTION}</h1><p id="summary">{escape(table.summary)}</p>',
        *_wrong(drawn),
        "</header>",
        f'<svg class="signs" aria-hidden="true">{_signs()}</svg>',
        *_table(table, topology),
        *_tools(drawn),
        *_picture(picture, title),
        '<aside id="story" aria-label="story of what is chosen" hidden></aside></main>',
        f'<footer><p id="coverage">{_footer(topology)}</p></footer>',
        f'<script type="application/json" id="data">{script_json(data)}</script>',
        f"<script>{script}</script>",
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def _ours(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _wrong(drawn: Scene) -> Iterator[str]:
    """The worst of what is wrong, each leading to what it is said of; what concerns brokers comes first."""
    ours = _of_brokers(drawn)
    told = [(fault, key) for key, those in (*drawn.faults.items(), ("", drawn.stray)) for fault in those]
    told.sort(key=lambda pair: (pair[1] not in ours, -pair[0].severity.rank))
    if not told:
        return
    yield '<ul id="wrong" aria-label="what is wrong">'
    for fault, key in told[:_WRONG]:
        text = f"<b>{fault.severity.value}</b> {escape(visible(fault.text))}"
        pressed = f'<button type="button" data-open="{escape(visible(key))}">{text}</button>' if key else text
        yield f'<li class="{fault.severity.value}">{pressed}</li>'
    if len(told) > _WRONG:
        yield f"<li>and {len(told) - _WRONG} more, marked in the picture</li>"
    yield "</ul>"


def _of_brokers(drawn: Scene) -> set[str]:
    """The keys of brokers and of what they hang from."""
    boxes = {box.key for box in drawn.boxes if box.rows}
    rows = {row.key for box in drawn.boxes for row in box.rows}
    bars = {bar.key for bar in drawn.bars if any(attached.place in boxes for attached in bar.attachments)}
    return boxes | rows | bars | {pill.key for pill in drawn.pills if pill.box in boxes}


def _signs() -> str:
    """The signs of the table, once."""
    return "".join(
        f'<symbol id="sign-{mark.value}" viewBox="-8 -8 16 16"><circle r="7"/><path d="{mark_sign(mark)}"/></symbol>'
        for mark in Mark
    )


def _table(table: AccessTable, topology: Topology) -> Iterator[str]:
    note = f'<p class="note">{escape(visible(topology.reach_note))}</p>' if topology.reach_note else ""
    if not table.brokers or not table.columns:
        yield note
        return
    wide = ' class="wide"' if len(table.columns) > _COLUMNS else ""
    yield f'<section id="reach"{wide} aria-label="who reaches which broker"><table>'
    yield "<caption>for each broker and place: the address that works, or where the connection ends</caption>"
    heads = "".join(_head(index, column) for index, column in enumerate(table.columns))
    yield f'<thead><tr><th scope="col">broker</th>{heads}</tr></thead><tbody>'
    first = {one.broker: one.key for one in reversed(topology.listeners) if not one.controller}
    for number, broker in enumerate(table.brokers):
        key = escape(visible(listener_key(first[broker])))
        name = f'<button type="button" data-open="{key}">{escape(visible(broker))}</button>'
        cells = "".join(_cell(column.cells[number], column) for column in table.columns)
        yield f'<tr><th scope="row">{name}</th>{cells}</tr>'
    yield f"</tbody></table>{note}</section>"


def _head(index: int, column: AccessColumn) -> str:
    names = [visible(place_title(name)) for name in column.sources]
    more = len(names) - _NAMES
    shown = ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f'<th scope="col"><button type="button" data-open="column:{index}">from {escape(shown)}</button></th>'


def _cell(cell: AccessCell, column: AccessColumn) -> str:
    sign = f'<svg class="mark {cell.mark.value}" aria-hidden="true"><use href="#sign-{cell.mark.value}"/></svg>'
    text, why = escape(visible(cell.text)), escape(visible(cell.because))
    word = WORDS[cell.mark]
    if cell.mark is Mark.NONE:
        return f'<td class="none">{text}</td>'
    key, source = escape(visible(listener_key(cell.listener))), escape(visible(place_title(column.sources[0])))
    return (
        f'<td class="{cell.mark.value}"><button type="button" data-open="{key}" data-source="{source}" title="{why}">'
        f"{sign}<span><b>{word}</b> {text}</span></button></td>"
    )


def _footer(topology: Topology) -> str:
    """What was read, what could not be, and whom of the engines was asked."""
    told = filter(None, (coverage_line(topology.inventory), topology.engine))
    return " · ".join(escape(visible(redacted(text))) for text in told)


def _tools(drawn: Scene) -> Iterator[str]:
    networks = sorted({bar.title for bar in drawn.bars if bar.kind is BarKind.NETWORK}, key=natural_key)
    services = sorted({name for box in drawn.boxes for name in box.services}, key=natural_key)
    yield '<section id="tools" aria-label="tools"><label>search <input id="search" type="search" autocomplete="off" '
    yield 'placeholder="name, address, port, rule" aria-controls="found"></label>'
    for name, values in (("network", networks), ("service", services)):
        yield f'<label>{name} <select id="{name}"><option value="">all</option>'
        yield "".join(f'<option value="{escape(v)}">{escape(v)}</option>' for v in map(visible, values))
        yield "</select></label>"
    yield '<span class="zoom"><button type="button" id="out" aria-label="smaller">−</button>'
    yield '<button type="button" id="in" aria-label="larger">+</button>'
    yield '<button type="button" id="fit">all of it</button></span>'
    yield '<span id="status" role="status"></span><ul id="found" hidden></ul></section>'


def _picture(picture: Picture, title: str) -> Iterator[str]:
    width, height = f"{picture.width:.0f}", f"{total_height(picture):.0f}"
    yield '<main><a class="skip" href="#coverage">skip the picture</a>'
    yield '<div id="view" tabindex="0" role="group" aria-label="picture: arrow keys move it, plus and minus size it">'
    yield f'<svg class="picture" viewBox="0 0 {width} {height}" data-width="{width}" data-height="{height}" '
    yield f'role="group" aria-label="{escape(title)}">'
    yield from drawing(picture, live=True)
    yield "</svg></div>"


# So many ways are told hop by hop; of more only those from `shown` and the first of those that end alike.
_EVERY = 800

# Beyond so many lines whom a place reaches is counted, not told.
_EACH = 100

Story = dict[str, Any]

Section = tuple[str, list[tuple[str, str]]]


class Stories:
    """Stories by key.

    `shown` are places whose ways are told hop by hop in any case. `hops` are the distinct hops of all ways: [kind,
    place, what, rules in one text]; `names` are where ways start.
    """

    def __init__(self, access: BrokerAccess, scene: Scene, shown: Collection[str] = ()) -> None:
        topology = access.topology
        self._access = access
        self._shown = frozenset(shown)
        self._each = len(topology.reach) <= _EVERY
        self._topology = topology
        self._scene = scene
        self._ports = {port.key: pill for pill in scene.pills for port in pill.ports}
        self._titles = {place.netns: place.name for place in topology.places}
        self._places = {box.name: box.key for box in scene.boxes}
        self._numbers: dict[tuple[str, ...], int] = {}
        self._names: dict[str, int] = {}
        self.stories: dict[str, Story] = {}
        for bar in scene.bars:
            self._add(bar.key, bar.kind.value, bar.title, self._bar(bar))
        for box in scene.boxes:
            self._box(box)
        for pill in scene.pills:
            self._pill(pill)
        for chip in scene.chips:
            self._add(chip.key, "device", chip.text, self._chip(chip))

    def add_vantage(self, key: str, sources: Sequence[str]) -> None:
        """The story of places with the same result: which they are, and whom the first of them reaches."""
        title = place_title(sources[0]) if len(sources) == 1 else f"{len(sources)} places with the same result"
        rows = [("", place_title(name)) for name in sources]
        sections: list[Section] = [] if len(sources) == 1 else [("These places", rows)]
        sections.append((f"From {visible(place_title(sources[0]))}", list(self._from(sources[0]))))
        near = [self._places[name] for name in sources[:_EACH] if name in self._places]
        self._add(key, "vantage", title, sections, near=near)

    @property
    def hops(self) -> list[tuple[str, ...]]:
        """The table of hops."""
        return list(self._numbers)

    @property
    def names(self) -> list[str]:
        """The table of places that ways start from."""
        return list(self._names)

    def _name(self, place: str) -> int:
        return self._names.setdefault(visible(place), len(self._names))

    def _add(
        self,
        key: str,
        kind: str,
        title: str,
        sections: Sequence[Section],
        *,
        ways: Sequence[Reach] = (),
        near: Sequence[str] = (),
        networks: Sequence[str] = (),
        services: Sequence[str] = (),
    ) -> None:
        shown = [(head, [(a, visible(redacted(b))) for a, b in rows if b]) for head, rows in sections]
        story: Story = {
            "kind": kind,
            "title": visible(title),
            "faults": [_fault(fault) for fault in self._scene.faults.get(key, ())],
            "sections": [(head, rows) for head, rows in shown if rows],
            "ways": self._stories(ways),
            "near": [visible(other) for other in dict.fromkeys(near) if other and other != key],
            "networks": [visible(name) for name in networks],
            "services": [visible(name) for name in services],
        }
        self.stories[visible(key)] = {name: value for name, value in story.items() if value}

    def _bar(self, bar: Bar) -> list[Section]:
        names = {box.key: box.name for box in self._scene.boxes}
        rows = [("", fact) for fact in bar.facts]
        rows += [("unknown", bar.unknown), *(("port", name) for name in bar.ports)]
        on_it = [(visible(names.get(h.place, h.place)), _attached(h)) for h in bar.attachments]
        carried = self._traffic([] if bar.device is None else [bar.device])
        return [("What it is", rows), (f"On it: {len(bar.attachments)}", on_it), ("Captured Kafka traffic", carried)]

    def _box(self, box: Box) -> None:
        bars = [(bar, h) for bar in self._scene.bars for h in bar.attachments if h.place == box.key]
        networks = [bar.title for bar, _ in bars]
        what = [("state", box.state), ("unknown", box.unknown), ("", box.subtitle)]
        what += [("service", name) for name in box.services]
        for identifier in box.containers:
            if container := self._topology.containers.get(identifier):
                what += [("container", f"{container.name} ({container.short_id})"), ("image", container.image)]
        hangs = [(bar.title, _attached(h)) for bar, h in bars]
        hangs += [("device", text) for text in box.devices]
        sections: list[Section] = [
            ("What it is", what),
            ("Connected to", [(visible(a), b) for a, b in hangs]),
            ("Listens on", self._sockets(box)),
            ("From here", list(self._from(box.name))),
            ("Captured Kafka traffic", self._traffic(self._devices(box))),
        ]
        pills = [pill for pill in self._scene.pills if pill.box == box.key]
        near = [*(bar.key for bar, _ in bars), *(pill.key for pill in pills)]
        kind = "container" if box.containers else box.place.kind.value if box.place else "container"
        self._add(box.key, kind, box.name, sections, near=near, networks=networks, services=box.services)
        for row in box.rows:
            self._row(row, box, networks)

    def _sockets(self, box: Box) -> list[tuple[str, str]]:
        facts = None if box.place is None else self._topology.inventory.namespaces.get(box.place.netns)
        if facts is None:
            return []
        found = [
            (
                f"{endpoint(one.address, one.port)}/{one.protocol.value}",
                self._who(one.pids) or "kernel, or unseen",
            )
            for one in facts.listeners
        ]
        return [*found[:20], *([("", f"and {len(found) - 20} more")] if len(found) > 20 else [])]

    def _from(self, source: str) -> Iterator[tuple[str, str]]:
        """Whom a place reaches: a line for each way that starts there, or their number by how they end."""
        ways = self._access.origins.get(source, ())
        if len(ways) > _EACH:
            ends = Counter((self._access.mark(reach), reach.path.end.value) for reach in ways)
            counted = sorted(ends.items(), key=lambda item: _BEST.index(item[0][0]))
            yield from ((f"{WORDS[mark]} ({end})", f"{count} ways") for (mark, end), count in counted)
            return
        for reach in ways:
            word = WORDS[self._access.mark(reach)]
            yield (
                visible(f"{reach.listener} by {address(reach)}"),
                f"{word} ({reach.path.end.value}): {reach.path.because}",
            )

    def _row(self, row: Row, box: Box, networks: Sequence[str]) -> None:
        listener = self._access.listeners[row.key.removeprefix("listener:")]
        bound = "not visible" if listener.bound is None else ", ".join(listener.bound) or "nowhere: nothing listens"
        sections: list[Section] = [
            (
                "Configured",
                [
                    ("binds", endpoint(*listener.bind)),
                    (
                        "advertises",
                        row.advertised or "nothing",
                    ),
                    ("security", listener.security_protocol),
                ],
            ),
            ("Socket", [("bound to", bound), ("held by", self._who(listener.pids))]),
        ]
        pills = [pill for key in listener.published if (pill := self._ports.get(key))]
        ports = dict.fromkeys(port for pill in pills for port in pill.ports)
        sections += [("Published port", self._port(port)) for port in ports]
        near = [box.key, *(pill.key for pill in pills)]
        ways = self._access.to.get(listener.key, ())
        title = f"{listener.broker} · {listener.listener}"
        self._add(row.key, "listener", title, sections, ways=ways, near=near, networks=networks, services=box.services)

    def _pill(self, pill: Pill) -> None:
        sections: list[Section] = [("Published port", self._port(port)) for port in pill.ports]
        if pill.dead:
            sections.insert(0, ("Why connections fail", [("", pill.dead)]))
        box = next((box for box in self._scene.boxes if box.key == pill.box), None)
        led = [one for one in self._topology.listeners if any(port.key in one.published for port in pill.ports)]
        led = [one for one in led if box is not None and one.container in box.containers]
        near = [pill.box, *(listener_key(one.key) for one in led)]
        networks = [bar.title for bar in self._scene.bars if any(h.place == pill.box for h in bar.attachments)]
        services = () if box is None else box.services
        self._add(pill.key, "published port", pill.text, sections, near=near, networks=networks, services=services)
        if led:
            # the ways of these listeners that dial this very port
            self.stories[visible(pill.key)] |= {
                "ways_of": [visible(listener_key(one.key)) for one in led],
                "dialled": str(pill.ports[0].published),
            }

    def _port(self, port: Published) -> list[tuple[str, str]]:
        inside = f"{port.to_address or 'nowhere'}:{port.target}/{port.protocol}"
        force = "yes" if port.in_force else "no: configured, but not published"
        proxies = [("docker-proxy", self._who((pid,))) for pid in port.proxies]
        held = "not visible" if port.pids is None else self._who(port.pids) or "nothing listens"
        return [
            ("on the host", endpoint(port.host_ip or "0.0.0.0", port.published)),
            ("leads to", inside),
            ("in force", force),
            *(("DNAT rule", rule) for rule in port.dnat or ("none",)),
            *(proxies or [("docker-proxy", "none")]),
            ("behind it", held),
        ]

    def _chip(self, chip: Chip) -> list[Section]:
        link = self._topology.inventory.link(chip.device)
        facts = self._topology.inventory.namespaces.get(chip.device.netns)
        if link is None or facts is None:
            return []
        addresses = [f"{a.address}/{a.prefix_length}" for a in facts.addresses if a.ifindex == link.ifindex]
        rows = [
            ("name", link.ifname),
            ("kind", link.kind or ("loopback" if link.loopback else "hardware")),
            ("state", f"{'on' if link.up else 'off'}, {link.operstate}"),
            ("mtu", str(link.mtu) if link.mtu else ""),
            ("hardware address", link.address),
            *(("address", text) for text in addresses),
        ]
        owners = self._topology.inventory.tun_owners.get(chip.device, ())
        carried = self._traffic([chip.device])
        return [("What it is", [*rows, ("held open by", self._who(owners))]), ("Captured Kafka traffic", carried)]

    def _devices(self, box: Box) -> list[LinkId]:
        facts = None if box.place is None else self._topology.inventory.namespaces.get(box.place.netns)
        return [] if facts is None else [LinkId(netns=facts.netns.inode, ifindex=link.ifindex) for link in facts.links]

    def _traffic(self, devices: Sequence[LinkId]) -> list[tuple[str, str]]:
        """What a capture showed on these devices, where one was laid over the topology."""
        found = []
        for device in devices:
            link, seen = self._topology.inventory.link(device), self._topology.traffic.get(device)
            if link is None or seen is None:
                continue
            told = [f"{seen.connections} connections, {seen.requests} requests, {seen.responses} responses"]
            told += [f"{seen.request_bytes + seen.response_bytes} bytes"]
            told += [f"{seen.failed} failed"] if seen.failed else []
            told += [f"{seen.retransmissions} retransmissions"] if seen.retransmissions else []
            told += [] if seen.captured else ["captured elsewhere"]
            found.append((visible(link.ifname), ", ".join(told)))
        return found

    def _who(self, pids: Sequence[int]) -> str:
        processes = self._topology.inventory.processes
        named = (f"{pid} ({processes[pid].comm})" if pid in processes else str(pid) for pid in pids)
        return ", ".join(f"process {text}" for text in named)

    def _stories(self, ways: Sequence[Reach]) -> list[Story]:
        """The ways, those alike together, what works first."""
        alike: dict[tuple[object, ...], list[Reach]] = {}
        for reach in ways:
            mark, wrong = self._access.mark(reach), self._access.elsewhere(reach)
            key = (address(reach), mark, reach.path.end, reach.path.because, reach.advertised, wrong)
            alike.setdefault(key, []).append(reach)
        told = [self._way(those) for those in alike.values()]
        return sorted(told, key=lambda way: _BEST.index(Mark(way["mark"])))

    def _way(self, ways: Sequence[Reach]) -> Story:
        first = ways[0]
        wrong = self._access.elsewhere(first)
        because = first.path.because
        if wrong and first.path.end.value == "connected":
            because = f"another place answers, {wrong}: {because}"
        return {
            "from": [self._name(place_title(reach.source)) for reach in ways],
            "to": visible(address(first)),
            "advertised": first.advertised,
            "mark": self._access.mark(first).value,
            "end": first.path.end.value,
            "because": visible(redacted(because)),
            "hops": [
                [number, [self._hop(reach, index) for index in range(len(reach.path.hops))]]
                for number, reach in enumerate(ways)
                if self._each or number == 0 or reach.source in self._shown
            ],
        }

    def _hop(self, reach: Reach, index: int) -> int:
        hop = reach.path.hops[index]
        rules = "\n".join(f"{rule}: {rule.text}" for rule in hop.rules)
        start = place_title(reach.source) if hop.netns == reach.path.source else "a namespace not visible"
        place = self._titles.get(hop.netns, start)
        told = "\n".join(map(visible, rules.split("\n")))
        texts = (hop.kind.value, visible(place), visible(redacted(hop.what)), told)
        return self._numbers.setdefault(texts, len(self._numbers))


_BEST: tuple[Mark, ...] = (Mark.OK, Mark.HALF, Mark.UNKNOWN, Mark.BAD, Mark.NONE)


def _attached(attached: Attachment) -> str:
    return " · ".join(filter(None, (attached.address, attached.cable, attached.broken))) or "attached"


def _fault(fault: Fault) -> dict[str, str]:
    texts = {"text": fault.text, "why": fault.why, "hint": fault.hint, "rule": fault.rule}
    return {"severity": fault.severity.value, **{name: visible(text) for name, text in texts.items() if text}}
