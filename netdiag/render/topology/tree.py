"""A topology as text for people: who reaches which broker, then what hangs on what, then what is wrong with it.

The tree goes from a namespace to its bridges, from a bridge over its ports to the namespaces behind them, and there to
what answers. A namespace is drawn where it is met first; what nothing leads to is drawn at the margin. Branches of one
parent look alike when they differ in numbers only (`veth3f2a1b0`, `10.0.3.7`, `pid 4711`). Of many such the first few
are drawn and the rest is counted, so that 200 namespaces stay readable and an odd one stands out.

What changed between two topologies is drawn with the same branches, and is JSON, version 1
(`schema/topology-diff.v1.json`).
"""

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import Any

from netdiag.findings import Finding
from netdiag.linux.rtnetlink import Link
from netdiag.linux.sockets import Listener
from netdiag.patterns import regex
from netdiag.render.findings.finding_text import SourceLines, finding_lines, grouped, in_order
from netdiag.render.json_values import sound
from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style, line_width, paint, width
from netdiag.render.topology.lookup import (
    Lookup,
    bridge_parts,
    counterpart_parts,
    coverage_line,
    detail_parts,
    kind_text,
    pids_text,
    state_parts,
    styled_lines,
    traffic_parts,
    vlan_text,
)
from netdiag.render.wording import endpoint_text, first_and_last, first_names, plural
from netdiag.topology.diff import NAMESPACED_KINDS, ChangeKind, Difference, FactChange
from netdiag.topology.graph import (
    KafkaListener,
    Member,
    NetworkView,
    PathEnd,
    Place,
    PlaceKind,
    Published,
    PublishedBy,
    Reach,
    Topology,
)
from netdiag.topology.inventory import LinkId
from netdiag.values import dataclass

# Of more branches than _FEW that look alike, _SHOWN are drawn.
_FEW = 8
_SHOWN_ALIKE = 3
# Numbers, and the hexadecimal digits around them: of addresses, ids and generated names.
_HEX_NUMBERS = regex(r"\bveth[0-9a-f]+|[0-9a-f]*(?::[0-9a-f]*){2,}|[0-9a-f]*[0-9][0-9a-f]*")
# A branch that is indented deeper than this leaves no room to fold a line.
_LEAST_WIDTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchGlyphs:
    """What branches are drawn with, each as wide as the others, and an arrow within them."""

    fork: str
    last: str
    through: str
    blank: str
    arrow: str


