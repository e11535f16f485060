"""Ethernet packets with TCP from few words, the conversation of a client with a broker, capture files, for tests."""

import struct
from ipaddress import ip_address

from netdiag.traffic.engine.packet import ACK, FIN, PSH, SYN, Packet

ETHERNET = 1
MILLISECOND = 1_000_000


def tcp_packet(
    source: str,
    destination: str,
    *,
    sequence: int = 0,
    acknowledgement: int = 0,
    flags: int = ACK,
    payload: bytes = b"",
    time: int = 0,
    number: int = 1,
    interface: str = "",
    snap: int = 65_535,
) -> Packet:
    """A packet; `time` in milliseconds, `snap` bytes of it are kept."""
    (source_host, source_port), (host, port) = (end.rsplit(":", 1) for end in (source, destination))
    tcp = struct.pack(">HHIIBBHHH", int(source_port), int(port), sequence, acknowledgement, 0x50, flags, 64_000, 0, 0)
    addresses = ip_address(source_host).packed + ip_address(host).packed
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(payload), number & 0xFFFF, 0x4000, 64, 6, 0) + addresses
    data = bytes(12) + b"\x08\x00" + ip + tcp + payload
    return Packet(
        time=time * MILLISECOND,
        link_type=ETHERNET,
        interface=interface,
        data=memoryview(data[:snap]),
        length=len(data),
        number=number,
        file=0,
    )


def udp_packet(source: str, destination: str, payload: bytes, *, time: int = 0, number: int = 1) -> Packet:
    """A packet; `time` in milliseconds."""
    (source_host, source_port), (host, port) = (end.rsplit(":", 1) for end in (source, destination))
    udp = struct.pack(">HHHH", int(source_port), int(port), 8 + len(payload), 0)
    addresses = ip_address(source_host).packed + ip_address(host).packed
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(payload), number & 0xFFFF, 0x4000, 64, 17, 0) + addresses
    data = bytes(12) + b"\x08\x00" + ip + udp + payload
    return Packet(
        time=time * MILLISECOND,
        link_type=ETHERNET,
        interface="",
        data=memoryview(data),
        length=len(data),
        number=number,
        file=0,
    )


class Talker:
    """Makes the packets of one TCP connection; each takes a millisecond."""

    def __init__(self, client: str = "10.0.0.1:40000", broker: str = "10.0.0.2:9092", *, start: int = 0) -> None:
        self.ends = (client, broker)
        self.next = [1000, 5000]
        self.time = start
        self.packets: list[Packet] = []

    def open(self) -> "Talker":
        """The three packets of the handshake."""
        self._send(0, SYN, b"")
        self.next[0] += 1
        self._send(1, SYN | ACK, b"")
        self.next[1] += 1
        return self._send(0, ACK, b"")

    def ask(self, payload: bytes) -> "Talker":
        """The client sends."""
        return self._send(0, ACK | PSH, payload)

    def answer(self, payload: bytes) -> "Talker":
        """The broker sends."""
        return self._send(1, ACK | PSH, payload)

    def close(self) -> "Talker":
        """Both sides end it."""
        self._send(0, ACK | FIN, b"")
        self.next[0] += 1
        self._send(1, ACK | FIN, b"")
        self.next[1] += 1
        return self._send(0, ACK, b"")

    def _send(self, side: int, flags: int, payload: bytes) -> "Talker":
        self.packets.append(
            tcp_packet(
                self.ends[side],
                self.ends[1 - side],
                sequence=self.next[side],
                acknowledgement=self.next[1 - side] if flags & ACK else 0,
                flags=flags,
                payload=payload,
                time=self.time,
                number=len(self.packets) + 1,
            )
        )
        self.next[side] += len(payload)
        self.time += 1
        return self


def translated(packets: list[Packet], old: str, new: str) -> list[Packet]:
    """The same packets with one address:port replaced, as address translation leaves them, 0.1 ms later."""
    return [
        packet._replace(
            data=memoryview(bytes(packet.data[:26]) + _ends(bytes(packet.data[26:38]), old, new) + packet.data[38:]),
            time=packet.time + MILLISECOND // 10,
        )
        for packet in packets
    ]


def pcap_file(packets: list[Packet], snap: int = 65_535) -> bytes:
    """A capture file with nanoseconds."""
    records = (
        struct.pack("<IIII", *divmod(packet.time, 1_000_000_000), min(len(packet.data), snap), packet.length)
        + bytes(packet.data[:snap])
        for packet in packets
    )
    return struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap, ETHERNET) + b"".join(records)


def _ends(text: bytes, old: str, new: str) -> bytes:
    """Replace an end in the 12 bytes of addresses and ports."""
    ends = [(text[:4], text[8:10]), (text[4:8], text[10:12])]
    changed = [_packed(new) if end == _packed(old) else end for end in ends]
    return changed[0][0] + changed[1][0] + changed[0][1] + changed[1][1]


def _packed(end: str) -> tuple[bytes, bytes]:
    host, port = end.rsplit(":", 1)
    return ip_address(host).packed, int(port).to_bytes(2, "big")
