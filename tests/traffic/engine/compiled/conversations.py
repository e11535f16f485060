"""Captures of a healthy connection: requests and their responses, cut into segments as one likes."""

import struct

from netdiag.traffic.engine.packet import ACK, FIN, PSH, SYN
from tests.traffic.engine.capture_files import START, pcap
from tests.traffic.engine.packets import tcp_packet

CLIENT, BROKER = "10.0.0.1:40000", "10.0.0.2:9092"
METADATA, METADATA_VERSION = 3, 1


def request(correlation: int, *, key: int = METADATA, version: int = METADATA_VERSION, body: bytes = b"") -> bytes:
    """A request with its size, by client `app`; of Metadata for all topics."""
    head = struct.pack(">hhih", key, version, correlation, 3) + b"app" + (body or struct.pack(">i", -1))
    return struct.pack(">i", len(head)) + head


def response(correlation: int, body: bytes = b"") -> bytes:
    """A response with its size; of Metadata with neither brokers nor topics."""
    head = struct.pack(">i", correlation) + (body or struct.pack(">iii", 0, 1, 0))
    return struct.pack(">i", len(head)) + head


class Capture:
    """A connection that is being captured; times are microseconds apart."""

    def __init__(self, starts: tuple[int, int] = (1000, 0xFFFFFF00), client: str = CLIENT) -> None:
        self.client = client
        self.next = list(starts)
        self.packets: list[tuple[int, bytes]] = []
        self.add(0, flags=SYN, acknowledgement=0)
        self.next[0] += 1
        self.add(1, flags=SYN | ACK)
        self.next[1] += 1
        self.add(0)

    def add(self, side: int, payload: bytes = b"", *, flags: int = ACK, acknowledgement: int | None = None) -> None:
        """A packet of one side."""
        ends = (self.client, BROKER) if side == 0 else (BROKER, self.client)
        other = self.next[1 - side] & 0xFFFFFFFF if acknowledgement is None else acknowledgement
        number = len(self.packets) + 1
        made = tcp_packet(
            *ends,
            sequence=self.next[side] & 0xFFFFFFFF,
            acknowledgement=other,
            flags=flags,
            payload=payload,
            number=number,
        )
        self.packets.append((START + number * 1_000_000, bytes(made.data)))
        self.next[side] += len(payload)

    def say(self, side: int, data: bytes, largest: int = 1448) -> None:
        """Bytes of one side in segments."""
        for begin in range(0, len(data), largest):
            self.add(side, data[begin : begin + largest], flags=ACK | PSH)

    def close(self) -> None:
        """Both sides have nothing more to say."""
        for side in (0, 1):
            self.add(side, flags=ACK | FIN)
            self.next[side] += 1
            self.add(1 - side)

    def file(self) -> bytes:
        """The capture file."""
        return pcap(self.packets)


def conversation(exchanges: int, *, largest: int = 1448, acknowledged: bool = False) -> bytes:
    """So many exchanges on one connection."""
    capture = Capture()
    for number in range(exchanges):
        for side, data in ((0, request(number)), (1, response(number))):
            capture.say(side, data, largest)
            if acknowledged:
                capture.add(1 - side)
    capture.close()
    return capture.file()
