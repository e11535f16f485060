"""Who reaches which broker: the ways of a topology summed up to one verdict for a broker and a place."""

import dataclasses
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property

from netdiag.render.html import natural_key
from netdiag.render.wording import endpoint_text
from netdiag.topology.graph import KafkaListener, PathEnd, Place, PlaceKind, Reach, Topology
from netdiag.topology.path.reach import ELSEWHERE
from netdiag.values import dataclass


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
class AccessCell:
    """What a client at one place gets of one broker: by which address in `text`, or how it ends; why in `because`.

    `listener` is the key of the one that decided.
    """

    mark: Mark
    text: str
    because: str = ""
    listener: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessColumn:
    """Places from which every broker looks the same, and what each row has there."""

    sources: tuple[str, ...]
    cells: tuple[AccessCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTable:
    """The table: a row for each broker, a column for each kind of place. `summary` tells it in one sentence."""

    brokers: tuple[str, ...]
    columns: tuple[AccessColumn, ...]
    summary: str


# Without slots, so that what is looked up often is indexed once.
@dataclasses.dataclass(frozen=True, kw_only=True)
class BrokerAccess:
    """Judges the ways of one topology, each by where it ends and whether it should end there."""

    topology: Topology

    @cached_property
    def listeners(self) -> Mapping[str, KafkaListener]:
        """The listeners by key."""
        return {listener.key: listener for listener in self.topology.listeners}

    @cached_property
    def to(self) -> Mapping[str, tuple[Reach, ...]]:
        """The ways by the listener that they lead to."""
        return _grouped_by(self.topology.reach, [reach.listener for reach in self.topology.reach])

    @cached_property
    def origins(self) -> Mapping[str, tuple[Reach, ...]]:
        """The ways by the place that they start from."""
        return _grouped_by(self.topology.reach, [reach.source for reach in self.topology.reach])

    @cached_property
    def _places(self) -> Mapping[int, Place]:
        return {place.netns: place for place in self.topology.places}

    def mark(self, reach: Reach) -> Mark:
        """What one way is worth."""
        if reach.path.end is PathEnd.UNKNOWN:
            return Mark.UNKNOWN
        return Mark.OK if reach.path.end is PathEnd.CONNECTED and not self.elsewhere(reach) else Mark.BAD

    def elsewhere(self, reach: Reach) -> str:
        """The container that a way ends in although it is not the listener's; "" where it ends right or on the host."""
        if reach.path.end is not PathEnd.CONNECTED or reach.path.target is None:
            return ""
        target = self._places.get(reach.path.target)
        listener = self.listeners.get(reach.listener)
        if target is None or target.kind is not PlaceKind.CONTAINER or listener is None:
            return ""
        return "" if listener.container in target.containers else target.name

    def own(self, reach: Reach) -> bool:
        """Whether a way starts where the broker itself is."""
        place, listener = self._places.get(reach.path.source), self.listeners.get(reach.listener)
        return place is not None and listener is not None and listener.container in place.containers

    def ending(self, reach: Reach) -> str:
        """How a way ends, in a word or two."""
        if reach.path.end is not PathEnd.CONNECTED:
            return reach.path.end.value
        wrong = self.elsewhere(reach)
        return f"another place answers, {wrong}" if wrong else "connected"

    def cell(self, ways: Sequence[Reach]) -> AccessCell:
        """The verdict of one broker at one place: advertised addresses decide, for that is where clients end up."""
        if not ways:
            return AccessCell(mark=Mark.NONE, text="not tried")
        marked = [(reach, self.mark(reach)) for reach in ways]
        for reach, mark in marked:
            if reach.advertised and mark is Mark.OK:
                return _cell(Mark.OK, reach, address(reach))
        told = {reach.listener: reach for reach in ways if reach.advertised}
        for reach, mark in marked:
            second = told.get(reach.listener)
            if mark is Mark.OK and second is not None:
                unsure = second.path.end is PathEnd.UNKNOWN
                text = f"{address(reach)}, then {address(second)}: {self.ending(second)}"
                return _cell(Mark.UNKNOWN if unsure else Mark.HALF, second, text)
        for reach, mark in marked:
            if mark is Mark.UNKNOWN:
                return _cell(Mark.UNKNOWN, reach, f"{address(reach)}: unknown")
        reach = max(ways, key=lambda r: (r.advertised, _NEARNESS.get(r.path.end, 0)))
        return _cell(Mark.BAD, reach, f"{address(reach)}: {self.ending(reach)}")

    def listener(self, key: str) -> tuple[Mark, int, int]:
        """A listener over all places: its mark, from how many its advertised address works, and of how many.

        A place that cannot get at it at all does not count against it: a listener need not serve everybody. One that
        answers there by another address and then names one that fails leads clients astray.
        """
        ways = self.to.get(key, ())
        # what the broker gets of itself tells nothing of others, unless there are none
        ways = tuple(reach for reach in ways if not self.own(reach)) or ways
        marks = {reach.source: self.mark(reach) for reach in ways if reach.advertised}
        good = sum(mark is Mark.OK for mark in marks.values())
        if not marks:
            return Mark.NONE, 0, 0
        answers = {reach.source for reach in ways if not reach.advertised and self.mark(reach) is Mark.OK}
        if good:
            astray = any(marks.get(source) is Mark.BAD for source in answers)
            return Mark.HALF if astray else Mark.OK, good, len(marks)
        return Mark.UNKNOWN if Mark.UNKNOWN in marks.values() else Mark.BAD, 0, len(marks)


# How far a way got before it ended: of several that fail, the one that came nearest says most.
_NEARNESS = {
    PathEnd.UNRESOLVED: 1,
    PathEnd.NO_ROUTE: 2,
    PathEnd.NO_NEIGHBOUR: 3,
    PathEnd.DROPPED: 4,
    PathEnd.REFUSED: 5,
    PathEnd.CLOSED: 6,
    PathEnd.CONNECTED: 7,
}


def access_table(access: BrokerAccess) -> AccessTable:
    """The table of a topology; without columns where nobody has traced a way."""
    brokers = sorted({one.broker for one in access.listeners.values() if not one.controller}, key=natural_key)
    ways: dict[tuple[str, str], list[Reach]] = {}
    for reach in access.topology.reach:
        listener = access.listeners.get(reach.listener)
        if listener is not None and not listener.controller:
            ways.setdefault((listener.broker, reach.source), []).append(reach)
    # places that are asked about nobody but themselves are left out
    sources = {source for (_, source), those in ways.items() if not all(access.own(reach) for reach in those)}
    sources = sources or {source for _, source in ways}
    order = _order(access.topology)
    alike: dict[tuple[AccessCell, ...], list[str]] = {}
    for source in sorted(sources, key=lambda name: (order.get(name, 1), natural_key(name))):
        row = tuple(access.cell(ways.get((broker, source), ())) for broker in brokers)
        alike.setdefault(row, []).append(source)
    columns = tuple(AccessColumn(sources=tuple(names), cells=cells) for cells, names in alike.items())
    return AccessTable(brokers=tuple(brokers), columns=columns, summary=_summary(brokers, columns))


def address(reach: Reach) -> str:
    """The address that is dialled."""
    return endpoint_text(reach.destination, reach.port)


def place_title(source: str) -> str:
    """What the place that a way starts from is called."""
    return "another machine" if source == ELSEWHERE else source


def _cell(mark: Mark, reach: Reach, text: str) -> AccessCell:
    return AccessCell(mark=mark, text=text, because=reach.path.because, listener=reach.listener)


def _grouped_by(ways: Sequence[Reach], keys: Sequence[str]) -> dict[str, tuple[Reach, ...]]:
    found: dict[str, list[Reach]] = {}
    for reach, key in zip(ways, keys, strict=True):
        found.setdefault(key, []).append(reach)
    return {key: tuple(those) for key, those in found.items()}


def _order(topology: Topology) -> dict[str, int]:
    """The docker host first, then clients, then the brokers themselves."""
    brokers = {listener.container for listener in topology.listeners}
    own = {place.name for place in topology.places if brokers & set(place.containers)}
    return {p.name: 0 if p.kind is PlaceKind.HOST else 2 if p.name in own else 1 for p in topology.places}


def _summary(brokers: Sequence[str], columns: Sequence[AccessColumn]) -> str:
    if not brokers:
        return "No Kafka listener is known here."
    of_brokers = {1: "the broker", 2: "both brokers"}.get(len(brokers), f"all {len(brokers)} brokers")
    if not columns:
        return f"The paths to {of_brokers} are not traced yet."
    total = sum(len(column.sources) for column in columns)
    reached = sum(len(c.sources) for c in columns if all(cell.mark is Mark.OK for cell in c.cells))
    stopped = sum(len(c.sources) for c in columns if any(cell.mark in (Mark.BAD, Mark.HALF) for cell in c.cells))
    unsure = sum(len(c.sources) for c in columns if any(cell.mark is Mark.UNKNOWN for cell in c.cells))
    parts = [f"{reached} of {_places(total)} can reach {of_brokers}"]
    parts += [f"some paths from {stopped} fail"] if stopped else []
    parts += [f"unknown from {unsure}"] if unsure else []
    return "; ".join(parts) + "."


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"
