"""Packets of TCP connections and of DNS, in the order of their times, as a pcap file."""

import socket
import struct
from collections.abc import Sequence
from zlib import crc32

from netdiag.traffic.facts import SECOND, host_of, port_of
from tests.native.files import pcap
from tests.native.packets import ACK, FIN, PSH, RST, SYN

START = 1_700_000_000.0
_ROUND_TRIP = 0.0005
# What segmentation offload hands to a capture at once.
_LARGEST = 60_000
_CODES = {"NXDOMAIN": 3, "SERVFAIL": 2}


class Network:
    """Everything that was captured; times are seconds since the first packet's second."""

    def __init__(self) -> None:
        self._packets: list[tuple[float, int, bytes]] = []
        self._ports: dict[str, int] = {}
        self._identification = 0

    def pcap(self) -> bytes:
        """The capture file, with nanoseconds."""
        ordered = sorted(self._packets)
        return pcap(((int((START + at) * SECOND), data) for at, _, data in ordered), nanoseconds=True)

    def port(self, host: str) -> int:
        """The next ephemeral port of a host."""
        self._ports[host] = self._ports.get(host, 40_000) + 1
        return self._ports[host]

    def ip(self, at: float, protocol: int, source: str, destination: str, payload: bytes) -> None:
        """An IPv4 packet on Ethernet, from one address to the other."""
        self._identification = (self._identification + 1) & 0xFFFF
        header = struct.pack(
            ">BBHHHBBH4s4s",
            0x45,
            0,
            20 + len(payload),
            self._identification,
            0x4000,
            64,
            protocol,
            0,
            socket.inet_aton(source),
            socket.inet_aton(destination),
        )
        self._packets.append((at, len(self._packets), bytes(12) + b"\x08\x00" + header + payload))

    def look_up(self, at: float, client: str, name: str, answer: str | Sequence[str]) -> None:
        """A question for the address of a name; the answer is addresses, or the name of an error."""
        number = self.port(client)
        labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
        question = labels + struct.pack(">HH", 1, 1)
        addresses = () if isinstance(answer, str) else answer
        code = _CODES[answer] if isinstance(answer, str) else 0
        records = b"".join(
            struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(address) for address in addresses
        )
        ask = struct.pack(">HHHHHH", number & 0xFFFF, 0x0100, 1, 0, 0, 0) + question
        tell = struct.pack(">HHHHHH", number & 0xFFFF, 0x8180 | code, 1, len(addresses), 0, 0) + question + records
        server = "10.255.0.53"
        self.ip(at, 17, client, server, struct.pack(">HHHH", number, 53, 8 + len(ask), 0) + ask)
        self.ip(at + _ROUND_TRIP, 17, server, client, struct.pack(">HHHH", 53, number, 8 + len(tell), 0) + tell)


class Tcp:
    """One TCP connection; `client` and `broker` are address:port."""

    def __init__(self, network: Network, client_host: str, broker: str) -> None:
        self._network = network
        self.client = f"{client_host}:{network.port(client_host)}"
        self.broker = broker
        # As random as those of a kernel, and the same in every run.
        self._next = [crc32(f"{side} {self.client} {broker}".encode()) for side in range(2)]

    def open(self, at: float) -> None:
        """The three packets of a handshake."""
        self._segment(at, 0, SYN)
        self._segment(at + _ROUND_TRIP, 1, SYN | ACK)
        self._segment(at + 2 * _ROUND_TRIP, 0, ACK)

    def refused(self, at: float) -> None:
        """A SYN, and a reset to it."""
        self._segment(at, 0, SYN)
        self._segment(at + _ROUND_TRIP, 1, RST | ACK)

    def unanswered(self, at: float, waits: Sequence[float] = (0, 1, 3, 7)) -> None:
        """A SYN, sent again and again."""
        for wait in waits:
            self._segment(at + wait, 0, SYN)
            self._next[0] -= 1

    def send(self, at: float, data: bytes) -> None:
        """Bytes of the client, which the broker acknowledges."""
        self._data(at, 0, data)

    def answer(self, at: float, data: bytes) -> None:
        """Bytes of the broker, which the client acknowledges."""
        self._data(at, 1, data)

    def close(self, at: float, side: int = 0) -> None:
        """Both sides say that they are done, the given one first."""
        self._segment(at, side, FIN | ACK)
        self._segment(at + _ROUND_TRIP, 1 - side, FIN | ACK)
        self._segment(at + 2 * _ROUND_TRIP, side, ACK)

    def reset(self, at: float, side: int = 1) -> None:
        """One side ends it at once."""
        self._segment(at, side, RST | ACK)

    def _data(self, at: float, side: int, data: bytes) -> None:
        for start in range(0, len(data), _LARGEST):
            self._segment(at, side, PSH | ACK, data[start : start + _LARGEST])
            at += 1e-6
        self._segment(at + _ROUND_TRIP / 5, 1 - side, ACK)

    def _segment(self, at: float, side: int, flags: int, data: bytes = b"") -> None:
        ends = (self.client, self.broker) if side == 0 else (self.broker, self.client)
        acknowledged = self._next[1 - side] if flags & ACK else 0
        header = struct.pack(
            ">HHIIBBHHH",
            port_of(ends[0]),
            port_of(ends[1]),
            self._next[side] & 0xFFFFFFFF,
            acknowledged & 0xFFFFFFFF,
            0x50,
            flags,
            65_535,
            0,
            0,
        )
        self._network.ip(at, 6, host_of(ends[0]), host_of(ends[1]), header + data)
        self._next[side] += len(data) + (1 if flags & (SYN | FIN) else 0)
