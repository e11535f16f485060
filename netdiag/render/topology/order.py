"""In which order a picture lays out its bars and boxes, so that what hangs together is near and nothing jumps about.

Small pictures go by name alone: whoever adds a container moves its right-hand neighbours by one place and nothing else.
In large ones names no longer tell what belongs together. There networks that share members are brought side by side,
by the reverse Cuthill-McKee order of networkx (E. Cuthill and J. McKee, 1969: small bandwidth of a symmetric matrix),
which depends on the networks and not on how many hang from each. Without networkx names decide there, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netdiag.render.topology.lettering import natural
from netdiag.render.topology.scene import Box, Scene
from netdiag.render.topology.wiring import Bar, BarKind

# From so many boxes on a picture is a large one.
LARGE = 100
_KINDS = (BarKind.HOST, BarKind.NETWORK, BarKind.BRIDGE, BarKind.PARENT, BarKind.WIRE)


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
        return (_KINDS.index(bar.kind), not any(h.place in brokers for h in bar.hanging), natural(bar.title), bar.key)

    by_name = [bar.key for bar in sorted(scene.bars, key=named)]
    shared: dict[str, list[str]] = {}
    for bar in scene.bars:
        for hanging in bar.hanging:
            shared.setdefault(hanging.place, []).append(bar.key)
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
        return (not box.rows, own[-1:], own, natural(box.name))

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
