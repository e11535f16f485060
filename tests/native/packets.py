"""Packets made from literals, layer by layer and connection by connection, without a library that could share our
errors."""

from collections.abc import Iterable
from ipaddress import ip_address
from struct import pack
from typing import NamedTuple, Self

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
MACS = bytes.fromhex("020000000001020000000002")
CLIENT, BROKER = "10.0.0.7", "10.0.0.2"
CLIENT6, BROKER6 = "fd00::7", "fd00::2"
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


class Packet(NamedTuple):
    """A packet in a capture: `time` in nanoseconds, `length` on the wire, of which `data` was kept."""

    time: int
    data: bytes
    length: int
    interface: str = ""


def checksum(data: bytes) -> int:
    """The checksum of the Internet (RFC 1071)."""
    total = sum(int.from_bytes(data[index : index + 2].ljust(2, b"\0"), "big") for index in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp(
    payload: bytes = b"",
    *,
    source: int = 40000,
    destination: int = 9092,
    sequence: int = 1,
    acknowledgement: int = 2,
    flags: int = PSH | ACK,
    window: int = 512,
    options: bytes = b"",
) -> bytes:
    """A TCP segment."""
    options += b"\0" * (-len(options) % 4)
    offset = (5 + len(options) // 4) << 4
    head = pack(">HHIIBBHHH", source, destination, sequence, acknowledgement, offset, flags, window, 0, 0)
    return head + options + payload


def udp(payload: bytes, *, source: int = 40000, destination: int = 53) -> bytes:
    """A UDP datagram."""
    return pack(">HHHH", source, destination, 8 + len(payload), 0) + payload


def ipv4(
    payload: bytes,
    *,
    protocol: int = 6,
    source: str = CLIENT,
    destination: str = BROKER,
    total: int | None = None,
    fragment: int = 0x4000,
    identification: int = 77,
    options: bytes = b"",
) -> bytes:
    """An IPv4 packet with a true checksum."""
    length = 20 + len(options)
    total = length + len(payload) if total is None else total
    head = pack(">BBHHHBBH", 0x40 | length // 4, 0, total, identification, fragment, 64, protocol, 0)
    head += ip_address(source).packed + ip_address(destination).packed + options
    return head[:10] + pack(">H", checksum(head)) + head[12:] + payload


def ipv6(
    payload: bytes,
    *,
    protocol: int = 6,
    source: str = CLIENT6,
    destination: str = BROKER6,
    length: int | None = None,
) -> bytes:
    """An IPv6 packet."""
    head = pack(">IHBB", 6 << 28, len(payload) if length is None else length, protocol, 64)
    return head + ip_address(source).packed + ip_address(destination).packed + payload


def ethernet(payload: bytes, *, ethertype: int = 0x0800) -> bytes:
    """An Ethernet frame."""
    return MACS + pack(">H", ethertype) + payload


def udp_packet(source: str, destination: str, payload: bytes, *, time: int = 0, interface: str = "") -> Packet:
    """A datagram from one address:port to another; `time` in nanoseconds."""
    (host, port), (other, other_port) = _end(source), _end(destination)
    content = udp(payload, source=port, destination=other_port)
    data = ethernet(ipv4(content, protocol=17, source=host, destination=other))
    return Packet(time, data, len(data), interface)


class TcpConnection:
    """Makes the packets of one TCP connection, each a millisecond after the one before.

    `client` and `broker` are address:port. A side is 0 for the client, 1 for the broker. `start`: the time of the first
    packet, in milliseconds; `next`: the sequence number that each side sends next; `snap`: so many bytes of each packet
    are kept.
    """

    def __init__(
        self,
        client: str = "10.0.0.1:40000",
        broker: str = "10.0.0.2:9092",
        *,
        start: int = 0,
        sequences: tuple[int, int] = (1000, 5000),
        snap: int | None = None,
    ) -> None:
        self.ends = (client, broker)
        self.next = list(sequences)
        self.time = start * MILLISECOND
        self.packets: list[Packet] = []
        self._snap = snap
        self._identification = 0

    def packet(
        self,
        side: int,
        payload: bytes = b"",
        *,
        flags: int = ACK,
        sequence: int | None = None,
        acknowledgement: int | None = None,
        window: int = 64_000,
        options: bytes = b"",
        interface: str = "",
    ) -> Packet:
        """The next packet of a side, or one with another sequence number; it is not among the packets captured."""
        if sequence is None:
            sequence = self.next[side]
            self.next[side] += len(payload) + bool(flags & SYN) + bool(flags & FIN)
        acknowledged = self.next[1 - side] if acknowledgement is None else acknowledgement
        (host, port), (other, other_port) = _end(self.ends[side]), _end(self.ends[1 - side])
        segment = tcp(
            payload,
            source=port,
            destination=other_port,
            sequence=sequence & 0xFFFFFFFF,
            acknowledgement=acknowledged & 0xFFFFFFFF if flags & ACK else 0,
            flags=flags,
            window=window,
            options=options,
        )
        self._identification += 1
        if ":" in host:
            data = ethernet(ipv6(segment, source=host, destination=other), ethertype=0x86DD)
        else:
            total = 0 if len(segment) > 65_515 else None
            inside = ipv4(
                segment, source=host, destination=other, identification=self._identification & 0xFFFF, total=total
            )
            data = ethernet(inside)
        made = Packet(self.time, data[: self._snap], len(data), interface)
        self.time += MILLISECOND
        return made

    def send(self, side: int, payload: bytes = b"", *, flags: int = ACK) -> Self:
        """A packet that is captured."""
        self.packets.append(self.packet(side, payload, flags=flags))
        return self

    def lose(self, side: int, payload: bytes) -> Self:
        """A packet that is not captured."""
        self.packet(side, payload)
        return self

    def open(self) -> Self:
        """The three packets of the handshake."""
        return self.send(0, flags=SYN).send(1, flags=SYN | ACK).send(0)

    def ask(self, payload: bytes) -> Self:
        """The client sends."""
        return self.send(0, payload, flags=ACK | PSH)

    def answer(self, payload: bytes) -> Self:
        """The broker sends."""
        return self.send(1, payload, flags=ACK | PSH)

    def close(self) -> Self:
        """Both sides end it."""
        return self.send(0, flags=ACK | FIN).send(1, flags=ACK | FIN).send(0)


def translated(packets: Iterable[Packet], old: str, new: str) -> list[Packet]:
    """The same packets with one address:port replaced, as address translation leaves them, 0.1 ms later."""
    return [
        packet._replace(
            data=packet.data[:26] + _replaced(packet.data[26:38], old, new) + packet.data[38:],
            time=packet.time + MILLISECOND // 10,
        )
        for packet in packets
    ]


def _replaced(text: bytes, old: str, new: str) -> bytes:
    """Another end in the 12 bytes of the addresses and ports of IPv4 and TCP."""
    ends = [(text[:4], text[8:10]), (text[4:8], text[10:12])]
    changed = [_packed(new) if end == _packed(old) else end for end in ends]
    return changed[0][0] + changed[1][0] + changed[0][1] + changed[1][1]


def _packed(end: str) -> tuple[bytes, bytes]:
    host, port = _end(end)
    return ip_address(host).packed, port.to_bytes(2, "big")


def _end(text: str) -> tuple[str, int]:
    host, port = text.rsplit(":", 1)
    return host.strip("[]"), int(port)
