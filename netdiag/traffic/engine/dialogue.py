"""Both directions of one TCP connection: segments in, Kafka messages out, in the order in which they can have happened.

A response is never handed on before its request: when the answer to something shows that packets are missing, the
answer waits a moment for them (captures swap packets), and then their bytes count as lost.
"""

from collections import deque
from typing import NamedTuple

from netdiag.traffic.engine import identify
from netdiag.traffic.engine.delivery import FAR, HALF, MASK, Delivery
from netdiag.traffic.engine.frames import FRAMES, SEARCH, START, Framer, Loss
from netdiag.traffic.engine.identify import Start
from netdiag.traffic.engine.message import MessageSink, Spoken
from netdiag.traffic.engine.packet import ACK, FIN, RST, SYN, Segment
from netdiag.traffic.engine.talk import Talk

QUEUE = 64
"""Segments that may wait for what they answer."""


class Figures(NamedTuple):
    """What one direction was like. `payload_bytes`: every byte of the stream once; those lost are not among them."""

    packets: int
    payload_bytes: int
    retransmissions: int
    out_of_order: int
    duplicates: int
    zero_windows: int
    keep_alives: int
    lost_bytes: int
    truncated_bytes: int
    resync_bytes: int
    stray_bytes: int
    frames: int
    frame_bytes: int
    span: int
    first_time: int
    last_time: int
    fin: bool
    rst: bool


