"""Connections between the twin's objects and the arrays: checked in while all is calm on them, else checked out.

Objects stay while their connection is checked in; what of them an ordinary packet changes is then in the arrays, and
is put back before the twin looks at it.
"""

from collections import deque
from typing import Any, NamedTuple

from netdiag.traffic.engine.compiled import handover_direction, handover_orphans
from netdiag.traffic.engine.compiled.handover_pending import Chain, Kept, LanePairing
from netdiag.traffic.engine.compiled.lane_carry import compacted_carry
from netdiag.traffic.engine.compiled.lane_copies import free_places
from netdiag.traffic.engine.compiled.lane_orphans import SECOND
from netdiag.traffic.engine.compiled.lane_state import (
    ABSENT,
    BLOCKS,
    CARRY,
    DIGESTS,
    KEYS,
    LISTENED,
    LONG_AGO,
    MADE,
    MOST_BLOCKS,
    MOST_PLACES,
    NOT_LISTENED,
    ORDER,
    SLOTS,
    SLOTS_EVER,
    VERSIONS,
    Lane,
    more_blocks,
    more_slots,
    new_lane,
)
from netdiag.traffic.engine.compiled.lane_unfinished import with_unfinished
from netdiag.traffic.engine.compiled.lane_versions import versions_of, write_versions
from netdiag.traffic.engine.compiled.lane_wishes import Wishes
from netdiag.traffic.engine.compiled.layout import FROM_TWIN, NOTHING, UNKNOWN_KEY
from netdiag.traffic.engine.connection import MAX_PLACES as MOST_SEEN
from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.message import Spoken
from netdiag.traffic.engine.packet import Segment
from netdiag.traffic.engine.pairing import Pairing
from netdiag.traffic.engine.talk import WAITING, Talk

TWINS = UNKNOWN_KEY - 2
"""What `lanes` says where the twin has the connection."""

MOST_INTERFACES = 64
EVERYWHERE = (1 << MOST_INTERFACES) - 1
"""Interfaces whose number is none of these the arrays cannot tell apart."""
FIRST_PATIENCE, MOST_PATIENCE = 12, 32
CALM_LONG = 64
_STEP, _ENOUGH = 32, 1 << 17


def more_than(known: int) -> int:
    """How many connections to make room for behind so many.

    Much more at once: so little is copied, and what is not used yet takes no memory.
    """
    return max(2 * known, min(_STEP * known, _ENOUGH))


class Orphans(NamedTuple):
    """Which requests may answer to a response that came before them: those that began until then, of these ids."""

    until: int
    low: int
    high: int

    @classmethod
    def of(cls, pairing: Pairing) -> "Orphans":
        """Those of a pairing."""
        if not pairing.orphans:
            return _NO_ORPHANS
        ids = [int.from_bytes(orphan.head[:4], "big", signed=True) for orphan in pairing.orphans]
        return cls(max(orphan.end_time for orphan in pairing.orphans) + SECOND, min(ids), max(ids))


_NO_ORPHANS = Orphans(LONG_AGO, 0, -1)


class LaneConnection(Connection):
    """A connection that can be checked in; its place in the arrays is `slot`.

    `key_numbers`: the sides of those pairs of addresses that are known by number. `order`: its number among all.
    At first, and after a check-out, the twin has it for at least `patience` packets.
    """

    __slots__ = ("_handover", "context", "is_in", "key_numbers", "order", "patience", "since", "slot")

    def __init__(self, number: int, segment: Segment, file: str, handover: "Handover") -> None:
        super().__init__(number, segment, file)
        self._handover = handover
        self.slot = self.context = NOTHING
        self.order = handover.next_order()
        self.is_in = False
        self.key_numbers: dict[int, int] = {}
        self.patience, self.since = FIRST_PATIENCE, 0

    def had(self, initial: tuple[int, int | None], fins: list[bool], reset: int | None) -> None:
        """What was seen of it before the twin had it."""
        self._initial, self._fins, self._reset = [*initial], fins, reset

    @property
    def chain(self) -> Chain:
        """The requests that wait, of a connection that is listened to."""
        assert isinstance(self.pairing, LanePairing)
        return self.pairing.chain

    def push(self, side: int, segment: Segment) -> None:
        """Take a segment; for this the twin must have the connection."""
        if self.is_in:
            self._handover.check_out(self)
        self._handover.touched = self
        self._handover.place(segment.interface, segment.file)
        super().push(side, segment)


