"""Who reaches which broker, by which address, and where it stops: the question that every picture answers first.

Listeners of one name that behave alike, broker for broker, are told together.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netdiag.render.screen import Line, Run, Screen, Style
from netdiag.render.topology.branches import Branch
from netdiag.render.topology.lookup import Lookup
from netdiag.topology.graph import KafkaListener, Reach
from netdiag.topology.hops import End

ITSELF = "itself"
END_STYLES = {End.CONNECTED: Style.GOOD, End.UNKNOWN: Style.HALF}
# More sources than this are counted.
_NAMED = 6
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """One address of one listener: how attempts end, and from where."""

    destination: str
    port: int
    advertised: bool
    ends: tuple[tuple[End, str, tuple[str, ...]], ...]

    @property
    def address(self) -> str:
        return endpoint_text(self.destination, self.port)


def reach_branches(lookup: Lookup, screen: Screen) -> list[Branch]:
    """A branch for each listener, or for each group that behaves alike; nothing where nobody has tried."""
    by_listener: defaultdict[str, list[Reach]] = defaultdict(list)
    for reach in lookup.topology.reach:
        by_listener[reach.listener].append(reach)
    brokers = _broker_places(lookup)
    groups: dict[object, list[tuple[KafkaListener, list[_Way]]]] = {}
    for listener in lookup.topology.listeners:
        found = by_listener.get(listener.key)
        if found:
            own = brokers.get(listener.container, listener.broker)
            ways = _ways(found, own, frozenset(brokers.values()))
            groups.setdefault(_look(listener, ways, own), []).append((listener, ways))
    return [_branch(group, screen) for group in groups.values()]


def endpoint_text(host: str, port: int) -> str:
    """host:port, with brackets around what has colons of its own."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def span(names: Sequence[str]) -> str:
    """Names that differ in a number, the first and the last of them; few are listed."""
    unique = list(dict.fromkeys(names))
    return ", ".join(unique) if len(unique) < 3 else f"{unique[0]} to {unique[-1]}"


def _broker_places(lookup: Lookup) -> dict[str, str]:
    """The names of the places where brokers are, by container."""
    with_listener = {listener.container for listener in lookup.topology.listeners}
    return {
        container: place.name
        for place in lookup.topology.places
        for container in place.containers
        if container in with_listener
    }


def _ways(found: Iterable[Reach], own: str, brokers: frozenset[str]) -> list[_Way]:
    by_address: defaultdict[tuple[str, int, bool], list[Reach]] = defaultdict(list)
    for reach in found:
        by_address[reach.destination, reach.port, reach.advertised].append(reach)
    ways = [
        _Way(destination=destination, port=port, advertised=advertised, ends=_ends(each, own, brokers))
        for (destination, port, advertised), each in by_address.items()
    ]
    return sorted(ways, key=lambda way: not way.advertised)


def _ends(found: Iterable[Reach], own: str, brokers: frozenset[str]) -> tuple[tuple[End, str, tuple[str, ...]], ...]:
    ends: defaultdict[tuple[End, str], list[str]] = defaultdict(list)
    for reach in found:
        because = "" if reach.path.end is End.CONNECTED else reach.path.because
        ends[reach.path.end, because].append(reach.source)
    told = [(end, because, _sources(sources, own, brokers)) for (end, because), sources in ends.items()]
    return tuple(sorted(told, key=lambda each: each[0] is not End.CONNECTED))


def _sources(names: Sequence[str], own: str, brokers: frozenset[str]) -> tuple[str, ...]:
    """The brokers of a cluster by their part, where one part tells them all."""
    others = brokers - {own}
    together = bool(others) and others <= set(names)
    told = [ITSELF] if own in names and own in brokers else []
    told += ["the other broker" if len(others) == 1 else "the other brokers"] if together else []
    told += [name for name in names if not (name == own and own in brokers) and not (together and name in others)]
    return tuple(dict.fromkeys(told))


def _look(listener: KafkaListener, ways: Sequence[_Way], own: str) -> object:
    def plain(text: str) -> str:
        return _NUMBERS.sub("#", text.replace(own, "@") if own else text)

    return (
        listener.listener,
        tuple(
            (plain(way.address), way.advertised, tuple((end, plain(why), names) for end, why, names in way.ends))
            for way in ways
        ),
    )


def _branch(group: Sequence[tuple[KafkaListener, list[_Way]]], screen: Screen) -> Branch:
    listener = group[0][0]
    brokers = span([each.broker for each, _ in group])
    head: Line = (screen.run(listener.listener, Style.BOLD), screen.run(f" of {brokers}"))
    children = [
        _way([ways[index] for _, ways in group], screen) for index in range(min(len(ways) for _, ways in group))
    ]
    return Branch(parts=(head,), name=listener.key, children=tuple(children))


def _way(alike: Sequence[_Way], screen: Screen) -> Branch:
    way = alike[0]
    address = screen.run(span([each.address for each in alike]), Style.PLACE)
    head: Line = (address,) if way.advertised else (address, Run(" (not advertised)", Style.DIM))
    return Branch(parts=(head, *(_end(end, because, names, screen) for end, because, names in way.ends)))


def _end(end: End, because: str, names: Sequence[str], screen: Screen) -> Line:
    told = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    word = "reached" if end is End.CONNECTED else end.value
    why = f": {because}" if because else ""
    return (Run(word, END_STYLES.get(end, Style.BAD)), screen.run(f" from {told}{why}"))
