"""A topology in the language of Graphviz: a cluster for each namespace, its devices, what answers there, cables.

Source: the DOT language and escString, as graphviz.org documents them. Every label is a quoted string, so nothing in a
name can end it or be taken for HTML.
"""

from collections.abc import Iterable, Iterator, Sequence

from netdiag.linux.rtnetlink import Link
from netdiag.render.findings.finding_text import plain
from netdiag.render.topology.lookup import (
    PAIRS,
    Lookup,
    bridge_parts,
    counterpart_parts,
    coverage_line,
    detail_parts,
    device_id,
    kind_text,
    pids_text,
    stable_id,
    state_parts,
)
from netdiag.render.wording import endpoint_text
from netdiag.topology.graph import Cable, CableKind, KafkaListener, Place, Published, PublishedBy, Topology
from netdiag.topology.inventory import LinkId

_UP, _NO_CARRIER, _DOWN = "#2e7d32", "#ef6c00", "#9e9e9e"
_BAD = "#c62828"
# More sockets of one place than this are counted.
_SOCKETS = 12
# No label of ours is longer; a hostile one may be.
_LONGEST = 200


def dot_text(topology: Topology) -> str:
    """The graph as text; equal topologies give equal text."""
    lookup = Lookup(topology)
    lines = [
        "graph netdiag {",
        f"  graph [label={_quoted(coverage_line(topology.inventory))}, labelloc=b, rankdir=LR, fontname=Helvetica];",
        "  node [shape=box, fontname=Helvetica, fontsize=10];",
        "  edge [fontname=Helvetica, fontsize=9];",
    ]
    for place in lookup.in_order():
        lines += _cluster(lookup, place)
    lines += [line for cable in topology.cables for line in _edge(lookup, cable)]
    lines += [line for published in topology.published for line in _way(lookup, published)]
    return "\n".join([*lines, "}"]) + "\n"


def _cluster(lookup: Lookup, place: Place) -> Iterator[str]:
    yield f"  subgraph {_quoted('cluster_' + stable_id('place', place.name))} {{"
    kind = [] if place.kind.value == place.name else [place.kind.value]
    yield f"    graph [label={_label([place.name, *kind])}, labelloc=t];"
    for where, link in lookup.links(place.netns):
        if not link.loopback:
            yield f"    {device_id(lookup, where)} [label={_device(lookup, where, link)}, color={_colour(link)}];"
    for listener in lookup.kafka(place.containers):
        colour = _BAD if listener.bound == () else _UP if listener.bound else _DOWN
        yield f'    {_kafka_id(listener)} [label={_kafka(listener)}, shape=component, color="{colour}"];'
    if lookup.topology.host == place.name:
        for published in lookup.topology.published:
            where_text = endpoint_text(published.host_ip or "*", published.published)
            yield f"    {_exit_id(published)} [label={_label(['published', where_text])}, shape=cds];"
    sockets = _sockets(lookup, place)
    if sockets:
        yield f"    {stable_id('sockets', place.name)} [label={_label(sockets)}, shape=note, color={_colour(None)}];"
    yield f'    {stable_id("anchor", place.name)} [style=invis, shape=point, width=0, label=""];'
    yield "  }"


def _device(lookup: Lookup, where: LinkId, link: Link) -> str:
    view = lookup.network(where)
    told = [*state_parts(link), *bridge_parts(link), *detail_parts(link), *counterpart_parts(lookup, where, link)]
    lines = [f"{link.ifname} ({kind_text(link)})"]
    lines += [f"network {view.network.name}"] if view else []
    return _label([*lines, *lookup.addresses(where), *(text for text, _ in told)])


def _kafka(listener: KafkaListener) -> str:
    lines = [f"{listener.listener} {listener.security_protocol}", f"binds {endpoint_text(*listener.bind)}"]
    if listener.bound == ():
        lines.append("nothing listens there")
    if listener.advertised is not None:
        lines.append(f"advertises {endpoint_text(*listener.advertised)}")
    return _label(lines)


def _sockets(lookup: Lookup, place: Place) -> list[str]:
    facts = lookup.facts(place.netns)
    lines = [
        f"{listener.protocol.value} {endpoint_text(listener.address, listener.port)} {pids_text(lookup, listener.pids)}"
        for listener in (facts.listeners if facts else ())
    ]
    unique = list(dict.fromkeys(lines))
    more = len(unique) - _SOCKETS
    return [*unique[:_SOCKETS], f"and {more} more"] if more > 0 else unique


def _edge(lookup: Lookup, cable: Cable) -> Iterator[str]:
    if lookup.link(cable.a) is None or lookup.link(cable.b) is None:
        return
    style = "dashed" if cable.kind is CableKind.PARENT else "bold" if cable.kind in PAIRS else "solid"
    # From left to right: a bridge, its port, what is behind it.
    left, right = (cable.a, cable.b) if cable.kind in PAIRS else (cable.b, cable.a)
    ends = f"{device_id(lookup, left)} -- {device_id(lookup, right)}"
    yield f"  {ends} [style={style}, tooltip={_quoted(cable.kind.value)}];"


def _way(lookup: Lookup, published: Published) -> Iterator[str]:
    """From a published port to the listeners it leads to, or else to the place of its container."""
    ends = [_kafka_id(listener) for listener in lookup.topology.listeners if published.key in listener.published]
    if not ends:
        ends = [
            stable_id("anchor", place.name)
            for place in lookup.topology.places
            if published.container in place.containers
        ]
    if not lookup.topology.named(lookup.topology.host):
        return
    for end in ends:
        for by in published.by or (None,):
            style = "dashed" if by is PublishedBy.PROXY else "solid" if by else "dotted"
            word = by.value if by else "nothing visible leads there"
            arrow = "dir=forward, " if end else ""
            yield f"  {_exit_id(published)} -- {end} [{arrow}style={style}, label={_quoted(word)}];"


def _kafka_id(listener: KafkaListener) -> str:
    return stable_id("kafka", listener.key)


def _exit_id(published: Published) -> str:
    return stable_id("published", published.key)


def _colour(link: Link | None) -> str:
    if link is None:
        return f'"{_DOWN}"'
    return f'"{_DOWN if not link.up else _UP if link.carrier else _NO_CARRIER}"'


def _label(lines: Sequence[str] | Iterable[str]) -> str:
    """Lines of foreign text as one quoted label."""
    return '"' + "\\n".join(_escaped(line) for line in lines) + '"'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    safe = plain(text)
    short = safe if len(safe) <= _LONGEST else safe[: _LONGEST - 1] + "…"
    return short.replace("\\", "\\\\").replace('"', '\\"')
