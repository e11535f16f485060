"""Builds the packets of one TCP connection from a few words, and keeps what a dialogue makes of them."""

import struct

from netdiag.traffic.engine.dialogue import Dialogue
from netdiag.traffic.engine.message import Message, Walker
from netdiag.traffic.engine.packet import ACK, FIN, PSH, RST, SYN, Segment

ADDRESSES = (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
PORTS = (40000, 9092)
MILLISECOND = 1_000_000

__all__ = ["ACK", "FIN", "PSH", "RST", "SYN", "Ear", "Wire", "metadata_request", "metadata_response", "request"]


class Ear:
    """A sink that keeps everything."""

    def __init__(self, walker: Walker | None = None) -> None:
        self.messages: list[Message] = []
        self.walker = walker
        self.walks: list[tuple[bool, int, bytes]] = []

    def message(self, message: Message) -> None:
        self.messages.append(message)

    def begin_walk(self, is_request: bool, size: int, head: bytes) -> Walker | None:
        self.walks.append((is_request, size, head))
        return self.walker

    def expects(self, correlation_id: int) -> bool:
        return any(m.is_request and m.head[4:8] == struct.pack(">i", correlation_id) for m in self.messages)

    @property
    def heads(self) -> list[bytes]:
        return [message.head for message in self.messages]


class Wire:
    """Two ends of a connection; every packet is given to the dialogue unless it is `lost`."""

    def __init__(
        self, *, snap: int | None = None, starts: tuple[int, int] = (1000, 5000), walker: Walker | None = None
    ):
        self.ear = Ear(walker)
        self.dialogue = Dialogue(self.ear, opener=None)
        self.snap = snap
        self.sent = list(starts)
        self.time = 0
        self.number = 0
        self.identification = 0

    def packet(
        self,
        side: int,
        payload: bytes = b"",
        *,
        flags: int = ACK,
        sequence: int | None = None,
        acknowledgement: int | None = None,
        window: int = 1000,
        interface: str = "",
        after: int = MILLISECOND,
    ) -> Segment:
        """The next packet of a side, or one with another sequence number; it is not given to the dialogue."""
        self.time += after
        self.number += 1
        self.identification += 1
        if sequence is None:
            sequence = self.sent[side]
            self.sent[side] += len(payload) + bool(flags & SYN) + bool(flags & FIN)
        answered = self.sent[1 - side] if acknowledgement is None else acknowledgement
        return Segment(
            time=self.time,
            source=ADDRESSES[side],
            destination=ADDRESSES[1 - side],
            source_port=PORTS[side],
            destination_port=PORTS[1 - side],
            sequence=sequence & 0xFFFFFFFF,
            acknowledgement=answered & 0xFFFFFFFF if flags & ACK else 0,
            flags=flags,
            window=window,
            payload=memoryview(payload)[: self.snap],
            length=len(payload),
            identification=self.identification & 0xFFFF,
            window_scale=-1,
            context=b"",
            interface=interface,
            number=self.number,
            file=0,
        )

    def send(self, side: int, payload: bytes = b"", *, flags: int = ACK) -> Segment:
        """Send and capture a packet."""
        segment = self.packet(side, payload, flags=flags)
        self.dialogue.push(side, segment)
        return segment

    def lose(self, side: int, payload: bytes = b"", *, flags: int = ACK) -> Segment:
        """Send a packet that is not captured."""
        return self.packet(side, payload, flags=flags)

    def open(self) -> None:
        """The handshake; side 0 opens."""
        self.send(0, flags=SYN)
        self.send(1, flags=SYN | ACK)
        self.send(0)

    def finish(self) -> list[bytes]:
        """End the capture, see that every byte is accounted for, and give the messages."""
        self.dialogue.finish()
        check_balance(self.dialogue)
        return self.ear.heads


def check_balance(dialogue: Dialogue) -> None:
    """Per direction: the bytes of the stream are those of messages and those of losses."""
    spans = frames = 0
    for side in (0, 1):
        figures = dialogue.figures(side)
        spans += figures.span
        frames += figures.frame_bytes
        assert figures.payload_bytes + figures.lost_bytes == figures.span
    outside = sum(
        loss.bytes for _, loss in dialogue.losses() if loss.detail != "inside messages" and loss.kind != "limit"
    )
    assert spans == frames + outside


def framed(message: bytes) -> bytes:
    """A message behind its size."""
    return struct.pack(">i", len(message)) + message


def request(key: int, version: int, correlation: int, body: bytes, client: bytes = b"app") -> bytes:
    """A request with a header of version 1."""
    return struct.pack(">hhih", key, version, correlation, len(client)) + client + body


def metadata_request(correlation: int, client: bytes = b"app", topics: int = 1) -> bytes:
    """Metadata v1 for topics."""
    names = b"".join(struct.pack(">h", 8) + b"topic-%02d" % number for number in range(topics))
    return request(3, 1, correlation, struct.pack(">i", topics) + names, client)


def metadata_response(correlation: int, brokers: int = 1) -> bytes:
    """Metadata v1 with brokers and no topic."""
    listed = b"".join(
        struct.pack(">ih", n, 8) + b"kafka-%02d" % n + struct.pack(">ih", 9092, -1) for n in range(brokers)
    )
    return struct.pack(">ii", correlation, brokers) + listed + struct.pack(">ii", 0, 0)
