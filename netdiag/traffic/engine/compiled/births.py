"""Connections that were opened in the kernels: the twin's objects of them, when it must have these, and their end."""

from collections.abc import Callable
from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.ended_rows import software_text
from netdiag.traffic.engine.compiled.handover import Handover, LaneConnection
from netdiag.traffic.engine.compiled.lane_state import (
    BORN,
    HAS_FIN,
    HAS_RST,
    MADE,
    REPLIED,
    SLOTS_EVER,
    TALKING,
    Array,
)
from netdiag.traffic.engine.compiled.lane_unfinished import has_losses
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.opening import end_connections
from netdiag.traffic.engine.dialogue import Dialogue
from netdiag.traffic.engine.flows import CLOSED_FOR, IDLE_FOR, Key
from netdiag.traffic.engine.frames import FRAMES, START
from netdiag.traffic.engine.message import Spoken
from netdiag.traffic.engine.packet import SYN, Segment
from netdiag.traffic.engine.pairing import Pairing

_NO_PAYLOAD = memoryview(b"")


class Births:
    """`make` gives the twin's connection of a number and a first segment, `take` is told its pairs of addresses.

    `keys`: the pairs of addresses by number, as of now.
    """

    def __init__(
        self,
        handover: Handover,
        make: Callable[[int, Segment], LaneConnection],
        take: Callable[[LaneConnection, Key], None],
    ) -> None:
        self._handover = handover
        self._make = make
        self._take = take
        self.keys: Array = np.zeros(0)

    def __len__(self) -> int:
        return int(self._handover.lane.numbers[BORN])

    def slots(self) -> Array:
        """Where they are, in the order in which they were opened."""
        if not len(self):
            return np.zeros(0, "i8")
        lane = self._handover.lane
        slots = np.flatnonzero(lane.connections["stage"][: lane.numbers[SLOTS_EVER]])
        return slots[np.argsort(lane.births["order"][slots])]

    def expired(self, now: int) -> Array:
        """Those of which nothing was seen for so long that they are over."""
        lane = self._handover.lane
        rows = lane.connections[: lane.numbers[SLOTS_EVER]]
        slots = np.flatnonzero((rows["last_time"] < now - min(CLOSED_FOR, IDLE_FOR)) & (rows["stage"] != MADE))
        rows, fins = rows[slots], lane.directions["marks"]
        is_closed = (rows["reset"] >= 0) | (fins[2 * slots] & fins[2 * slots + 1] & HAS_FIN > 0)
        slots = slots[rows["last_time"] < now - np.where(is_closed, CLOSED_FOR, IDLE_FOR)]
        return slots[np.argsort(lane.births["order"][slots])]

    def with_losses(self, slots: Array) -> Array:
        """At which places of these are those of which something is to be told that is no message."""
        lane = self._handover.lane
        return np.flatnonzero(has_losses(lane, 2 * slots) | has_losses(lane, 2 * slots + 1))

    def end(self, slots: Array, room: Callable[[], None]) -> None:
        """They are over, in this order; `room` is called when there is none for a pair."""
        handover = self._handover
        while len(slots):
            done = end_connections(handover.lane, handover.lanes, slots)
            slots = slots[done:]
            if len(slots):
                room()

    def of_key(self, key: Key) -> int:
        """Where the connection of these addresses is; NOTHING: it is none of these."""
        if not len(self) or key[4]:
            return NOTHING
        slots = self.slots()
        rows = self.keys[self._handover.lane.births["key"][slots]]
        ports, addresses = (key[2], key[3]), (key[0], key[1])
        for flip in (1, -1):
            here = (rows["source_port"] == ports[::flip][0]) & (rows["destination_port"] == ports[::flip][1])
            for index in np.flatnonzero(here).tolist():
                if _addresses(rows[index]) == addresses[::flip]:
                    return int(slots[index])
        return NOTHING

    def of_number(self, number: int) -> int:
        """Where the connection of that number is; NOTHING: it is none of these."""
        if not len(self):
            return NOTHING
        lane = self._handover.lane
        rows = lane.connections[: lane.numbers[SLOTS_EVER]]
        found = np.flatnonzero((rows["number"] == number) & (rows["stage"] != MADE))
        return int(found[0]) if len(found) else NOTHING

    def give(self, slot: int, client_id: str | None) -> LaneConnection:
        """Have the twin have one of them."""
        handover = self._handover
        row, birth = handover.lane.connections[slot], handover.lane.births[slot]
        key_number = int(birth["key"])
        key = key_of(self.keys[key_number])
        segment = self._first(birth, key)
        connection = self._make(int(row["number"]), segment)
        connection.order = int(birth["order"])
        connection.context = int(row["context"])
        connection.interfaces = {segment.interface: None} if segment.interface else {}
        directions = [handover.lane.directions[2 * slot + side] for side in range(2)]
        _tell(connection, row, birth, directions)
        deliveries = connection.dialogue.deliveries if connection.dialogue is not None else ()
        if connection.dialogue is not None and connection.pairing is not None:
            connection.pairing.client_id = client_id
            _tell_talk(connection.dialogue, connection.pairing, int(row["stage"]), birth, directions)
            connection.pairing.client_software = software_text(handover.lane.wishes, int(birth["software"]))
        for delivery, direction in zip(deliveries, directions, strict=False):
            if direction["place"] >= 0:
                delivery.place = handover.place_names[int(direction["place"])]
        connection.slot = slot
        handover.connections[slot] = connection
        row["stage"] = MADE
        handover.lane.numbers[BORN] -= 1
        connection.key_numbers = {key_number: 0, key_number ^ 1: 1}
        self._take(connection, key)
        handover.check_out(connection)
        for delivery in deliveries:
            if delivery.next < 0:
                delivery.next32 = -1
        return connection

    def _first(self, birth: Any, key: Key) -> Segment:
        return Segment(
            time=int(birth["asked"]),
            source=key[0],
            destination=key[1],
            source_port=key[2],
            destination_port=key[3],
            sequence=int(birth["initial"][0]),
            acknowledgement=0,
            flags=SYN,
            window=0,
            payload=_NO_PAYLOAD,
            length=0,
            identification=-1,
            window_scale=-1,
            context=b"",
            interface=[*self._handover.interfaces][int(birth["interface"])],
            number=0,
            file=int(birth["file"]),
        )


