"""The compiled engine: the rows of the engine in plain Python, in the same order, many times as fast.

Kernels take the packets of calm connections in a row, the twin takes every other packet.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.assemble import Answer, Asked
from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.compiled.arenas import Strings, no_strings
from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.compiled.front import Chunk
from netdiag.traffic.engine.compiled.handover import MOST_INTERFACES, Handover, LaneConnection
from netdiag.traffic.engine.compiled.handover_direction import no_lanes
from netdiag.traffic.engine.compiled.lane import run
from netdiag.traffic.engine.compiled.lane_state import (
    DIGESTS,
    FACTS_COUNT,
    FREE_PENDING,
    NEXT_SWEEP,
    PAIRS,
    RAW_COUNT,
    Store,
    compacted_carry,
    more_pending,
)
from netdiag.traffic.engine.compiled.layout import (
    BATCH,
    DONE,
    ENDPOINT,
    FACTS,
    FORGOTTEN,
    FROM_TWIN,
    FULL,
    LEFT_OUT,
    NOTHING,
    ODD_PACKET,
    OUTCOMES,
    PAIR,
    PARTITION,
    UNKNOWN_KEY,
)
from netdiag.traffic.engine.compiled.run_twin import Row, Twin
from netdiag.traffic.engine.dialogue import KEEP
from netdiag.traffic.engine.frames import FRAMES
from netdiag.traffic.engine.headers import request_header
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Packet, Undecoded
from netdiag.traffic.engine.pairing import NO_RESPONSE, PRODUCE, UNANSWERED, Pairing

_LEAST_CARRY = 2 * KEEP


class CompiledEngine:
    """As `Engine`, but `feed` takes chunks of a Front; packets of `feed_packet` go in between.

    With `columns` these make the rows of their tables, and `drain` gives those of the others. `odd` counts the packets
    that the twin had to look at.
    """

    def __init__(self, options: EngineOptions, files: Sequence[str], columns: Columns | None = None) -> None:
        if options.payloads:
            raise ValueError("payloads are for the engine in plain Python")
        self.handover = Handover()
        self.twin = Twin(options, files, self.handover, self.flush)
        self.store = Store(np.zeros(1 << 14, FACTS), np.zeros(1 << 22, "u1"))
        self.odd = 0
        self._ports = options.ports
        self._epoch = 0
        self._columns = columns
        self._readers = _Readers(Bodies(options.tables))

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
        index, offset, end = 0, -1, len(chunk.packets)
        full_at = (-1, -1)
        while index < end:
            handover.lane.numbers[NEXT_SWEEP] = self.twin.flows.next_sweep
            status, index, offset = run(
                handover.lane,
                self.store,
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
                self._make_room(grow=full_at == (index, offset))
                full_at = (index, offset)
                continue
            if status == ODD_PACKET:
                index = self._odd_packets(chunk, index)
            else:
                self._odd_rest(chunk, index, offset)
                index += 1
            offset = -1
        self.flush()

    def feed_packet(self, packet: Packet) -> None:
        """Take a packet that comes in no chunk."""
        self.handover.touched = None
        self.twin.feed(packet)
        if self.handover.touched is not None:
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
        numbers = handover.lane.numbers
        pairs = handover.lane.pairs[: numbers[PAIRS]]
        if self._columns is None:
            self._emit(pairs)
        else:
            self._columns.emit(_arrays(self.store), pairs, self.twin.contexts.all, handover.held)
        numbers[PAIRS] = 0
        self.twin.contexts.flushed()
        self._compact()

    def _place(self, interface: str, file: int) -> tuple[int, int]:
        place = self.handover.place(interface, file)
        bit = self.handover.interfaces[interface]
        return place, bit if bit < MOST_INTERFACES else NOTHING

    def _forget_keys(self) -> None:
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
            self.odd += 1
            self.handover.touched = None
            self.twin.feed(chunk.packet(index))
            touched = self.handover.touched
            if touched is not None:
                if key >= 0 and key not in touched.key_numbers:
                    side = self._side(chunk, key)
                    self.handover.bind(touched, key, side)
                    self.handover.bind(touched, key ^ 1, 1 - side)
                self._settle(touched)
            index += 1
            if index >= len(packets):
                return index
            key = int(packets["key"][index])
            if packets["segment"][index] and (key < 0 or lanes[key] >= LEFT_OUT):
                return index

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

    def _side(self, chunk: Chunk, key: int) -> int:
        return self.twin.flows.sides[_key(chunk.keys[key])][1]

    def _settle(self, connection: LaneConnection) -> None:
        """See whether a connection is calm again."""
        connection.since += 1
        if connection.since >= connection.patience and connection.number in self.twin.flows.live:
            context = self.twin.contexts.of(connection) if connection.is_listened_to else NOTHING
            self.handover.check_in(connection, context)

    def _odd_rest(self, chunk: Chunk, index: int, offset: int) -> None:
        """Have the twin go on within a packet that is counted already."""
        self.odd += 1
        packet = chunk.packets[index]
        number = int(self.handover.lanes[packet["key"]])
        connection = self.handover.connections[number >> 1]
        assert connection is not None
        assert connection.dialogue is not None
        self.handover.check_out(connection)
        framer = connection.dialogue.deliveries[number & 1].framer
        begin, kept = int(packet["payload"]), int(packet["kept"])
        view = memoryview(chunk.data[begin + offset : begin + kept].tobytes())
        rest = int(packet["size"]) - offset
        framer.cut(view, rest, int(packet["time"]), int(packet["number"]), chunk.file_of(index))
        if framer.mode < FRAMES:
            connection.dialogue.identify()
        self._settle(connection)

    def _make_room(self, *, grow: bool) -> None:
        handover = self.handover
        self.flush()
        lane = compacted_carry(handover.lane, _LEAST_CARRY)
        if lane.numbers[FREE_PENDING] == NOTHING:
            lane = more_pending(lane)
        if grow:
            pairs = np.zeros(2 * len(lane.pairs), PAIR)
            lane = lane._replace(pairs=pairs)
            facts, raw = np.zeros(2 * len(self.store.facts), FACTS), np.zeros(2 * len(self.store.raw), "u1")
            facts[: len(self.store.facts)] = self.store.facts
            raw[: len(self.store.raw)] = self.store.raw
            self.store = Store(facts, raw)
        handover.lane = lane

    def _emit(self, pairs: Any) -> None:
        held = self.handover.held
        for asks, says, context, outcome in pairs.tolist():
            asked: Asked | None = None
            answer: Answer | None = None
            if asks != NOTHING:
                asked = held[FROM_TWIN - asks] if asks <= FROM_TWIN else self._readers.asked(self.store, asks)
            if says <= FROM_TWIN:
                answer = held[FROM_TWIN - says]
            elif says != NOTHING:
                assert asked is not None
                answer = self._readers.answer(self.store, asked, says)
            where = self.twin.contexts.all[context]
            word = OUTCOMES[outcome]
            if asked is not None and answer is None:
                silent = asked.header.api_key == PRODUCE and asked.facts.acks == 0
                word = NO_RESPONSE if silent else UNANSWERED
            self.twin.emit_row(where, (asked, answer, word))

    def _compact(self) -> None:
        """Forget the messages that nothing waits for."""
        handover, lane = self.handover, self.handover.lane
        waiting = _waiting(lane)
        refs = lane.pending["asked"][waiting]
        rows = sorted({*(int(ref) for ref in refs if ref >= 0), *handover.kept})
        mapping = {row: number for number, row in enumerate(rows)}
        at = 0
        for number, row in enumerate(rows):
            raw, size = int(self.store.facts["raw"][row]), int(self.store.facts["raw_size"][row])
            self.store.facts[number] = self.store.facts[row]
            self.store.raw[at : at + size] = self.store.raw[raw : raw + size].copy()
            self.store.facts["raw"][number] = at
            at += size
        lane.numbers[FACTS_COUNT], lane.numbers[RAW_COUNT] = len(rows), at
        held: list[Any] = []
        for entry, ref in zip(waiting.tolist(), refs.tolist(), strict=True):
            if ref >= 0:
                lane.pending["asked"][entry] = mapping[ref]
            else:
                held.append(handover.held[FROM_TWIN - ref])
                lane.pending["asked"][entry] = FROM_TWIN - (len(held) - 1)
        handover.held = held
        handover.kept = {mapping[row]: facts for row, facts in handover.kept.items()}
        for row, facts in handover.kept.items():
            facts.number = row
        lane.numbers[DIGESTS] = 0


class _Arrays(NamedTuple):
    """A store whose messages are all kept raw, as the rows want it."""

    facts: Any
    raw: Any
    topics: Any
    partitions: Any
    batches: Any
    forgotten: Any
    endpoints: Any
    strings: Strings
    ids: Strings


def _arrays(store: Store) -> _Arrays:
    return _Arrays(
        facts=store.facts,
        raw=store.raw,
        topics=np.zeros(0, "i4"),
        partitions=np.zeros(0, PARTITION),
        batches=np.zeros(0, BATCH),
        forgotten=np.zeros(0, FORGOTTEN),
        endpoints=np.zeros(0, ENDPOINT),
        strings=no_strings(),
        ids=no_strings(),
    )


def _waiting(lane: Any) -> Any:
    """The entries of requests that wait."""
    free = np.zeros(len(lane.pending), bool)
    at = int(lane.numbers[FREE_PENDING])
    while at != NOTHING:
        free[at] = True
        at = int(lane.pending["next"][at])
    return np.flatnonzero(~free)


def _key(row: Any) -> tuple[bytes, bytes, int, int, bytes]:
    width = int(row["width"])
    source, destination = row["source"].tobytes()[:width], row["destination"].tobytes()[:width]
    return source, destination, int(row["source_port"]), int(row["destination_port"]), b""


class _Readers:
    """Messages in the arrays as the twin has them."""

    def __init__(self, bodies: Bodies) -> None:
        self._pairing = Pairing(lambda asked, answer, outcome: None, bodies)

    def asked(self, store: Store, number: int) -> Asked:
        message = self._message(store, number)
        header = request_header(message.head, message.size)
        facts = self._pairing.request_facts(header, message)
        return Asked(header, message._replace(head=b""), facts)

    def answer(self, store: Store, asked: Asked, number: int) -> Answer:
        return self._pairing.answer(asked, self._message(store, number))

    def _message(self, store: Store, number: int) -> Message:
        row = store.facts[number]
        begin = int(row["raw"])
        return Message(
            bool(row["is_request"]),
            int(row["size"]),
            store.raw[begin : begin + int(row["raw_size"])].tobytes(),
            None,
            *(int(row[name]) for name in ("start_time", "end_time", "start_number", "end_number", "file")),
        )
