"""The compiled engine: the rows of the engine in plain Python, in the same order, many times as fast.

Kernels take the packets of calm connections in a row, the twin takes every other packet.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.compiled import facts
from netdiag.traffic.engine.compiled.arenas import Numbers
from netdiag.traffic.engine.compiled.ends import Connections
from netdiag.traffic.engine.compiled.front import Chunk
from netdiag.traffic.engine.compiled.handover import MOST_INTERFACES, Handover, LaneConnection
from netdiag.traffic.engine.compiled.handover_direction import no_lanes
from netdiag.traffic.engine.compiled.lane import run
from netdiag.traffic.engine.compiled.lane_carry import compacted_carry
from netdiag.traffic.engine.compiled.lane_orphans import with_room
from netdiag.traffic.engine.compiled.lane_state import (
    CARRY,
    FREE_PENDING,
    MOST_BORN,
    NEXT_SWEEP,
    PAIRS,
    more_pending,
)
from netdiag.traffic.engine.compiled.lane_unfinished import with_unfinished
from netdiag.traffic.engine.compiled.lane_wishes import new_wishes
from netdiag.traffic.engine.compiled.layout import (
    DONE,
    FROM_TWIN,
    FULL,
    LEFT_OUT,
    NOTHING,
    ODD_PACKET,
    OUTCOMES,
    PAIR,
    UNKNOWN_KEY,
)
from netdiag.traffic.engine.compiled.program import Programs
from netdiag.traffic.engine.compiled.run_room import compacted_reading, new_reading, waiting_entries
from netdiag.traffic.engine.compiled.run_twin import Row, Twin
from netdiag.traffic.engine.compiled.store import Store, grown, is_mostly_kept
from netdiag.traffic.engine.dialogue import KEEP
from netdiag.traffic.engine.frames import FRAMES
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import SYN, Packet, Undecoded
from netdiag.traffic.engine.pairing import NO_RESPONSE, PRODUCE, UNANSWERED

_LEAST_CARRY = 2 * KEEP
# Pairs wait to become rows until there is no room for more, or the twin holds so many messages.
_MOST_HELD = 1 << 13


class Emits(Protocol):
    """What makes rows of pairs, as Columns does: at once, or later."""

    def emit(self, store: Store, pairs: Numbers, connections: Connections, held: list[Any], /) -> Store | None:
        """Make rows of the pairs; gives another store to go on with, as large, where this one is still needed.

        `pairs` will change, `connections`, `held` and what lies in the store will not.
        """


class CompiledEngine:
    """As `Engine`, but `feed` takes chunks of a Front; packets of `feed_packet` go in between.

    With `columns` these make the rows of their tables, and `drain` gives those of the others. `odd` counts the packets
    that the twin had to look at. `programs` are those of the tables that are wanted, where they are there already.
    """

    def __init__(
        self,
        options: EngineOptions,
        files: Sequence[str],
        columns: Emits | None = None,
        programs: Programs | None = None,
    ) -> None:
        if options.payloads:
            raise ValueError("payloads are for the engine in plain Python")
        self.handover = Handover(new_wishes(options))
        self.twin = Twin(options, files, self.handover, self.flush)
        self.reading = new_reading(options, programs)
        self.odd = 0
        self._ports = options.ports
        self._epoch = 0
        self._columns = columns
        self._bodies = Bodies(options.tables)
        # Whether there can be a connection of the twin's some of whose pairs of addresses the kernels do not know.
        self._unbound = False

    def feed(self, chunk: Chunk) -> None:
        """Take the packets of a chunk."""
        handover = self.handover
        if chunk.epoch != self._epoch:
            self._epoch = chunk.epoch
            self._forget_keys()
        if len(handover.lanes) < len(chunk.keys):
            handover.lanes = np.concatenate([handover.lanes, no_lanes(len(chunk.keys) - len(handover.lanes))])
        files = chunk.files or (chunk.file,) * len(chunk.interfaces)
        places = np.array(
            [(*self._place(name, file), file) for name, file in zip(chunk.interfaces, files, strict=False)]
        )
        flows = self.twin.flows
        flows.births.keys = chunk.keys
        opens = self._all_bound()
        index, offset, end = 0, -1, len(chunk.packets)
        full_at = (-1, -1)
        while index < end:
            handover.lane.numbers[NEXT_SWEEP] = flows.next_sweep
            handover.lane.numbers[MOST_BORN] = flows.most_born() if opens and not self._unbound else 0
            status, index, offset = run(
                handover.lane,
                self.reading,
                handover.lanes,
                chunk.keys,
                places,
                chunk.packets,
                chunk.data,
                index,
                offset,
            )
            if status == DONE:
                break
            if status == FULL:
                if not self._make_room_to_carry():
                    self._make_room(grow=full_at == (index, offset))
                    full_at = (index, offset)
                continue
            if status == ODD_PACKET:
                index = self._odd_packets(chunk, index)
                offset = -1
            else:
                index, offset = self._odd_rest(chunk, index, offset)
        if len(handover.held) > _MOST_HELD:
            self.flush()

    def feed_packet(self, packet: Packet) -> None:
        """Take a packet that comes in no chunk."""
        self.handover.touched = None
        self.twin.feed(packet)
        if self.handover.touched is not None:
            self._unbound = True
            self._settle(self.handover.touched)

    def lose(self, file: int, lost: Undecoded, time: int | None = None) -> None:
        """As `Engine.lose`."""
        self.twin.lose(file, lost, time)

    def dropped(self, file: int, packets: int) -> None:
        """As `Engine.dropped`."""
        self.twin.dropped(file, packets)

    def finish(self) -> None:
        """There are no more packets."""
        self.twin.finish()
        self.flush()

    def drain(self) -> dict[str, list[Row]]:
        """The rows since the last time, by table."""
        return self.twin.drain()

    def flush(self) -> None:
        """Make rows of the pairs there are, and forget what they were made of."""
        handover = self.handover
        handover.apply_digests()
        self.twin.take_ended()
        self.twin.contexts.make_room()
        self.twin.contexts.fill(self.twin.flows.births.keys)
        numbers = handover.lane.numbers
        pairs = handover.lane.pairs[: numbers[PAIRS]]
        other: Store | None = None
        if self._columns is None:
            self._emit(pairs)
        else:
            connections = self.twin.contexts.connections(pairs)
            other = self._columns.emit(self.reading.store, pairs, connections, handover.held)
        numbers[PAIRS] = 0
        self.twin.contexts.flushed()
        self._compact(other)

    def _place(self, interface: str, file: int) -> tuple[int, int]:
        place = self.handover.place(interface, file)
        bit = self.handover.interfaces[interface]
        return place, bit if bit < MOST_INTERFACES else NOTHING

    def _all_bound(self) -> bool:
        """Whether the kernels know all connections by number."""
        if self._unbound:
            self._unbound = any(
                len(connection.key_numbers) < sum(not key[4] for key in connection.keys)
                for connection in self.twin.flows.live.values()
                if isinstance(connection, LaneConnection)
            )
        return not self._unbound

    def _forget_keys(self) -> None:
        """Pairs of addresses have other numbers from now on: first settle what the kernels noted by the old ones."""
        self.flush()
        flows = self.twin.flows
        for slot in flows.births.slots().tolist():
            flows.give(slot)
        self._unbound = True
        self.handover.lanes[:] = UNKNOWN_KEY
        for connection in self.twin.flows.live.values():
            assert isinstance(connection, LaneConnection)
            connection.key_numbers = {}

    def _odd_packets(self, chunk: Chunk, index: int) -> int:
        """Have the twin take a packet and those behind it that are for nobody else; gives the next index."""
        lanes, packets = self.handover.lanes, chunk.packets
        while True:
            key = int(packets["key"][index]) if packets["segment"][index] else NOTHING
            if key >= 0 and lanes[key] == UNKNOWN_KEY and self._bind(chunk, index, key):
                return index
            if key >= 0 and lanes[key] >= 0 and self.handover.connections[lanes[key] >> 1] is None:
                self.twin.flows.give(int(lanes[key]) >> 1)
            self.odd += 1
            self.handover.touched = None
            self.twin.feed(chunk.packet(index))
            touched = self.handover.touched
            if touched is not None:
                self._unbound = self._unbound or key < 0
                is_new = key >= 0 and key not in touched.key_numbers
                found = self.twin.flows.sides.get(_key(chunk.keys[key])) if is_new else None
                # One that is over already has none.
                if found is not None:
                    self.handover.bind(touched, key, found[1])
                    self.handover.bind(touched, key ^ 1, 1 - found[1])
                self._settle(touched)
            index += 1
            if index >= len(packets):
                return index
            key = int(packets["key"][index])
            if packets["segment"][index] and (key < 0 or self._is_for_kernels(int(lanes[key]), packets[index])):
                return index

    def _is_for_kernels(self, number: int, packet: Any) -> bool:
        if number == UNKNOWN_KEY:
            return not self._unbound and bool(packet["flags"] & SYN)
        return number >= LEFT_OUT

    def _bind(self, chunk: Chunk, index: int, key: int) -> bool:
        """Tell the kernels whose packet this is; whether that is news to them."""
        row = chunk.keys[key]
        if self._ports and self._ports.isdisjoint((int(row["source_port"]), int(row["destination_port"]))):
            self.handover.lanes[key] = self.handover.lanes[key ^ 1] = LEFT_OUT
            return True
        found = self.twin.flows.sides.get(_key(row))
        if found is None:
            return False
        connection, side = found
        assert isinstance(connection, LaneConnection)
        self.handover.bind(connection, key, side)
        self.handover.bind(connection, key ^ 1, 1 - side)
        return connection.is_in

    def _settle(self, connection: LaneConnection) -> None:
        """See whether a connection is calm again."""
        connection.since += 1
        if connection.since >= connection.patience and connection.number in self.twin.flows.live:
            context = self.twin.contexts.of(connection) if connection.is_listened_to else NOTHING
            self.handover.check_in(connection, context)

    def _odd_rest(self, chunk: Chunk, index: int, offset: int) -> tuple[int, int]:
        """Have the twin go on within a packet that is counted already; gives where the kernels go on."""
        packet = chunk.packets[index]
        number = int(self.handover.lanes[packet["key"]])
        connection = self.handover.connections[number >> 1]
        if connection is None:
            connection = self.twin.flows.give(number >> 1)
        else:
            self.handover.check_out(connection)
        self.odd += 1
        assert connection.dialogue is not None
        framer = connection.dialogue.deliveries[number & 1].framer
        begin, kept = int(packet["payload"]), int(packet["kept"])
        view = memoryview(chunk.data[begin + offset : begin + kept].tobytes())
        rest = int(packet["size"]) - offset
        framer.cut(view, rest, int(packet["time"]), int(packet["number"]), chunk.file_of(index))
        if framer.mode < FRAMES:
            connection.dialogue.identify()
        self._settle(connection)
        return index + 1, -1

    def _make_room_to_carry(self) -> bool:
        """Whether bytes of unfinished messages needed room; then there is some."""
        lane = self.handover.lane
        if lane.numbers[CARRY] + KEEP <= len(lane.carry):
            return False
        self.handover.lane = compacted_carry(lane, _LEAST_CARRY)
        return True

    def _make_room(self, *, grow: bool) -> None:
        handover = self.handover
        self.flush()
        handover.make_slots()
        handover.make_blocks()
        lane = handover.lane
        if 2 * lane.numbers[CARRY] > len(lane.carry):
            lane = compacted_carry(lane, _LEAST_CARRY)
        if lane.numbers[FREE_PENDING] == NOTHING:
            lane = more_pending(lane)
        most = int(lane.connections["pending"].max()) + 1 if grow else 0
        if most > len(lane.pairs):
            # All that one connection has asked ends at once.
            lane = lane._replace(pairs=np.zeros(2 * most, PAIR))
        lane = with_unfinished(with_room(lane))
        if grow or is_mostly_kept(self.reading.store):
            self.reading = self.reading._replace(store=grown(self.reading.store))
        handover.lane = lane

    def _emit(self, pairs: Any) -> None:
        held, store = self.handover.held, self.reading.store
        for asks, says, context, outcome in pairs.tolist():
            asked: Asked | None = None
            answer: Answer | None = None
            if asks != NOTHING:
                asked = held[FROM_TWIN - asks] if asks <= FROM_TWIN else facts.asked(store, asks, self._bodies)
            if says <= FROM_TWIN:
                answer = held[FROM_TWIN - says]
            elif says != NOTHING:
                answer = facts.answer(store, says, self._bodies) if asked is not None else facts.alone(store, says)
            where = self.twin.contexts[context]
            word = OUTCOMES[outcome]
            if asked is not None and answer is None:
                silent = asked.header.api_key == PRODUCE and asked.facts.acks == 0
                word = NO_RESPONSE if silent else UNANSWERED
            self.twin.emit_row(where, (asked, answer, word))

    def _compact(self, into: Store | None) -> None:
        """Forget the messages that nothing waits for, or leave them behind."""
        handover, lane = self.handover, self.handover.lane
        waiting = waiting_entries(lane)
        refs = lane.pending["asked"][waiting]
        needed = np.sort(np.concatenate([refs[refs >= 0], np.array([*handover.kept], "i8")]))
        self.reading, moved = compacted_reading(self.reading, needed, into)
        lane.pending["asked"][waiting[refs >= 0]] = moved[refs[refs >= 0]]
        handover.held = [handover.held[number] for number in (FROM_TWIN - refs[refs < 0]).tolist()]
        lane.pending["asked"][waiting[refs < 0]] = FROM_TWIN - np.arange(len(handover.held))
        handover.kept = {int(moved[number]): kept_facts for number, kept_facts in handover.kept.items()}
        for number, kept_facts in handover.kept.items():
            kept_facts.number = number


def _key(row: Any) -> tuple[bytes, bytes, int, int, bytes]:
    width = int(row["width"])
    source, destination = row["source"].tobytes()[:width], row["destination"].tobytes()[:width]
    return source, destination, int(row["source_port"]), int(row["destination_port"]), b""
