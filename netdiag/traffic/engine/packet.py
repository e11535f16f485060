"""What the stages of the engine hand to each other about packets."""

from typing import NamedTuple, TypeAlias

Content: TypeAlias = bytes | memoryview
"""Bytes of a capture file, wherever they lie."""


class Packet(NamedTuple):
    """A packet as a capture file holds it.

    `time`: nanoseconds since 1970 UTC. `link_type`: number of the registry of link-layer header types (1 Ethernet).
    `interface`: name or number of the interface, "" where the file does not say. `data`: the bytes kept, of the
    `length` that the packet had on the wire. `number`: from 1 in its file, as Wireshark counts. `file`: which file,
    an index into the list of files that are read together.
    """

    time: int
    link_type: int
    interface: str
    data: memoryview
    length: int
    number: int
    file: int


class Segment(NamedTuple):
    """A TCP segment.

    Addresses are their 4 or 16 bytes. `payload`: what was kept of the `length` payload bytes on the wire.
    `identification`: of the IPv4 header, else -1. `window` is not scaled; `window_scale` is -1 without
    the option (SYN only). `context`: what the addresses are to be understood in, usually b"": of each VLAN and numbered
    tunnel, outermost first, a letter and four bytes (see `walk`), so that of a packet seen inside of an overlay is the
    end of that of the same packet seen outside.
    """

    time: int
    source: bytes
    destination: bytes
    source_port: int
    destination_port: int
    sequence: int
    acknowledgement: int
    flags: int
    window: int
    payload: memoryview
    length: int
    identification: int
    window_scale: int
    context: bytes
    interface: str
    number: int
    file: int


FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


class Datagram(NamedTuple):
    """A UDP datagram, kept for its DNS."""

    time: int
    source: bytes
    destination: bytes
    source_port: int
    destination_port: int
    payload: memoryview
    interface: str
    number: int
    file: int


class Unreachable(NamedTuple):
    """An ICMP error about a TCP segment: whose, and why (type and code of ICMP or ICMPv6)."""

    time: int
    reporter: bytes
    source: bytes
    destination: bytes
    source_port: int
    destination_port: int
    type: int
    code: int
    number: int
    file: int


class Undecoded(NamedTuple):
    """A packet that is none of these: the kind of loss it counts as, with a few words (see table losses)."""

    kind: str
    detail: str
    bytes: int
