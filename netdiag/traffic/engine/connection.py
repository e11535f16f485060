"""One TCP connection: what its packets tell, until its row can be written."""

from netdiag.traffic.engine.addresses import endpoint_text
from netdiag.traffic.engine.dialogue import KEEP, Dialogue
from netdiag.traffic.engine.frames import Loss
from netdiag.traffic.engine.handshake import Handshake
from netdiag.traffic.engine.packet import ACK, FIN, RST, SYN, Segment
from netdiag.traffic.engine.pairing import Pairing
from netdiag.traffic.places import Named
from netdiag.traffic.rows import ConnectionRow

MAX_PLACES = 16


class Connection:
    """`keys` are the addresses and ports it was seen under; `dialogue` is None where nobody asks for its messages."""

    __slots__ = (
        "_ends",
        "_fins",
        "_initial",
        "_places",
        "_reset",
        "dialogue",
        "file",
        "first_time",
        "handshake",
        "interfaces",
        "keys",
        "last_time",
        "number",
        "pairing",
    )

    def __init__(self, number: int, segment: Segment, file: str) -> None:
        self.number = number
        self.pairing: Pairing | None = None
        self.dialogue: Dialogue | None = None
        self.keys: tuple[tuple[bytes, bytes, int, int, bytes], ...] = ()
        self.handshake = Handshake()
        self.first_time = self.last_time = segment.time
        self.file = file
        source = endpoint_text(segment.source, segment.source_port)
        destination = endpoint_text(segment.destination, segment.destination_port)
        first_is_answer = bool(segment.flags & SYN and segment.flags & ACK)
        self._ends = (destination, source) if first_is_answer else (source, destination)
        self._initial: list[int | None] = [None, None]
        self.interfaces: dict[str, None] = {}
        self._places: dict[str, None] = {}
        self._fins = [False, False]
        self._reset: int | None = None

    def listen(self, pairing: Pairing, keep: int = KEEP) -> None:
        """Have the messages read, and `pairing` take them; those of up to `keep` bytes are kept whole until then."""
        self.pairing = pairing
        self.dialogue = Dialogue(pairing, opener=None, keep=keep)

    @property
    def is_listened_to(self) -> bool:
        """Whether the messages are read."""
        return self.dialogue is not None

    @property
    def client_id(self) -> str | None:
        """The client.id that was seen first."""
        return None if self.pairing is None else self.pairing.client_id

    def files(self) -> set[int]:
        """The files that rows to come may name, by their index."""
        if self.dialogue is None or self.pairing is None:
            return set()
        return self.dialogue.files() | self.pairing.files()

    def finish(self) -> None:
        """No more segments are to come."""
        if self.dialogue is not None and self.pairing is not None:
            self.dialogue.finish()
            self.pairing.finish()

    def losses(self) -> list[tuple[str | None, Loss]]:
        """What of the streams is no message, or not all of one, by direction."""
        return [] if self.dialogue is None else self.dialogue.losses()

    def push(self, side: int, segment: Segment) -> None:
        """Take a segment, in the order of the capture."""
        if segment.time > self.last_time:
            self.last_time = segment.time
        elif segment.time < self.first_time:
            self.first_time = segment.time
        if segment.interface and segment.interface not in self.interfaces and len(self.interfaces) < MAX_PLACES:
            self.interfaces[segment.interface] = None
        if not self.handshake.is_over or segment.flags & SYN:
            self.handshake.push(side, segment)
        if segment.flags & SYN:
            self._initial[side] = segment.sequence
        elif segment.flags & (RST | FIN):
            if segment.flags & FIN:
                self._fins[side] = True
            elif self._reset is None:
                self._reset = side
        if self.dialogue is not None:
            self.dialogue.push(side, segment)

    def also_seen(self, side: int, segment: Segment) -> None:
        """It was captured under other addresses, too."""
        source = endpoint_text(segment.source, segment.source_port)
        destination = endpoint_text(segment.destination, segment.destination_port)
        ends = (source, destination) if side == self._client_side() else (destination, source)
        place = f"{ends[0]}>{ends[1]}" + (f" on {segment.interface}" if segment.interface else "")
        if len(self._places) < MAX_PLACES:
            self._places[place] = None

    def unreachable(self) -> None:
        """An ICMP error came back for one of its segments."""
        self.handshake.unreachable()

    def is_another(self, side: int, segment: Segment) -> bool:
        """Whether a SYN on these addresses opens another connection than this."""
        known = self._initial[side]
        if known is not None:
            return known != segment.sequence
        return self.handshake.saw_data or self.is_closed

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is to come: reset, refused, or closed by both sides."""
        return self._reset is not None or all(self._fins)

    @property
    def client(self) -> str:
        """address:port of the client."""
        return self._ends[self._client_side()]

    @property
    def broker(self) -> str:
        """address:port of the broker."""
        return self._ends[1 - self._client_side()]

    def _client_side(self) -> int:
        side = None if self.dialogue is None else self.dialogue.client_side
        if side is None:
            side = self.handshake.opener
        return 0 if side is None else side

    def row(self, named: Named) -> ConnectionRow:
        """The row of the table `connections`."""
        assert self.dialogue is not None
        assert self.pairing is not None
        side = self._client_side()
        client, broker = self.dialogue.figures(side), self.dialogue.figures(1 - side)
        return ConnectionRow(
            connection=self.number,
            client=self.client,
            broker=self.broker,
            first_time=self.first_time,
            last_time=self.last_time,
            opening=self.handshake.opening,
            ending=self._ending(side),
            handshake_ms=self.handshake.milliseconds,
            protocol=self.dialogue.spoken.value,
            sasl_mechanism=self.pairing.sasl_mechanism or self.dialogue.sasl_mechanism,
            server_name=self.dialogue.server_name,
            client_software=self.pairing.client_software,
            client_id=self.pairing.client_id,
            client_packets=client.packets,
            broker_packets=broker.packets,
            client_bytes=client.payload_bytes,
            broker_bytes=broker.payload_bytes,
            requests=self.pairing.requests,
            responses=self.pairing.responses,
            retransmissions=client.retransmissions + broker.retransmissions,
            out_of_order=client.out_of_order + broker.out_of_order,
            duplicates=client.duplicates + broker.duplicates,
            zero_windows=client.zero_windows + broker.zero_windows,
            keep_alives=client.keep_alives + broker.keep_alives,
            lost_bytes=client.lost_bytes + broker.lost_bytes,
            truncated_bytes=client.truncated_bytes + broker.truncated_bytes,
            seen_as=tuple(self._places) or None,
            interfaces=tuple(self.interfaces) or None,
            digest=self.pairing.digest,
            relay_of=None,
            client_name=named.client,
            broker_name=named.broker,
            listener=named.listener,
            file=self.file,
        )

    def _ending(self, client_side: int) -> str:
        if self._reset is not None:
            return "reset-by-client" if self._reset == client_side else "reset-by-broker"
        return "fin" if any(self._fins) else "open"