class Handover:
    """The arrays, and whose they are. `held`: what pairs refer to that the twin has read."""

    def __init__(self, wishes: Wishes | None = None) -> None:
        self.lane: Lane = new_lane(wishes=wishes)
        self.lanes = handover_direction.no_lanes(1024)
        self.connections: list[LaneConnection | None] = [None] * len(self.lane.connections)
        self.held: list[Any] = []
        self.kept: dict[int, Kept] = {}
        self.touched: LaneConnection | None = None
        self.places: dict[tuple[str, int], int] = {}
        self.place_names: list[tuple[str, int]] = []
        self.interfaces: dict[str, int] = {}

    def place(self, interface: str, file: int) -> int:
        """The number of a place."""
        here = (interface, file)
        number = self.places.get(here)
        if number is None:
            number = self.places[here] = len(self.places)
            self.place_names.append(here)
            self.interfaces.setdefault(interface, len(self.interfaces))
        return number

    def bind(self, connection: LaneConnection, number: int, side: int) -> None:
        """A pair of addresses is this connection's."""
        connection.key_numbers[number] = side
        self.lanes[number] = 2 * connection.slot + side if connection.is_in else TWINS

    def unbind(self, connection: LaneConnection) -> None:
        """The connection is over."""
        for number in connection.key_numbers:
            self.lanes[number] = UNKNOWN_KEY
        connection.key_numbers = {}
        if connection.slot >= 0:
            self.connections[connection.slot] = None
            for side in range(2):
                free_places(self.lane, 2 * connection.slot + side)
            self.lane.slots[self.lane.numbers[SLOTS]] = connection.slot
            self.lane.numbers[SLOTS] += 1
            connection.slot = NOTHING

    def check_in(self, connection: LaneConnection, context: int) -> bool:
        """Put a calm connection into the arrays; whether it is one."""
        dialogue, pairing = connection.dialogue, connection.pairing
        if dialogue is None or pairing is None:
            if not connection.handshake.is_settled:
                return False
            self._take_slot(connection)
            self._write(connection, None, None, context)
        else:
            is_full = len(self.places) > MOST_PLACES or not handover_direction.has_sets(self.lane)
            if is_full or not is_calm(connection):
                return False
            self._take_slot(connection)
            self._write(connection, dialogue.talk, pairing, context)
            self.lane = handover_orphans.check_in(self.lane, connection.slot, pairing)
            self.make_blocks()
            for side, delivery in enumerate(dialogue.deliveries):
                framer = delivery.framer
                self.lane = with_unfinished(self.lane)
                if framer.left and self.lane.numbers[CARRY] + framer.size > len(self.lane.carry):
                    self.lane = compacted_carry(self.lane, framer.size)
                handover_direction.check_in(self.lane, 2 * connection.slot + side, delivery, self.places)
        connection.is_in = True
        for number, side in connection.key_numbers.items():
            self.lanes[number] = 2 * connection.slot + side
        return True

    def check_out(self, connection: LaneConnection, *, is_over: bool = False) -> None:
        """Give a connection back to the twin; of one that is over nobody asks any more what was a copy."""
        connection.is_in = False
        for number in connection.key_numbers:
            self.lanes[number] = TWINS
        row = self.lane.connections[connection.slot].item()
        connection.first_time, connection.last_time = row[:2]
        connection.since = 0
        dialogue, pairing = connection.dialogue, connection.pairing
        if dialogue is None or pairing is None:
            return
        before = dialogue.deliveries[0].packets + dialogue.deliveries[1].packets
        self.apply_digests()
        talk = dialogue.talk
        talk.asked, pairing.requests, pairing.responses = row[7:10]
        talk.last_request, talk.last_response = (None if number == ABSENT else number for number in row[10:12])
        talk.versions = versions_of(self.lane, connection.slot)
        handover_orphans.check_out(self.lane, connection.slot, pairing)
        chain = connection.chain
        chain.first, chain.last, chain.count = row[12:15]
        talk.waiting = deque(chain.latest()[0], maxlen=WAITING)
        for side, delivery in enumerate(dialogue.deliveries):
            handover_direction.check_out(self.lane, 2 * connection.slot + side, delivery)
            if not is_over:
                handover_direction.recall(self.lane, 2 * connection.slot + side, delivery, self.place_names)
        calm = dialogue.deliveries[0].packets + dialogue.deliveries[1].packets - before
        connection.patience = 1 if calm > CALM_LONG else min(2 * connection.patience, MOST_PATIENCE)

    def sync_time(self, connection: LaneConnection) -> None:
        """Have the connection know when its last packet was."""
        if connection.is_in:
            connection.last_time = int(self.lane.connections["last_time"][connection.slot])

    def apply_digests(self) -> None:
        """Tell the connections of the first messages that were not told yet."""
        count = int(self.lane.numbers[DIGESTS])
        if not count:
            return
        self.lane.numbers[DIGESTS] = 0
        for entry in self.lane.digests[:count]:
            connection = self.connections[entry["slot"]]
            assert connection is not None
            assert connection.pairing is not None
            head = entry["head"].tobytes()[: entry["length"]]
            connection.pairing.digests[entry["is_request"]].update(b"%d," % entry["size"] + head)

    def _take_slot(self, connection: LaneConnection) -> None:
        if connection.slot >= 0:
            return
        self.make_slots()
        numbers = self.lane.numbers
        numbers[SLOTS] -= 1
        connection.slot = int(self.lane.slots[numbers[SLOTS]])
        numbers[SLOTS_EVER] = max(numbers[SLOTS_EVER], connection.slot + 1)
        self.connections[connection.slot] = connection
        for name in ("recent", "older"):
            self.lane.directions[name][2 * connection.slot : 2 * connection.slot + 2] = 0

    def make_slots(self) -> None:
        """Have room for another connection."""
        if not self.lane.numbers[SLOTS]:
            self.lane = more_slots(self.lane, more_than(len(self.lane.connections)))
            self.connections += [None] * (len(self.lane.connections) - len(self.connections))

    def make_blocks(self) -> None:
        """Have room for what two directions remember."""
        if self.lane.numbers[BLOCKS] < 2 * MOST_BLOCKS:
            self.lane = more_blocks(self.lane)

    def next_order(self) -> int:
        """The number of the next connection in the order of all."""
        self.lane.numbers[ORDER] += 1
        return int(self.lane.numbers[ORDER])

    def _seen(self, connection: LaneConnection) -> int:
        known = connection.interfaces
        if len(known) >= MOST_SEEN:
            return EVERYWHERE
        return sum(
            1 << number
            for interface, number in self.interfaces.items()
            if number < MOST_INTERFACES and (not interface or interface in known)
        )

    def _write(self, connection: LaneConnection, talk: Talk | None, pairing: Pairing | None, context: int) -> None:
        slot = connection.slot
        times = (connection.first_time, connection.last_time, connection.number)
        seen = self._seen(connection)
        if talk is None or pairing is None or connection.dialogue is None:
            nothing = (0, 0, 0, ABSENT, ABSENT, NOTHING, NOTHING, 0, context, NOTHING, NOTHING, 0, 0, 0, 0)
            self.lane.connections[slot] = (*times, *_NO_ORPHANS, seen, *nothing, NOT_LISTENED, MADE, NOTHING)
            return
        counts = (talk.asked, pairing.requests, pairing.responses)
        lasts = (ABSENT if last is None else last for last in (talk.last_request, talk.last_response))
        chain = connection.chain
        self.lane.connections[slot] = (
            *times,
            *Orphans.of(pairing),
            seen,
            *counts,
            *lasts,
            chain.first if chain.count else NOTHING,
            chain.last if chain.count else NOTHING,
            chain.count,
            context,
            NOTHING,
            NOTHING,
            0,
            connection.dialogue.client_side,
            chain.is_unsorted,
            pairing.client_id is not None,
            LISTENED,
            MADE,
            NOTHING,
        )
        write_versions(self.lane, slot, talk.versions)

    def hold(self, thing: Any) -> int:
        """Keep what a pair refers to; gives the reference."""
        self.held.append(thing)
        return FROM_TWIN - (len(self.held) - 1)


def is_calm(connection: LaneConnection) -> bool:
    """Whether the next packets can be ordinary ones."""
    dialogue, pairing = connection.dialogue, connection.pairing
    if dialogue is None or pairing is None or dialogue.client_side is None:
        return False
    talk = dialogue.talk
    if talk.spoken is not Spoken.KAFKA or talk.raw or talk.client_id is None:
        return False
    if not all(map(handover_direction.is_calm, dialogue.deliveries)) or not connection.handshake.is_settled:
        return False
    if not all(0 <= key < KEYS and 0 <= version < VERSIONS for key, version in talk.versions.items()):
        return False
    waiting, is_ordinary = connection.chain.latest()
    return is_ordinary and waiting == list(talk.waiting)
