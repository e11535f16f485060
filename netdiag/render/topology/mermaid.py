"""A topology as a Mermaid flowchart, for a README or a comment: networks, who hangs from them, published ports.

GitHub draws at most 500 edges and 50,000 characters (maxEdges, maxTextSize), and people read fewer nodes than that:
beyond 60 nodes what is drawn are networks with the number of their members, and ports by network.
Sources: mermaid.js.org, "Flowcharts - Basic Syntax" (quoted labels, entity codes) and "config schema".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from netdiag.render.findings.finding_text import plain
from netdiag.render.topology.lookup import Lookup, coverage_line, device_id, stable_id
from netdiag.render.wording import endpoint_text, first_and_last, plural
from netdiag.topology.graph import Place, Published, PublishedBy, Topology
from netdiag.topology.inventory import LinkId

MOST_NODES = 60
MOST_EDGES = 500
_LONGEST = 80
_LINES = 8
# What a label may hold as it is; all else becomes an entity code, so nothing ends a label or starts a directive.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:/_-")


@dataclass(slots=True)
class _Chart:
    """Nodes by the box they stand in ("" for none), and edges."""

    boxes: dict[str, list[str]] = field(default_factory=dict)
    edges: list[str] = field(default_factory=list)

    @property
    def nodes(self) -> int:
        return sum(map(len, self.boxes.values()))

    def text(self, coverage: str) -> str:
        lines = ["flowchart LR"]
        for box, nodes in self.boxes.items():
            if box:
                lines.append(f'  subgraph {stable_id("box", box)}["{_escaped(box)}"]')
            lines += [f"  {'  ' if box else ''}{node}" for node in nodes]
            if box:
                lines.append("  end")
        lines += [f"  {edge}" for edge in self.edges]
        return "\n".join([*lines, f"  %% {_comment(coverage)}"]) + "\n"


def mermaid_text(topology: Topology) -> str:
    """The flowchart; equal topologies give equal text."""
    lookup = Lookup(topology)
    coverage = coverage_line(topology.inventory)
    chart = _whole(lookup)
    if chart.nodes > MOST_NODES or len(chart.edges) > MOST_EDGES:
        chart = _networks(lookup)
    return chart.text(coverage)


def _whole(lookup: Lookup) -> _Chart:
    chart = _Chart()
    topology = lookup.topology
    for where in _bridges(lookup):
        chart.boxes.setdefault(lookup.name(where.netns), []).append(_bridge_node(lookup, where))
    with_bridges = {name for name in chart.boxes if name}
    for place in lookup.in_order():
        if place.name not in with_bridges:
            chart.boxes.setdefault("", []).append(_place_node(lookup, place))
    for published in topology.published if topology.named(topology.host) else ():
        where_text = endpoint_text(published.host_ip or "*", published.published)
        chart.boxes.setdefault(topology.host, []).append(f'{_exit_id(published)}(["{_label([where_text])}"])')
        chart.edges += _forwarding_edges(lookup, published)
    for where in _bridges(lookup):
        chart.edges += _members(lookup, where)
    chart.edges += _direct(lookup, {name for name in chart.boxes if name})
    # A namespace with bridges of its own may hang from a bridge of another.
    ends = {edge.rpartition(" ")[2] for edge in chart.edges}
    for place in lookup.in_order():
        if place.name in with_bridges and _place_id(place) in ends:
            chart.boxes[place.name].append(_place_node(lookup, place))
    return chart


def _place_node(lookup: Lookup, place: Place) -> str:
    return f'{_place_id(place)}["{_place(lookup, place)}"]'


def _networks(lookup: Lookup) -> _Chart:
    """Networks with the number of their members, and their ports, at most as many nodes as people read."""
    chart = _Chart()
    bridges = _bridges(lookup)
    shown = bridges[: MOST_NODES // 2 - 2]
    on_bridges: set[int] = set()
    for where in bridges:
        on_bridges |= {where.netns, *(peer.netns for port in lookup.ports(where) if (peer := lookup.peer(port)))}
    for where in shown:
        members = len(lookup.ports(where))
        box = chart.boxes.setdefault(lookup.name(where.netns), [])
        box.append(_bridge_node(lookup, where, plural(members, "port")))
        exits = _exits_of(lookup, where)
        if exits:
            ports = first_and_last([str(published.published) for published in exits])
            exit_id = stable_id("exits", device_id(lookup, where))
            box.append(f'{exit_id}(["{_label([plural(len(exits), "published port"), ports])}"])')
            chart.edges.append(f"{exit_id} --> {device_id(lookup, where)}")
    rest = len(bridges) - len(shown)
    if rest:
        chart.boxes.setdefault("", []).append(f'{stable_id("more")}["and {plural(rest, "more bridge")}"]')
    alone = sum(place.netns not in on_bridges for place in lookup.topology.places)
    if alone:
        chart.boxes.setdefault("", []).append(f'{stable_id("alone")}["{plural(alone, "namespace")} without a bridge"]')
    return chart


def _bridges(lookup: Lookup) -> list[LinkId]:
    return [
        where
        for place in lookup.in_order()
        for where, link in lookup.links(place.netns)
        if link.kind == "bridge" or lookup.network(where) is not None
    ]


def _bridge_node(lookup: Lookup, where: LinkId, more: str = "") -> str:
    view = lookup.network(where)
    name = lookup.ifname(where)
    lines = [view.network.name, *view.network.subnets, name] if view else [name, *lookup.addresses(where)]
    return f'{device_id(lookup, where)}[["{_label([*lines, *([more] if more else [])])}"]]'


def _place(lookup: Lookup, place: Place) -> str:
    lines = [place.name]
    for where, link in lookup.links(place.netns):
        if not link.loopback:
            lines += [f"{link.ifname} {address}" for address in lookup.addresses(where)]
    for listener in lookup.kafka(place.containers):
        told = f" advertises {endpoint_text(*listener.advertised)}" if listener.advertised else ""
        lines.append(
            f"{listener.listener} {listener.bind[1]}{told}" + (" nothing listens" if listener.bound == () else "")
        )
    return _label(lines)


def _forwarding_edges(lookup: Lookup, published: Published) -> Iterator[str]:
    for place in lookup.topology.places:
        if published.container in place.containers:
            target = _place_id(place)
            for by in published.by or (None,):
                arrow = "-.->" if by is PublishedBy.PROXY else "-->" if by else "--x"
                yield f'{_exit_id(published)} {arrow}|"{by.value if by else "nothing"}"| {target}'


def _members(lookup: Lookup, bridge: LinkId) -> Iterator[str]:
    for port in lookup.ports(bridge):
        peer = lookup.peer(port)
        place = lookup.places.get(peer.netns) if peer else None
        if place is not None and place.netns != bridge.netns:
            yield f"{device_id(lookup, bridge)} --- {_place_id(place)}"


def _direct(lookup: Lookup, boxes: set[str]) -> Iterator[str]:
    """Cables between two namespaces that no bridge is part of."""
    for cable in lookup.topology.cables:
        ends = (lookup.places.get(cable.a.netns), lookup.places.get(cable.b.netns))
        if cable.a.netns == cable.b.netns or lookup.master(cable.a) or lookup.master(cable.b):
            continue
        if ends[0] is None or ends[1] is None or {ends[0].name, ends[1].name} & boxes:
            continue
        words = _label([f"{lookup.ifname(cable.a)} {lookup.ifname(cable.b)}"])
        yield f'{_place_id(ends[0])} ---|"{words}"| {_place_id(ends[1])}'


def _exits_of(lookup: Lookup, bridge: LinkId) -> list[Published]:
    view = lookup.network(bridge)
    members = {member.container for member in view.members} if view else set()
    return [published for published in lookup.topology.published if published.container in members]


def _place_id(place: Place) -> str:
    return stable_id("place", place.name)


def _exit_id(published: Published) -> str:
    return stable_id("published", published.key)


def _label(lines: Sequence[str] | Iterable[str]) -> str:
    told = [_escaped(line) for line in lines]
    more = len(told) - _LINES
    return "<br/>".join([*told[:_LINES], f"and {more} more"] if more > 0 else told)


def _escaped(text: str) -> str:
    safe = plain(text)
    short = safe if len(safe) <= _LONGEST else safe[: _LONGEST - 1] + "…"
    return "".join(character if character in _PLAIN else f"#{ord(character)};" for character in short)


def _comment(text: str) -> str:
    """A comment ends with its line and must not hold the braces of a directive."""
    return plain(text).replace("{", "(").replace("}", ")")
