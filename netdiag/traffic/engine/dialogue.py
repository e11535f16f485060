"""Both directions of one TCP connection: segments in, Kafka messages out, in the order in which they can have happened.

A response is never handed on before its request: when the answer to something shows that packets are missing, the
answer waits a moment for them (captures swap packets), and then their bytes count as lost.
"""

from typing import NamedTuple

from netdiag.traffic.engine import identify
from netdiag.traffic.engine.delivery import FAR, HALF, MASK, REMEMBERED, Delivery
from netdiag.traffic.engine.frames import FRAMES, SEARCH, START, Framer, Loss
from netdiag.traffic.engine.identify import Start
from netdiag.traffic.engine.message import MessageSink, Spoken
from netdiag.traffic.engine.packet import ACK, FIN, RST, SYN, Segment
from netdiag.traffic.engine.talk import Talk

NOTHING = -(1 << 62)
"""What a segment without an acknowledgement answers."""

GIVE_UP = 4 << 20
"""Bytes of a direction in which nothing was recognised, until it counts as not being Kafka."""
KEEP = 262_144
"""Messages up to this size are kept whole until they are complete, unless another size is asked for."""


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

    __slots__ = ("client_side", "deliveries", "opener", "talk")

    def __init__(self, sink: MessageSink, *, opener: int | None, keep: int = KEEP) -> None:
        self.talk = Talk(sink, keep)
        self.deliveries = (Delivery(Framer(self.talk)), Delivery(Framer(self.talk)))
        self.opener = opener
        self.client_side: int | None = None

    @property
    def spoken(self) -> Spoken:
        """What the connection speaks, as far as is known."""
        return self.talk.spoken

    @property
    def server_name(self) -> str | None:
        """The server name that a TLS client asked for."""
        return self.talk.server_name

    @property
    def sasl_mechanism(self) -> str | None:
        """The mechanism of a SaslHandshake."""
        return self.talk.sasl_mechanism

    def files(self) -> set[int]:
        """The files that what is to come may name."""
        return self.deliveries[0].files() | self.deliveries[1].files()

    def push(self, side: int, segment: Segment) -> None:
        """The next packet of the capture."""
        here = self.deliveries[side]
        there = self.deliveries[1 - side]
        if segment.sequence == here.next32 and segment.flags & 0x17 == ACK and segment.length:
            ahead = (segment.acknowledgement - there.next32) & MASK
            if (ahead == 0 or ahead >= HALF) and there.next >= 0 and not here.held and not there.held:
                self._plain(here, segment)
                return
        self._push(side, segment)
        if here.held or there.held or here.acked > here.next or there.acked > there.next:
            self._release(segment.time)

    def finish(self) -> None:
        """Nothing more comes."""
        self._settle()
        while any(delivery.gap_end > delivery.next for delivery in self.deliveries):
            for delivery in self.deliveries:
                if delivery.gap_end > delivery.next:
                    delivery.give_up()
                    self._settle()
        self.identify(final=True)
        if self.talk.spoken is Spoken.NONE and any(delivery.next > delivery.start for delivery in self.deliveries):
            showed_tls = any(delivery.framer.searcher.strangers for delivery in self.deliveries)
            self._refuse(None, Spoken.TLS if showed_tls else Spoken.UNKNOWN, b"")
        for delivery in self.deliveries:
            delivery.framer.finish()

    def figures(self, side: int) -> Figures:
        """The figures of one direction."""
        it = self.deliveries[side]
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
            resync_bytes=sum(loss.bytes for loss in framer.losses if loss.kind == "resync"),
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
        for side, delivery in enumerate(self.deliveries):
            direction = None if self.client_side is None else "request" if side == self.client_side else "response"
            found += ((direction, loss) for loss in delivery.framer.losses)
            if delivery.strays:
                detail = "segments far outside the window"
                found.append((direction, Loss("limit", delivery.stray_bytes, delivery.strays, detail, 0)))
        return found

    def _plain(self, here: Delivery, segment: Segment) -> None:
        """The usual case: the next bytes, and nothing is missing."""
        time, length, window = segment.time, segment.length, segment.window
        here.packets += 1
        here.last_time = time
        if window != here.window:
            here.zero_windows += not window
            here.window = window
        recent = here.recent
        if len(recent) >= REMEMBERED:
            here.older = recent
            here.recent = recent = {}
        place = (segment.interface, segment.file)
        recent[segment.sequence] = (length, time, segment.identification, (place,))
        here.next += length
        here.next32 = here.next & MASK
        here.framer.take(segment.payload, length, time, segment.number, segment.file)
        if here.framer.mode < FRAMES:
            self.identify()

    def _push(self, side: int, segment: Segment) -> None:
        here, there = self.deliveries[side], self.deliveries[1 - side]
        if here.next < 0 or segment.flags & SYN:
            self._begin(side, segment)
        answers = NOTHING
        if segment.flags & (ACK | RST) == ACK and there.next >= 0:
            position = there.position(segment.acknowledgement)
            if position < there.next + FAR:
                answers = position
                if position > there.next:
                    there.acknowledged(position, segment)
        self._count(here, segment, answers, answers > there.next + 1)

    def _count(self, here: Delivery, segment: Segment, answers: int, wait: bool) -> None:
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
        here.data(segment, position, answers, wait)
        if self.deliveries[0].held or self.deliveries[1].held:
            self._settle()
        elif here.framer.mode < FRAMES:
            self.identify()

    def _begin(self, side: int, segment: Segment) -> None:
        """Find where the streams begin: behind a SYN, else with the first payload."""
        here, there = self.deliveries[side], self.deliveries[1 - side]
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
        """Give up holes that will not be filled any more."""
        for side, delivery in enumerate(self.deliveries):
            if delivery.gap_end <= delivery.next:
                continue
            delivery.waited += 1
            other = self.deliveries[1 - side]
            while delivery.is_given_up(time, other.packets == 0) or (
                other.is_full and delivery.gap_end > delivery.next
            ):
                delivery.give_up()
                self._settle()

    def _settle(self) -> None:
        """Deliver what was held and has become possible, each piece behind what it answers."""
        one, two = self.deliveries
        while True:
            if one.is_next() and one.held[0].answers <= two.next + 1:
                one.step()
            elif two.is_next() and two.held[0].answers <= one.next + 1:
                two.step()
            elif one.is_next() and two.is_next():
                (one if one.held[0].number < two.held[0].number else two).step()
            else:
                break
            self.identify()
        self.identify()

    def identify(self, final: bool = False) -> None:
        """See what can be recognised, on one side and then with what that tells about the other."""
        more = True
        while more:
            more = False
            for side in (0, 1) if self.client_side != 1 else (1, 0):
                framer = self.deliveries[side].framer
                if framer.mode == START:
                    more = self._open(side, framer, final) or more
                elif framer.mode == SEARCH:
                    more = self._find(side, framer, final) or more

    def _open(self, side: int, framer: Framer, final: bool) -> bool:
        """Recognise a stream by its first bytes; True where that changes something."""
        other = self.deliveries[1 - side].framer
        if self.client_side == 1 - side:
            if other.mode == FRAMES and framer.searcher.starts:
                framer.found(framer.searcher.starts[0])
                return True
            return False
        if self.opener == 1 - side:
            if other.mode == START and not final and len(framer.searcher.pieces) < 8:
                return False
            framer.mode = SEARCH
            return True
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
        self.talk.raw = verdict is Start.TOKEN
        framer.found(framer.searcher.starts[0])
        return True

    def _find(self, side: int, framer: Framer, final: bool) -> bool:
        """Look for a boundary in mid-stream; whoever sends a request there is the client."""
        searcher = framer.searcher
        if searcher.looked == len(searcher.pieces) and not final:
            return False
        role = framer.is_request
        if role is None:
            stranger = searcher.stranger()
            if stranger is not None or searcher.end > GIVE_UP:
                self._refuse(None, stranger or Spoken.UNKNOWN, b"")
                return True
        found = searcher.find(role is not False, final)
        if found is not None and role is None:
            self._be_client(side)
        if found is None and (role is None or (role is False and not self.talk.asked)):
            found = searcher.find_unasked()
            if found is not None and role is None:
                self._be_client(1 - side)
        if found is None:
            return False
        framer.found(found)
        return True

    def _be_client(self, side: int) -> None:
        """This side sends requests, so the other one responses."""
        self.client_side = side
        self.talk.spoken = Spoken.KAFKA
        self.deliveries[side].framer.become(True)
        self.deliveries[1 - side].framer.become(False)

    def _refuse(self, client: int | None, spoken: Spoken, first: bytes) -> None:
        """Something else is spoken: all of it is counted, nothing is read."""
        self.talk.spoken = spoken
        self.client_side = client if client is not None else self.opener
        if spoken is Spoken.TLS:
            self.talk.server_name = identify.server_name(first)
        kind = "tls" if spoken is Spoken.TLS else "other-protocol"
        for delivery in self.deliveries:
            delivery.framer.set_aside(kind, spoken.value)