class Dialogue:
    """One connection; side 0 is the sender of its first packet."""

    __slots__ = ("_deliveries", "_queue", "_talk", "client_side", "opener")

    def __init__(self, sink: MessageSink, *, opener: int | None, keep: int = 262_144) -> None:
        self._talk = Talk(sink, keep)
        self._deliveries = (Delivery(Framer(self._talk)), Delivery(Framer(self._talk)))
        self.opener = opener
        self.client_side: int | None = None
        self._queue: deque[tuple[int, Segment]] = deque()

    @property
    def spoken(self) -> Spoken:
        """What the connection speaks, as far as is known."""
        return self._talk.spoken

    @property
    def server_name(self) -> str | None:
        """The server name that a TLS client asked for."""
        return self._talk.server_name

    @property
    def sasl_mechanism(self) -> str | None:
        """The mechanism of a SaslHandshake."""
        return self._talk.sasl_mechanism

    def push(self, side: int, segment: Segment) -> None:
        """The next packet of the capture."""
        here = self._deliveries[side]
        if segment.sequence == here.next32 and segment.flags & 0x17 == ACK and segment.length and not here.held:
            there = self._deliveries[1 - side]
            if not self._queue and not there.held:
                ahead = (segment.acknowledgement - there.next32) & MASK
                if (ahead == 0 or ahead >= HALF) and there.next >= 0:
                    self._plain(here, segment)
                    return
        if self._queue and side == self._queue[0][0]:
            self._wait(side, segment)
        else:
            self._push(side, segment)
        there = self._deliveries[1 - side]
        if self._queue or here.held or there.held or here.acked > here.next or there.acked > there.next:
            self._release(segment.time)

    def finish(self) -> None:
        """Nothing more comes."""
        while self._queue or any(delivery.gap_end > delivery.next for delivery in self._deliveries):
            for side, delivery in enumerate(self._deliveries):
                if not self._queue or self._queue[0][0] != side:
                    delivery.give_up()
                    self._settle()
            if self._queue:
                self._push(*self._queue.popleft(), waits=False)
        self._identify(final=True)
        for delivery in self._deliveries:
            delivery.framer.finish()

    def figures(self, side: int) -> Figures:
        """The figures of one direction."""
        it = self._deliveries[side]
        framer = it.framer
        span = it.next - it.start
        return Figures(
            packets=it.packets,
            payload_bytes=span - it.lost_bytes,
            retransmissions=it.retransmissions,
            out_of_order=it.out_of_order,
            duplicates=it.duplicates,
            zero_windows=it.zero_windows,
            keep_alives=it.keep_alives,
            lost_bytes=it.lost_bytes,
            truncated_bytes=framer.truncated_bytes,
            resync_bytes=sum(loss.bytes for loss in framer.losses.values() if loss.kind == "resync"),
            stray_bytes=it.stray_bytes,
            frames=framer.frames,
            frame_bytes=framer.frame_bytes,
            span=span,
            first_time=it.first_time,
            last_time=it.last_time,
            fin=it.fin,
            rst=it.rst,
        )

    def losses(self) -> list[tuple[str | None, Loss]]:
        """What is no message or not all of one, by direction.

        The bytes of a direction are its messages and its losses; those that are "inside messages" are part of both.
        """
        found: list[tuple[str | None, Loss]] = []
        for side, delivery in enumerate(self._deliveries):
            direction = None if self.client_side is None else "request" if side == self.client_side else "response"
            found += ((direction, loss) for loss in delivery.framer.losses.values())
            if delivery.strays:
                detail = "segments far outside the window"
                found.append((direction, Loss("limit", delivery.stray_bytes, delivery.strays, detail, 0)))
        return found

    def _plain(self, here: Delivery, segment: Segment) -> None:
        """The usual case: the next bytes, and nothing is missing."""
        time, length = segment.time, segment.length
        here.packets += 1
        here.last_time = time
        if segment.window == 0 != here.window:
            here.zero_windows += 1
        here.window = segment.window
        place = (segment.interface, segment.file)
        here.remember(segment.sequence, length, time, segment.identification, place)
        here.next += length
        here.next32 = here.next & MASK
        here.framer.take(segment.payload, length, time, segment.number, segment.file)
        if here.framer.mode < FRAMES:
            self._identify()

    def _wait(self, side: int, segment: Segment) -> None:
        """Keep a segment until what it answers has come, or is known to be missing."""
        self._queue.append((side, segment._replace(payload=memoryview(bytes(segment.payload)))))
        self._hear(side, segment)

    def _hear(self, side: int, segment: Segment) -> bool:
        """Take the acknowledgement; True where it shows bytes of the other side that were not captured."""
        there = self._deliveries[1 - side]
        if not segment.flags & ACK or segment.flags & RST or there.next < 0:
            return False
        position = there.position(segment.acknowledgement)
        if there.next < position < there.next + FAR:
            there.acknowledged(position, segment)
        return there.is_proven

    def _push(self, side: int, segment: Segment, waits: bool = True) -> None:
        here = self._deliveries[side]
        if here.next < 0 or segment.flags & SYN:
            self._begin(side, segment)
        missing = self._hear(side, segment)
        if missing and waits and not self._queue and (segment.length or segment.flags & FIN):
            self._wait(side, segment)
            return
        self._count(here, segment)

    def _count(self, here: Delivery, segment: Segment) -> None:
        """Tell copies, repetitions and probes from new payload."""
        flags, length, sequence = segment.flags, segment.length, segment.sequence
        if here.place is None:
            here.place = (segment.interface, segment.file)
        if here.first_time < 0:
            here.first_time = segment.time
        key = (
            sequence if length else -1 - (sequence << 56 | segment.acknowledgement << 24 | segment.window << 8 | flags)
        )
        if here.is_copy(segment, key):
            here.duplicates += 1
            return
        position = here.position(sequence + (1 if flags & SYN else 0)) if here.next >= 0 else 0
        old = length and position + length <= here.next
        if old and (segment.interface, segment.file) != here.place:
            here.duplicates += 1
            return
        here.packets += 1
        here.last_time = segment.time
        if segment.window == 0 != here.window and not flags & RST:
            here.zero_windows += 1
        here.window = segment.window
        here.rst = here.rst or bool(flags & RST)
        here.fin = here.fin or bool(flags & FIN)
        if not flags & (SYN | FIN | RST) and length <= 1 and position == here.next - 1 and here.next > here.start >= 0:
            here.keep_alives += 1
            return
        if not length or flags & RST:
            return
        if not -FAR < position - here.next < FAR:
            here.strays += 1
            here.stray_bytes += length
            return
        here.retransmissions += position < here.next
        here.data(segment, position)
        if here.held or self._queue:
            self._settle()
        elif here.framer.mode < FRAMES:
            self._identify()

    def _begin(self, side: int, segment: Segment) -> None:
        """Find where the streams begin: behind a SYN, else with the first payload."""
        here, there = self._deliveries[side], self._deliveries[1 - side]
        if segment.flags & SYN:
            if here.next < 0:
                here.begin((segment.sequence + 1) & MASK)
                here.framer.mode = START
            if segment.flags & ACK:
                if self.opener is None:
                    self.opener = 1 - side
                if there.next < 0:
                    there.begin(segment.acknowledgement)
                    there.framer.mode = START
            elif self.opener is None:
                self.opener = side
        elif segment.length and not segment.flags & RST:
            here.begin(segment.sequence)
        if there.next < 0 and here.framer.mode == START and segment.flags & (SYN | ACK | RST) == ACK:
            fresh = here.next == here.start and segment.sequence == here.next32
            if fresh:
                there.begin(segment.acknowledgement)
                there.framer.mode = START

    def _release(self, time: int) -> None:
        """Give up holes that will not be filled any more, and let go what waited for them."""
        queue = self._queue
        for side, delivery in enumerate(self._deliveries):
            if delivery.gap_end <= delivery.next or (queue and queue[0][0] == side):
                continue
            delivery.waited += 1
            alone = self._deliveries[1 - side].packets == 0
            while delivery.is_given_up(time, alone) or (len(queue) > QUEUE and delivery.gap_end > delivery.next):
                delivery.give_up()
                self._settle()

    def _settle(self) -> None:
        """Deliver what has become possible: what was held, and what waited for it, each behind what it answers."""
        again = True
        while again:
            while self._queue and self._may_go(*self._queue[0]):
                self._push(*self._queue.popleft(), waits=False)
            again = False
            for delivery in self._deliveries:
                if delivery.held and delivery.step():
                    again = True
                    break
            self._identify()

    def _may_go(self, side: int, segment: Segment) -> bool:
        """Whether everything that a waiting segment acknowledges has been delivered or given up."""
        there = self._deliveries[1 - side]
        return not there.next + 1 < there.position(segment.acknowledgement) < there.next + FAR

    def _identify(self, final: bool = False) -> None:
        """See what can be recognised, on one side and then with what that tells about the other."""
        more = True
        while more:
            more = False
            for side in (0, 1) if self.client_side != 1 else (1, 0):
                framer = self._deliveries[side].framer
                if framer.mode == START:
                    more = self._open(side, framer, final) or more
                elif framer.mode == SEARCH:
                    more = self._find(side, framer, final) or more

    def _open(self, side: int, framer: Framer, final: bool) -> bool:
        """Recognise a stream by its first bytes; True where that changes something."""
        other = self._deliveries[1 - side].framer
        if self.client_side == 1 - side:
            if other.mode == FRAMES and framer.searcher.starts:
                framer.found(framer.searcher.starts[0])
                return True
            return False
        if self.opener == 1 - side:
            return False
        first, cut = framer.searcher.first_bytes()
        if not first and not cut:
            return False
        length = identify.proxy_header(first)
        if length is not None and not (cut and len(first) < max(1, length)):
            if not 0 < length <= len(first):
                return False
            framer.skip(length, "PROXY protocol header")
            return True
        verdict = identify.opening(first, cut or final)
        if isinstance(verdict, Spoken):
            if verdict is Spoken.TLS and not (cut or final) and len(first) < identify.tls_length(first):
                return False
            self._refuse(side, verdict, first)
            return True
        if verdict is Start.MORE:
            return False
        if verdict is Start.OTHER:
            if cut and len(first) < 12:
                framer.mode = SEARCH
                return True
            self._refuse(None, Spoken.UNKNOWN, first)
            return True
        self._be_client(side)
        self._talk.raw = verdict is Start.TOKEN
        framer.found(framer.searcher.starts[0])
        return True

    def _find(self, side: int, framer: Framer, final: bool) -> bool:
        """Look for a boundary in mid-stream; whoever sends a request there is the client."""
        searcher = framer.searcher
        if searcher.looked == len(searcher.pieces) and not final:
            return False
        role = framer.is_request
        found = searcher.find(role is not False, final)
        if found is None:
            return False
        if role is None:
            self._be_client(side)
        framer.found(found)
        return True

    def _be_client(self, side: int) -> None:
        """This side sends requests, so the other one responses."""
        self.client_side = side
        self._talk.spoken = Spoken.KAFKA
        self._deliveries[side].framer.become(True)
        self._deliveries[1 - side].framer.become(False)

    def _refuse(self, client: int | None, spoken: Spoken, first: bytes) -> None:
        """Something else is spoken: all of it is counted, nothing is read."""
        self._talk.spoken = spoken
        self.client_side = client if client is not None else self.opener
        if spoken is Spoken.TLS:
            self._talk.server_name = identify.server_name(first)
        kind = "tls" if spoken is Spoken.TLS else "other-protocol"
        for delivery in self._deliveries:
            delivery.framer.set_aside(kind, spoken.value)