UNICODE_BRANCHES = BranchGlyphs(fork="├─ ", last="└─ ", through="│  ", blank="   ", arrow="→")
ASCII_BRANCHES = BranchGlyphs(fork="|- ", last="`- ", through="|  ", blank="   ", arrow="->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A line of parts, which may be folded between them, and what hangs from it.

    `name` is what it is called where many that look alike are counted.
    """

    parts: tuple[Line, ...]
    name: str = ""
    children: tuple["Branch", ...] = ()


@dataclasses.dataclass(slots=True)
class _Canvas:
    """Where branches are drawn."""

    screen: Screen
    signs: BranchGlyphs
    full: bool
    appearances: dict[int, object] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)


def draw_branches(roots: Iterable[Branch], screen: Screen, *, full: bool = False) -> list[Line]:
    """The lines of these trees, roots at the margin; `full` draws what appearances alike, too."""
    canvas = _Canvas(screen=screen, signs=branch_glyphs(screen), full=full)
    every = list(roots)
    for root in every if full else _without_repeats(every, canvas.appearances):
        _draw_branch(root, canvas, "", "")
        _draw_children(root.children, canvas, "")
    return canvas.lines


def branch_glyphs(screen: Screen) -> BranchGlyphs:
    """Box drawing on a terminal that shows colour and has the letters for it; ASCII in files and pipes."""
    return UNICODE_BRANCHES if screen.colour and screen.glyphs.bar == "│" else ASCII_BRANCHES


def _draw_children(children: Sequence[Branch], canvas: _Canvas, indent: str) -> None:
    shown = list(children) if canvas.full else _without_repeats(children, canvas.appearances)
    for index, child in enumerate(shown):
        is_last = index == len(shown) - 1
        _draw_branch(
            child, canvas, indent + (canvas.signs.last if is_last else canvas.signs.fork), indent, is_last=is_last
        )
        _draw_children(child.children, canvas, indent + (canvas.signs.blank if is_last else canvas.signs.through))


def _draw_branch(branch: Branch, canvas: _Canvas, first: str, indent: str, *, is_last: bool = False) -> None:
    """One branch in as many lines as it takes; those after the first keep the drawing to their left whole."""
    rest = indent + (canvas.signs.blank if is_last else canvas.signs.through) if first else ""
    rest += (canvas.signs.through if branch.children else canvas.signs.blank) + " "
    line: list[Run] = [Run(first, Style.DIM)] if first else []
    used, empty = len(first), True
    for each in branch.parts:
        needed = line_width(each) + (0 if empty else 2)
        if not empty and used + needed > canvas.screen.width:
            canvas.lines.append(tuple(line))
            line, used, empty = [Run(rest, Style.DIM)], len(rest), True
            needed -= 2
        if empty and used + needed > canvas.screen.width:
            for folded in _folded(each, canvas.screen.width - max(used, len(rest))):
                if not empty:
                    canvas.lines.append(tuple(line))
                    line, used = [Run(rest, Style.DIM)], len(rest)
                line += folded
                used, empty = used + line_width(folded), False
            continue
        line += [Run("" if empty else "  "), *each]
        used, empty = used + needed, False
    canvas.lines.append(tuple(run for run in line if run.text))


def _folded(line: Line, columns: int) -> list[Line]:
    """A part that is wider than the screen, folded between its words; styles stay."""
    columns = max(_LEAST_WIDTH, columns)
    lines: list[list[Run]] = [[]]
    used = 0
    for run in line:
        kept = ""
        for index, word in enumerate(run.text.split(" ")):
            piece = f" {word}" if index else word
            if used and word and used + width(piece) > columns:
                lines[-1].append(Run(kept, run.style, run.link))
                lines.append([])
                kept, piece, used = "", word, 0
            kept, used = kept + piece, used + width(piece)
        lines[-1].append(Run(kept, run.style, run.link))
    return [tuple(run for run in each if run.text) for each in lines]


def _without_repeats(children: Sequence[Branch], appearances: dict[int, object]) -> list[Branch]:
    """The branches to draw; `appearances` keeps what each looks like, as every level above a branch asks for it."""
    alike: dict[object, list[int]] = {}
    for index, child in enumerate(children):
        alike.setdefault(_appearance(child, appearances), []).append(index)
    kept: dict[int, Branch] = {}
    for indexes in alike.values():
        if len(indexes) <= _FEW:
            kept |= {index: children[index] for index in indexes}
            continue
        kept |= {index: children[index] for index in indexes[:_SHOWN_ALIKE]}
        kept[indexes[_SHOWN_ALIKE]] = _rest([children[index] for index in indexes[_SHOWN_ALIKE:]])
    return [kept[index] for index in sorted(kept)]


def _appearance(branch: Branch, appearances: dict[int, object]) -> object:
    # The branches outlive the drawing, so no other one has the same id meanwhile.
    if id(branch) not in appearances:
        text = "  ".join("".join(run.text for run in each) for each in branch.parts)
        appearances[id(branch)] = (
            _HEX_NUMBERS.sub("#", text),
            tuple(_appearance(child, appearances) for child in branch.children),
        )
    return appearances[id(branch)]


def _rest(branches: Sequence[Branch]) -> Branch:
    named = [branch.name for branch in branches if branch.name]
    names = f": {named[0]} to {named[-1]}" if len(named) > 1 else ""
    return Branch(parts=((Run(f"and {len(branches)} more like these{names}", Style.DIM),),))


# More sources than this are counted.
_SOURCES_SHOWN = 6
_NUMBERS = regex(r"\d+")
_WILDCARDS = ("", "0.0.0.0", "::")
_EMBEDDED_DNS = "127.0.0.11"
_LIKEWISE_SHOWN = 6
_NUMBER = regex(r"([0-9]{1,18})")
# Drivers whose networks have no bridge but stand on a device of the docker host.
_ON_A_PARENT = ("macvlan", "ipvlan")
# Names of what has ports; other devices stand alone.
_MASTERS = frozenset({"bridge", "bond", "vrf", "team", "openvswitch"})

ITSELF = "itself"

END_STYLES = {PathEnd.CONNECTED: Style.GOOD, PathEnd.UNKNOWN: Style.HALF}


def tree_text(topology: Topology, screen: Screen, findings: Iterable[Finding] = (), *, full: bool = False) -> str:
    """The text; equal topologies and screens give equal text. `full` draws also what looks alike."""
    drawing = _Drawing(Lookup(topology), screen)
    blocks: list[list[Line]] = []
    reach = reach_branches(drawing.lookup, screen)
    if reach:
        title: Line = (Run("Who reaches which broker, by which address", Style.BOLD),)
        note: list[Line] = [(screen.run(topology.reach_note, Style.DIM),)] if topology.reach_note else []
        blocks.append(
            [title, *_indented([*draw_branches(reach, replace(screen, width=screen.width - 2), full=full), *note])]
        )
    for is_bare, group in groupby(drawing.roots(), key=lambda root: not root.children):
        roots = list(group)
        blocks += (
            [draw_branches(roots, screen, full=full)]
            if is_bare
            else [draw_branches([root], screen, full=full) for root in roots]
        )
    blocks += [_unmatched(topology, screen)] if topology.unmatched else []
    blocks += [_finding_block(group, screen) for group in grouped(in_order(findings), full=full)]
    blocks.append(_last_lines(topology, screen))
    return paint([line for block in blocks for line in (*block, ())][:-1], screen)


def _by_name(branch: Branch) -> list[tuple[int, str]]:
    """Names by the numbers in them: broker-2 before broker-10."""
    return [(int(part), "") if part.isdigit() and part.isascii() else (-1, part) for part in _NUMBER.split(branch.name)]


def _kind_words(place: Place) -> str:
    match place.kind:
        case PlaceKind.HOST:
            return "this machine"
        case PlaceKind.CONTAINER:
            return "container"
        case PlaceKind.MACHINE:
            return "outside the docker host"
        case PlaceKind.NAMED:
            return "network namespace"
        case PlaceKind.PROCESS:
            return "network namespace without a name"
        case PlaceKind.UNOWNED:
            return "network namespace without a process"


def _indented(lines: Iterable[Line]) -> list[Line]:
    return [(Run("  "), *line) for line in lines]


def _unmatched(topology: Topology, screen: Screen) -> list[Line]:
    title: Line = (Run("Not matched", Style.BOLD),)
    lines: list[Line] = [
        (Run("  "), screen.run(each.subject), screen.run(f": {redacted(each.because)}", Style.DIM))
        for each in topology.unmatched
    ]
    return [title, *lines]


def _finding_block(group: Sequence[Finding], screen: Screen) -> list[Line]:
    """A finding, and where else it is so: the first places, and how many more there are."""
    lines = finding_lines(group[0], SourceLines({}), screen, likewise=group[1 : 1 + _LIKEWISE_SHOWN])
    more = len(group) - 1 - _LIKEWISE_SHOWN
    return [*lines, (Run(f"    and {plural(more, 'more place')}", Style.DIM),)] if more > 0 else lines


def _last_lines(topology: Topology, screen: Screen) -> list[Line]:
    """Which engine was asked, and how much was seen: always the last line."""
    engine: list[Line] = [(screen.run(redacted(topology.engine), Style.DIM),)] if topology.engine else []
    complete = topology.inventory.complete and not topology.inventory.unread
    return [*engine, (screen.run(coverage_line(topology.inventory), Style.PLAIN if complete else Style.HALF),)]


class _Drawing:
    """One topology while it is drawn; what has been drawn is not drawn again."""

    def __init__(self, lookup: Lookup, screen: Screen) -> None:
        self.lookup = lookup
        self._screen = screen
        self._drawn: set[int] = set()
        self._met: set[LinkId] = set()
        self._containers: set[str] = set()

    def roots(self) -> Iterator[Branch]:
        """What stands at the margin: namespaces that nothing drawn before leads to, then what has none."""
        for place in self.lookup.in_order():
            if place.netns not in self._drawn:
                yield self._place_root(place)
        yield from self._networks_elsewhere()
        yield from self._containers_elsewhere()

    def _place_root(self, place: Place) -> Branch:
        children = self._inside(place)
        inventory = self.lookup.topology.inventory
        is_machine = place.kind is PlaceKind.HOST or place.netns == inventory.root
        words = self._machine() if is_machine else _kind_words(place)
        head: Line = (self._run(place.name, Style.BOLD), self._run(f" {words}", Style.DIM))
        return Branch(parts=(head, *self._place_parts(place)), name=place.name, children=tuple(children))

    def _machine(self) -> str:
        inventory = self.lookup.topology.inventory
        return ", ".join(filter(None, (inventory.hostname, f"Linux {inventory.kernel}" if inventory.kernel else "")))

    def _place_parts(self, place: Place) -> Iterator[Line]:
        """What is to be known of a namespace as a whole."""
        facts = self.lookup.facts(place.netns)
        names = [self.lookup.container_name(container) for container in place.containers]
        others = [name for name in names if name != place.name]
        if others:
            yield (self._run(f"shared by {', '.join(others)}"),)
        services = [service for service in place.services if service not in names]
        if services:
            yield (self._run(f"service {', '.join(services)}", Style.DIM),)
        if facts is None or not facts.entered:
            yield (Run("could not be inspected", Style.HALF),)
            return
        if facts.settings.ip_forward is False and any(link.kind == "bridge" for link in facts.links):
            yield (Run("does not forward (ip_forward is off)", Style.HALF),)
        if facts.settings.bridge_nf_call_iptables is False and any(link.kind == "bridge" for link in facts.links):
            yield (Run("bridged frames skip iptables", Style.DIM),)

    def _inside(self, place: Place) -> list[Branch]:
        """Everything in a namespace that was not drawn on the way to it."""
        if place.netns in self._drawn:
            return []
        self._drawn.add(place.netns)
        self._containers.update(place.containers)
        links = self.lookup.links(place.netns)
        services = service_branches(self.lookup, place, self._screen)
        masters = [self._master(where, link) for where, link in links if self._is_master(where, link)]
        others = [self._device(where, link) for where, link in links if not self._is_told(where, link)]
        if place.kind is PlaceKind.HOST or not place.containers:
            return [*masters, *others, *services]
        return [*services, *masters, *others]

    def _is_master(self, where: LinkId, link: Link) -> bool:
        return where not in self._met and (link.kind in _MASTERS or bool(self.lookup.ports(where)))

    def _is_told(self, where: LinkId, link: Link) -> bool:
        return (
            where in self._met
            or (link.loopback and link.up)
            or self._is_master(where, link)
            or self._is_drawn_later(where)
        )

    def _is_drawn_later(self, where: LinkId) -> bool:
        """Whether its other end is a port of a bridge that is still to be drawn where we come from."""
        peer = self.lookup.peer(where)
        master = self.lookup.master(peer) if peer else None
        return master is not None and master not in self._met and master.netns in self._drawn

    def _master(self, where: LinkId, link: Link) -> Branch:
        """A bridge or bond with everything that hangs from it."""
        self._met.add(where)
        view = self.lookup.network(where)
        head: Line = (self._run(link.ifname, Style.BOLD), self._run(f" {kind_text(link)}", Style.DIM))
        parts: list[Line] = [head]
        if view is not None:
            parts = [(self._run(view.network.name, Style.BOLD), self._run(f" {link.ifname}", Style.DIM))]
            parts += self._network_parts(view)
        parts += self._addresses(where, view.network.gateways if view else ())
        told = (
            *state_parts(link),
            *bridge_parts(link),
            *detail_parts(link),
            *self._related(where, link),
        )
        parts += styled_lines(iter(told), self._screen)
        children = sorted((self._port(port) for port in self.lookup.ports(where)), key=_by_name)
        if view is not None:
            children += [self._member(member, view) for member in view.members if member.port is None]
        return Branch(parts=tuple(parts), name=link.ifname, children=tuple(children))

    def _network_parts(self, view: NetworkView) -> Iterator[Line]:
        network = view.network
        if network.subnets:
            yield (self._run(", ".join(network.subnets)),)
        if network.internal:
            yield (Run("internal: no access to other networks"),)

    def _port(self, where: LinkId) -> Branch:
        """A port: what is on the other end of its cable, or the device itself."""
        link = self.lookup.link(where)
        if link is None:
            return Branch(parts=((self._run(self.lookup.ifname(where)),),))
        if self.lookup.ports(where) and where not in self._met:
            return self._master(where, link)
        return self._device(where, link)

    def _device(self, where: LinkId, link: Link) -> Branch:
        """A device in one line, and behind it the namespace that it leads to."""
        self._met.add(where)
        peer = self.lookup.peer(where)
        vlan = self._vlan(where)
        told = (*state_parts(link), *detail_parts(link), *self._related(where, link))
        words = styled_lines(iter(told), self._screen)
        if peer is None or peer in self._met:
            kind = f" {kind_text(link)}"
            if peer is not None:
                kind += f" to {self.lookup.ifname(peer)}" + self._in(peer, where)
            head: Line = (self._run(link.ifname), self._run(kind, Style.DIM))
            return Branch(parts=(head, *self._addresses(where), *vlan, *words), name=link.ifname)
        return self._cable(where, link, peer, (*vlan, *words))

    def _cable(self, where: LinkId, link: Link, peer: LinkId, words: Sequence[Line]) -> Branch:
        """A pair of devices in one line: here, there, and what is there."""
        self._met.add(peer)
        far = self.lookup.link(peer)
        place = self.lookup.places.get(peer.netns)
        arrow = branch_glyphs(self._screen).arrow
        own = "".join(f" {address}" for address in self.lookup.addresses(where))
        head: Line = (
            self._run(link.ifname),
            self._run(own, Style.PLACE),
            self._run(f" {arrow} ", Style.DIM),
            self._run(self.lookup.ifname(peer)),
        )
        is_here = peer.netns == where.netns
        if not is_here:
            head = (*head, Run(" of "), self._run(self.lookup.name(peer.netns), Style.BOLD))
        parts: list[Line] = [head, *self._addresses(peer), *words]
        if far is not None:
            odd = [(text, style) for text, style in state_parts(far) if (text, style) not in state_parts(link)]
            parts += styled_lines(((f"{far.ifname} {text}", style) for text, style in odd), self._screen)
        children: list[Branch] = []
        if place is not None and not is_here:
            if place.netns in self._drawn:
                parts.append((Run("see above", Style.DIM),))
            else:
                parts += self._place_parts(place)
                children = self._inside(place)
        return Branch(parts=tuple(parts), name=self.lookup.name(peer.netns), children=tuple(children))

    def _related(self, where: LinkId, link: Link) -> Iterator[tuple[str, Style]]:
        yield from counterpart_parts(self.lookup, where, link)
        yield from traffic_parts(self.lookup, where)

    def _in(self, there: LinkId, here: LinkId) -> str:
        return "" if there.netns == here.netns else f" of {self.lookup.name(there.netns)}"

    def _vlan(self, where: LinkId) -> tuple[Line, ...]:
        """The VLANs of a port, where its bridge looks at them."""
        master = self.lookup.master(where)
        bridge = self.lookup.link(master) if master else None
        facts = self.lookup.facts(where.netns)
        if bridge is None or facts is None or not bridge.details.get("vlan_filtering"):
            return ()
        text = vlan_text(facts.vlans, where)
        return ((self._run(text),),) if text else ()

    def _addresses(self, where: LinkId, gateways: Sequence[str] = ()) -> list[Line]:
        """The addresses of a device; of a bridge, those that are a network's gateways by that name."""
        found = self.lookup.addresses(where)
        addresses = [f"gateway {bare}" if (bare := each.partition("/")[0]) in gateways else each for each in found]
        return [(self._run(", ".join(addresses), Style.PLACE),)] if addresses else []

    def _member(self, member: Member, view: NetworkView) -> Branch:
        """A member of a network that has no port of a bridge there, as far as is seen."""
        name = self.lookup.container_name(member.container)
        head: Line = (self._run(name, Style.BOLD),)
        address: list[Line] = [(self._run(member.address, Style.PLACE),)] if member.address else []
        parts = (head, *address, self._attached(member, view))
        return Branch(parts=parts, name=name, children=self._unseen(member.container))

    def _attached(self, member: Member, view: NetworkView) -> Line:
        """What a container has of a network that it is on."""
        known = self.lookup.topology.containers.get(member.container)
        if known is not None and not known.state.has_process:
            return (Run("not running", Style.DIM),)
        if member.inside is not None and view.bridge is not None and view.network.driver in _ON_A_PARENT:
            return (self._run(f"its {self.lookup.ifname(member.inside)}", Style.DIM),)
        match view.network.driver:
            case "host":
                return (Run("has the devices of the docker host", Style.DIM),)
            case "null":
                return (Run("has only loopback", Style.DIM),)
            case _:
                return (Run("its device is not visible", Style.HALF),)

    def _unseen(self, container: str) -> tuple[Branch, ...]:
        """What the engine says of a container whose namespace is not drawn, once."""
        place = next((place for place in self.lookup.places.values() if container in place.containers), None)
        if container in self._containers or (place is not None and self.lookup.facts(place.netns) is not None):
            return ()
        self._containers.add(container)
        return tuple(container_branches(self.lookup, (container,), self._screen))

    def _networks_elsewhere(self) -> Iterator[Branch]:
        """Networks of the engine that are no bridge of this machine, as far as is seen, and have members."""
        for view in self.lookup.topology.networks:
            stands_on = view.bridge if view.network.driver in _ON_A_PARENT else None
            if (view.bridge is not None and stands_on is None) or not view.members:
                continue
            head: Line = (
                self._run(view.network.name, Style.BOLD),
                self._run(f" network of driver {view.network.driver}", Style.DIM),
            )
            parent: list[Line] = [(self._run(f"on {self.lookup.ifname(stands_on)}"),)] if stands_on else []
            members = [self._member(member, view) for member in view.members]
            parts = (head, *self._network_parts(view), *parent)
            yield Branch(parts=parts, name=view.network.name, children=tuple(members))

    def _containers_elsewhere(self) -> Iterator[Branch]:
        """Containers that run and were met nowhere, and those that were stopped."""
        for container in self.lookup.topology.containers.values():
            if container.id not in self._containers:
                status = container.state.status.value
                head: Line = (self._run(container.name, Style.BOLD), self._run(f" container, {status}", Style.DIM))
                yield Branch(parts=(head,), name=container.name, children=self._unseen(container.id))

    def _run(self, text: str, style: Style = Style.PLAIN) -> Run:
        return self._screen.run(text, style)


def service_branches(lookup: Lookup, place: Place, screen: Screen) -> list[Branch]:
    """Everything that answers in a place, Kafka first."""
    kafka = lookup.kafka(place.containers)
    branches = container_branches(lookup, place.containers, screen)
    facts = lookup.facts(place.netns)
    if facts is None:
        return branches
    proxies = {pid for published in lookup.topology.published for pid in published.proxies}
    ports = {listener.bind[1] for listener in kafka if listener.pids}
    others = [
        listener
        for listener in facts.listeners
        if not proxies.intersection(listener.pids) and not (listener.port in ports and _is_bound_by(listener, kafka))
    ]
    return [*branches, *_socket_branches(lookup, place, others, screen)]


def container_branches(lookup: Lookup, containers: Sequence[str], screen: Screen) -> list[Branch]:
    """Kafka listeners and published ports of containers, also of those whose namespace is not seen."""
    kafka = lookup.kafka(containers)
    led = {key for listener in kafka for key in listener.published}
    branches = [_kafka_branch(lookup, listener, screen) for listener in kafka]
    branches += [_published_branch(lookup, exit_, screen) for exit_ in lookup.exits(containers) if exit_.key not in led]
    return branches


def _is_bound_by(listener: Listener, kafka: Sequence[KafkaListener]) -> bool:
    return any(listener.port == each.bind[1] and set(listener.pids) & set(each.pids) for each in kafka)


def _kafka_branch(lookup: Lookup, listener: KafkaListener, screen: Screen) -> Branch:
    parts: list[Line] = [
        (screen.run(listener.listener, Style.BOLD), screen.run(f" {listener.security_protocol}", Style.DIM)),
        (
            screen.run(f"binds {endpoint_text(listener.bind[0] or '*', listener.bind[1])}"),
            *_bound_runs(lookup, listener, screen),
        ),
    ]
    if listener.advertised is not None:
        parts.append((Run("advertises "), screen.run(endpoint_text(*listener.advertised), Style.PLACE)))
    elif listener.controller:
        parts.append((Run("for controllers", Style.DIM),))
    exits = [lookup.published[key] for key in listener.published if key in lookup.published]
    return Branch(
        parts=tuple(parts),
        name=listener.listener,
        children=tuple(_published_branch(lookup, each, screen) for each in exits),
    )


def _bound_runs(lookup: Lookup, listener: KafkaListener, screen: Screen) -> Iterator[Run]:
    """Whether somebody really listens, where, and who."""
    if listener.bound is None:
        yield Run(", unknown whether it listens", Style.HALF)
        return
    if not listener.bound:
        yield Run(", nothing listens there", Style.ERROR)
        return
    wide = any(address in _WILDCARDS for address in listener.bound)
    same = wide if listener.bind[0] in _WILDCARDS else listener.bind[0] in listener.bound
    yield Run(", listens", Style.GOOD if same else Style.HALF)
    if not same:
        yield screen.run(f" on {', '.join(listener.bound)}", Style.HALF)
    if listener.pids:
        yield screen.run(f": {pids_text(lookup, listener.pids)}", Style.DIM)


def _published_branch(lookup: Lookup, published: Published, screen: Screen) -> Branch:
    where = endpoint_text(published.host_ip or "*", published.published)
    target = published.to_address or lookup.container_name(published.container)
    arrow = branch_glyphs(screen).arrow
    suffix = "" if published.protocol == "tcp" else f"/{published.protocol}"
    head: Line = (
        Run("published "),
        screen.run(where, Style.PLACE),
        screen.run(f"{suffix} {arrow} {endpoint_text(target, published.target)}"),
    )
    return Branch(parts=(head, *_published_remarks(lookup, published)), name=where)


def _published_remarks(lookup: Lookup, published: Published) -> Iterator[Line]:
    """What makes it work, and what is wrong with it."""
    made = [
        f"docker-proxy ({', '.join(map(str, published.proxies))})" if by is PublishedBy.PROXY else by.value.upper()
        for by in published.by
    ]
    if made:
        yield (Run(f"by {' and '.join(made)}", Style.DIM),)
    if not published.in_force:
        yield (
            Run(
                "configured, but not published" if published.asked else "left over, belongs to no container",
                Style.ERROR,
            ),
        )
    elif not made and published.pids is None:
        yield (Run("unknown what serves it", Style.HALF),)
    elif not made:
        yield (Run("no DNAT rule and no docker-proxy", Style.HALF),)
    if published.pids is not None and not published.pids and (made or published.in_force):
        yield (Run("nothing listens behind it", Style.ERROR),)


def _socket_branches(lookup: Lookup, place: Place, listeners: Sequence[Listener], screen: Screen) -> list[Branch]:
    """Other listening sockets, a branch for each owner."""
    owners: dict[tuple[tuple[int, ...], bool, bool], list[Listener]] = {}
    for listener in listeners:
        key = (listener.pids, listener.inode == 0, listener.address == _EMBEDDED_DNS)
        owners.setdefault(key, []).append(listener)
    return [
        Branch(
            parts=tuple(_socket_lines(lookup, place, key, own, screen)), name=screen.visible(pids_text(lookup, key[0]))
        )
        for key, own in sorted(owners.items(), key=lambda item: (item[0][2], min(each.port for each in item[1])))
    ]


def _socket_lines(
    lookup: Lookup,
    place: Place,
    key: tuple[tuple[int, ...], bool, bool],
    listeners: Sequence[Listener],
    screen: Screen,
) -> Iterator[Line]:
    pids, is_kernel, is_dns = key
    owner = pids_text(lookup, pids) if pids else "the kernel" if is_kernel else "a process that is not visible"
    homes = {process.netns for pid in pids if (process := lookup.topology.inventory.processes.get(pid))}
    elsewhere = [lookup.name(home) for home in homes if home is not None and home != place.netns]
    where = f" in {', '.join(elsewhere)}" if elsewhere else ""
    if is_dns:
        yield (screen.run(f"{_EMBEDDED_DNS} embedded DNS: {owner}{where}", Style.DIM),)
        return
    by_protocol: dict[str, list[str]] = {}
    for listener in listeners:
        text = endpoint_text(listener.address, listener.port)
        device = f"%{lookup.device_name(place.netns, listener.ifindex)}" if listener.ifindex else ""
        by_protocol.setdefault(listener.protocol.value, []).append(text + device)
    yield (screen.run(f"{owner}{where}"),)
    for protocol, addresses in by_protocol.items():
        unique = list(dict.fromkeys(addresses))
        yield (screen.run(f"{protocol} {', '.join(unique)}", Style.DIM),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Address:
    """One address of one listener: how attempts end, and from where."""

    destination: str
    port: int
    advertised: bool
    ends: tuple[tuple[PathEnd, str, tuple[str, ...]], ...]

    @property
    def address(self) -> str:
        return endpoint_text(self.destination, self.port)


def reach_branches(lookup: Lookup, screen: Screen) -> list[Branch]:
    """A branch for each listener, or for each group that behaves alike; nothing where nobody has tried."""
    by_listener: defaultdict[str, list[Reach]] = defaultdict(list)
    for reach in lookup.topology.reach:
        by_listener[reach.listener].append(reach)
    brokers = _broker_places(lookup)
    groups: dict[object, list[tuple[KafkaListener, list[_Address]]]] = {}
    for listener in lookup.topology.listeners:
        found = by_listener.get(listener.key)
        if found:
            own = brokers.get(listener.container, listener.broker)
            ways = _addresses(found, own, frozenset(brokers.values()))
            groups.setdefault(_behaviour(listener, ways, own), []).append((listener, ways))
    return [_listener_branch(group, screen) for group in groups.values()]


def _broker_places(lookup: Lookup) -> dict[str, str]:
    """The names of the places where brokers are, by container."""
    with_listener = {listener.container for listener in lookup.topology.listeners}
    return {
        container: place.name
        for place in lookup.topology.places
        for container in place.containers
        if container in with_listener
    }


def _addresses(found: Iterable[Reach], own: str, brokers: frozenset[str]) -> list[_Address]:
    by_address: defaultdict[tuple[str, int, bool], list[Reach]] = defaultdict(list)
    for reach in found:
        by_address[reach.destination, reach.port, reach.advertised].append(reach)
    ways = [
        _Address(destination=destination, port=port, advertised=advertised, ends=_ends(each, own, brokers))
        for (destination, port, advertised), each in by_address.items()
    ]
    return sorted(ways, key=lambda way: not way.advertised)


def _ends(
    found: Iterable[Reach], own: str, brokers: frozenset[str]
) -> tuple[tuple[PathEnd, str, tuple[str, ...]], ...]:
    ends: defaultdict[tuple[PathEnd, str], list[str]] = defaultdict(list)
    for reach in found:
        because = "" if reach.path.end is PathEnd.CONNECTED else reach.path.because
        ends[reach.path.end, because].append(reach.source)
    told = [(end, because, _sources(sources, own, brokers)) for (end, because), sources in ends.items()]
    return tuple(sorted(told, key=lambda each: each[0] is not PathEnd.CONNECTED))


def _sources(names: Sequence[str], own: str, brokers: frozenset[str]) -> tuple[str, ...]:
    """The brokers of a cluster by their part, where one part tells them all."""
    others = brokers - {own}
    together = bool(others) and others <= set(names)
    told = [ITSELF] if own in names and own in brokers else []
    told += ["the other broker" if len(others) == 1 else "the other brokers"] if together else []
    told += [name for name in names if not (name == own and own in brokers) and not (together and name in others)]
    return tuple(dict.fromkeys(told))


def _behaviour(listener: KafkaListener, ways: Sequence[_Address], own: str) -> object:
    def plain(text: str) -> str:
        return _NUMBERS.sub("#", text.replace(own, "@") if own else text)

    return (
        listener.listener,
        tuple(
            (plain(way.address), way.advertised, tuple((end, plain(why), names) for end, why, names in way.ends))
            for way in ways
        ),
    )


def _listener_branch(group: Sequence[tuple[KafkaListener, list[_Address]]], screen: Screen) -> Branch:
    listener = group[0][0]
    brokers = first_and_last([each.broker for each, _ in group])
    head: Line = (screen.run(listener.listener, Style.BOLD), screen.run(f" of {brokers}"))
    children = [
        _address_branch([ways[index] for _, ways in group], screen)
        for index in range(min(len(ways) for _, ways in group))
    ]
    return Branch(parts=(head,), name=listener.key, children=tuple(children))


def _address_branch(alike: Sequence[_Address], screen: Screen) -> Branch:
    way = alike[0]
    address = screen.run(first_and_last([each.address for each in alike]), Style.PLACE)
    head: Line = (address,) if way.advertised else (address, Run(" (not advertised)", Style.DIM))
    return Branch(parts=(head, *(_end_line(end, because, names, screen) for end, because, names in way.ends)))


def _end_line(end: PathEnd, because: str, names: Sequence[str], screen: Screen) -> Line:
    word = "reached" if end is PathEnd.CONNECTED else end.value
    why = f": {because}" if because else ""
    return (Run(word, END_STYLES.get(end, Style.BAD)), screen.run(f" from {first_names(names, _SOURCES_SHOWN)}{why}"))


FORMAT = "netdiag-topology-diff"
VERSION = 1

_SIGNS = {
    ChangeKind.APPEARED: ("+ ", Style.GOOD),
    ChangeKind.GONE: ("- ", Style.BAD),
    ChangeKind.CHANGED: ("~ ", Style.HALF),
}
# Of more changes of one kind than this the rest is counted; `full` shows all.
_SHOWN = 20
_LONGEST = 160
# A name of a place has no more words than this.
_MOST_WORDS = 12


def changes_text(changes: Sequence[Difference], screen: Screen, *, full: bool = False) -> str:
    """A line for each change, kind by kind, and a count; what is in a namespace that came or went goes with it."""
    lines: list[Line] = []
    inside = {} if full else _inside(changes)
    by_kind: dict[str, list[Difference]] = {}
    for change in changes:
        if change.kind in NAMESPACED_KINDS and _place_of(change, inside) is not None:
            continue
        by_kind.setdefault(change.kind, []).append(change)
    for kind, own in by_kind.items():
        shown = own if full else own[:_SHOWN]
        lines += draw_branches([_branch(change, screen, inside) for change in shown], screen, full=True)
        if len(own) > len(shown):
            lines.append((Run(f"  and {len(own) - len(shown)} more of kind {screen.visible(kind)}", Style.DIM),))
    lines.append((Run(change_summary(changes), Style.PLAIN),))
    return paint(lines, screen)


def change_summary(changes: Sequence[Difference]) -> str:
    """How much changed, in one line."""
    if not changes:
        return "nothing changed"
    counts = Counter(change.turn for change in changes)
    told = ", ".join(f"{counts[turn]} {turn.value}" for turn in ChangeKind if counts[turn])
    return f"{plural(len(changes), 'change')}: {told}"


def changes_value(changes: Sequence[Difference]) -> dict[str, Any]:
    """The changes as values that JSON has."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "changes": [
            {
                "turn": change.turn.value,
                "kind": change.kind,
                "name": change.name,
                "facts": [{"name": f.name, "before": f.before or None, "after": f.after or None} for f in change.facts],
            }
            for change in changes
        ],
    }


def changes_json(changes: Sequence[Difference]) -> str:
    """The JSON text, ASCII only, ending with a line feed."""
    return json.dumps(sound(changes_value(changes)), indent=1) + "\n"


def _inside(changes: Sequence[Difference]) -> dict[tuple[ChangeKind, str], int]:
    """By namespace that appeared or went: how many changes are of what is in it."""
    found: dict[tuple[ChangeKind, str], int] = {
        (change.turn, change.name): 0
        for change in changes
        if change.kind == "namespace" and change.turn is not ChangeKind.CHANGED
    }
    for change in changes:
        place = _place_of(change, found) if change.kind in NAMESPACED_KINDS else None
        if place is not None:
            found[place] += 1
    return found


def _place_of(change: Difference, places: Mapping[tuple[ChangeKind, str], int]) -> tuple[ChangeKind, str] | None:
    """The namespace among these that a change is in; its name may have spaces in it."""
    words = change.name.split(" ")
    names = ((change.turn, " ".join(words[:count])) for count in range(1, min(len(words), _MOST_WORDS)))
    return next((name for name in names if name in places), None)


def _branch(change: Difference, screen: Screen, inside: Mapping[tuple[ChangeKind, str], int]) -> Branch:
    count = inside.get((change.turn, change.name), 0) if change.kind == "namespace" else 0
    if count:
        change = replace(change, facts=())
    with_it: tuple[Line, ...] = ((Run(f"with {plural(count, 'thing')} in it", Style.DIM),),) if count else ()
    sign, style = _SIGNS[change.turn]
    head: Line = (Run(sign, style), screen.run(f"{change.kind} ", Style.DIM), screen.run(_short(change.name)))
    return Branch(parts=(head, *with_it, *(_fact(fact, change.turn, screen) for fact in change.facts)))


def _fact(fact: FactChange, turn: ChangeKind, screen: Screen) -> Line:
    name = screen.run(f"{fact.name} ", Style.DIM)
    if turn is ChangeKind.APPEARED:
        return (name, screen.run(_short(fact.after)))
    arrow = branch_glyphs(screen).arrow
    return (
        name,
        screen.run(_short(fact.before) or "nothing", Style.BAD),
        Run(f" {arrow} "),
        screen.run(_short(fact.after) or "nothing", Style.GOOD),
    )


def _short(text: str) -> str:
    safe = redacted(text)
    return safe if len(safe) <= _LONGEST else safe[: _LONGEST - 1] + "…"
