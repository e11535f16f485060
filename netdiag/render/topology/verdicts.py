"""Who reaches which broker: the ways of a topology summed up to one verdict for a broker and a place."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from netdiag.render.topology.lettering import natural
from netdiag.topology.graph import KafkaListener, PlaceKind, Reach, Topology
from netdiag.topology.hops import End


class Mark(StrEnum):
    """What a place, a listener or a way is to somebody who wants to get through."""

    OK = "ok"
    HALF = "half"
    BAD = "bad"
    UNKNOWN = "unknown"
    NONE = "none"


WORDS = {
    Mark.OK: "reached",
    Mark.HALF: "answers, then fails",
    Mark.BAD: "stops",
    Mark.UNKNOWN: "unknown",
    Mark.NONE: "not tried",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a client at one place gets of one broker: by which address in `text`, or how it ends; why in `because`.

    `listener` is the key of the one that decided.
    """

    mark: Mark
    text: str
    because: str = ""
    listener: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Places from which every broker looks the same, and what each row has there."""

    sources: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The table: a row for each broker, a column for each kind of place. `summary` tells it in one sentence."""

    brokers: tuple[str, ...]
    columns: tuple[Column, ...]
    summary: str


def verdicts(topology: Topology) -> Verdicts:
    """The table of a topology; without columns where nobody has traced a way."""
    brokers = sorted({listener.broker for listener in topology.listeners if not listener.controller}, key=natural)
    by_key = {listener.key: listener for listener in topology.listeners}
    ways: dict[tuple[str, str], list[Reach]] = {}
    for reach in topology.reach:
        listener = by_key.get(reach.listener)
        if listener is not None and not listener.controller:
            ways.setdefault((listener.broker, reach.source), []).append(reach)
    sources = dict.fromkeys(source for _, source in ways)
    alike: dict[tuple[Cell, ...], list[str]] = {}
    for source in sorted(sources, key=lambda name: _order(topology, name)):
        row = tuple(cell(ways.get((broker, source), ()), by_key, topology) for broker in brokers)
        alike.setdefault(row, []).append(source)
    columns = tuple(Column(sources=tuple(names), cells=cells) for cells, names in alike.items())
    return Verdicts(brokers=tuple(brokers), columns=columns, summary=_summary(brokers, columns))


def cell(ways: Sequence[Reach], listeners: Mapping[str, KafkaListener], topology: Topology) -> Cell:
    """The verdict of one broker at one place: an advertised address that works decides, for clients end up there."""
    if not ways:
        return Cell(mark=Mark.NONE, text="not tried")
    marked = [(reach, mark_of(reach, listeners.get(reach.listener), topology)) for reach in ways]
    for reach, mark in marked:
        if reach.advertised and mark is Mark.OK:
            return Cell(mark=Mark.OK, text=address(reach), because=reach.path.because, listener=reach.listener)
    told = {reach.listener: reach for reach, _ in marked if reach.advertised}
    for reach, mark in marked:
        advertised = told.get(reach.listener)
        if mark is not Mark.OK or advertised is None:
            continue
        unsure = advertised.path.end is End.UNKNOWN
        text = f"{address(reach)}, then {address(advertised)}: {ending(advertised, listeners, topology)}"
        mark = Mark.UNKNOWN if unsure else Mark.HALF
        return Cell(mark=mark, text=text, because=advertised.path.because, listener=reach.listener)
    if unknown := next((reach for reach, mark in marked if mark is Mark.UNKNOWN), None):
        text = f"{address(unknown)}: unknown"
        return Cell(mark=Mark.UNKNOWN, text=text, because=unknown.path.because, listener=unknown.listener)
    reach = max((reach for reach, _ in marked), key=lambda r: (r.advertised, _NEARNESS.get(r.path.end, 0)))
    text = f"{address(reach)}: {ending(reach, listeners, topology)}"
    return Cell(mark=Mark.BAD, text=text, because=reach.path.because, listener=reach.listener)


# How far a way got before it ended: of several that fail, the one that came nearest says most.
_NEARNESS = {
    End.UNRESOLVED: 1,
    End.NO_ROUTE: 2,
    End.NO_NEIGHBOUR: 3,
    End.DROPPED: 4,
    End.REFUSED: 5,
    End.CLOSED: 6,
    End.CONNECTED: 7,
}


def mark_of(reach: Reach, listener: KafkaListener | None, topology: Topology) -> Mark:
    """What one way is worth."""
    if reach.path.end is End.UNKNOWN:
        return Mark.UNKNOWN
    if reach.path.end is not End.CONNECTED or elsewhere(reach, listener, topology):
        return Mark.BAD
    return Mark.OK


def elsewhere(reach: Reach, listener: KafkaListener | None, topology: Topology) -> str:
    """The container that a way ends in although it is not the listener's; "" where it ends right or on the host."""
    target = None if reach.path.target is None else topology.place(reach.path.target)
    if target is None or target.kind is not PlaceKind.CONTAINER or listener is None:
        return ""
    return "" if listener.container in target.containers else target.name


def address(reach: Reach) -> str:
    """The address that is dialled."""
    host = f"[{reach.destination}]" if ":" in reach.destination else reach.destination
    return f"{host}:{reach.port}"


def ending(reach: Reach, listeners: Mapping[str, KafkaListener], topology: Topology) -> str:
    """How a way ends, in a word or two."""
    if reach.path.end is End.CONNECTED:
        wrong = elsewhere(reach, listeners.get(reach.listener), topology)
        return f"another place answers, {wrong}" if wrong else "connected"
    return reach.path.end.value


def listener_mark(ways: Iterable[Reach], listener: KafkaListener, topology: Topology) -> tuple[Mark, int, int]:
    """A listener over all places: its mark, from how many its advertised address works, and of how many."""
    marks = {r.source: mark_of(r, listener, topology) for r in ways if r.advertised}
    good = sum(mark is Mark.OK for mark in marks.values())
    if not marks:
        return Mark.NONE, 0, 0
    if good:
        return Mark.OK if good == len(marks) else Mark.HALF, good, len(marks)
    return Mark.UNKNOWN if Mark.UNKNOWN in marks.values() else Mark.BAD, 0, len(marks)


def _order(topology: Topology, name: str) -> tuple[object, ...]:
    """The docker host first, then clients, then the brokers themselves."""
    place = topology.named(name)
    brokers = {listener.container for listener in topology.listeners}
    own = place is not None and bool(brokers & set(place.containers))
    return (place is not None and place.kind is not PlaceKind.HOST, own, natural(name))


def _summary(brokers: Sequence[str], columns: Sequence[Column]) -> str:
    if not brokers:
        return "No Kafka listener is known here."
    of_brokers = "the broker" if len(brokers) == 1 else f"all {len(brokers)} brokers"
    if not columns:
        return f"Nobody has traced the ways to {of_brokers} yet."
    total = sum(len(column.sources) for column in columns)
    reached = sum(len(c.sources) for c in columns if all(cell.mark is Mark.OK for cell in c.cells))
    stopped = sum(len(c.sources) for c in columns if any(cell.mark in (Mark.BAD, Mark.HALF) for cell in c.cells))
    unsure = sum(len(c.sources) for c in columns if any(cell.mark is Mark.UNKNOWN for cell in c.cells))
    parts = [f"{reached} of {_places(total)} can reach {of_brokers}"]
    parts += [f"from {stopped} some way stops"] if stopped else []
    parts += [f"from {unsure} it cannot be told"] if unsure else []
    return "; ".join(parts) + "."


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"