def _tell(connection: LaneConnection, row: Any, birth: Any, directions: Any) -> None:
    """What the connection itself knows."""
    stage = int(row["stage"])
    connection.handshake.went(*_times(birth)[:stage])
    initial = birth["initial"].tolist()
    connection.had(
        (initial[0], initial[1] if stage >= REPLIED else None),
        [bool(row["marks"] & HAS_FIN) for row in directions],
        None if row["reset"] < 0 else int(row["reset"]),
    )


def _tell_talk(dialogue: Dialogue, pairing: Pairing, stage: int, birth: Any, directions: Any) -> None:
    """What is known of what it says."""
    for digest, word in zip(pairing.digests, birth["digests"].tolist(), strict=True):
        digest.text = word.to_bytes(8, "big", signed=True)
    dialogue.opener = 0
    if stage == TALKING:
        dialogue.client_side = 0
        dialogue.talk.spoken = Spoken.KAFKA
        for side, delivery in enumerate(dialogue.deliveries):
            delivery.framer.become(side == 0)
        name = pairing.client_id
        length = NOTHING if name is None else len(name)
        dialogue.talk.client_id = length.to_bytes(2, "big", signed=True) + (name or "").encode("ascii")
    for side, (delivery, direction) in enumerate(zip(dialogue.deliveries, directions, strict=True)):
        if direction["next"] < 0:
            continue
        delivery.start, delivery.acked = int(direction["start"]), int(direction["acked"])
        delivery.first_time = _times(birth)[side]
        delivery.fin, delivery.rst = bool(direction["marks"] & HAS_FIN), bool(direction["marks"] & HAS_RST)
        is_begun = stage == TALKING and (side == 0 or direction["next"] > direction["start"])
        delivery.framer.mode = FRAMES if is_begun else START


def _times(birth: Any) -> list[int]:
    return [int(birth["asked"]), int(birth["answered"]), int(birth["acknowledged"])]


def _addresses(row: Any) -> tuple[bytes, bytes]:
    width = int(row["width"])
    return row["source"].tobytes()[:width], row["destination"].tobytes()[:width]


def key_of(row: Any) -> Key:
    """A pair of addresses as the twin has it."""
    return *_addresses(row), int(row["source_port"]), int(row["destination_port"]), b""
