"""The way through the headers of one packet: where it is, what it passed, what comes next.

A layer is a function that reads its header at `position`, moves on and names the next layer, or ends the way with a
result. Layers find each other by number in one table, so that tunnels may lead from any to any.
"""

from collections.abc import Callable

from netdiag.traffic.engine.packet import Datagram, Packet, Segment, Undecoded, Unreachable

Decoded = Segment | Datagram | Unreachable | Undecoded

# The spaces of the numbers of layers: link-layer header types, EtherTypes, IP protocols, UDP ports, PPP protocols.
LINK, ETHERTYPE, PROTOCOL, PORT, PPP = 0x00000, 0x10000, 0x20000, 0x30000, 0x40000
# What the entries of a context are about.
VLAN, GRE, VXLAN, GENEVE, PPPOE = b"v", b"g", b"x", b"n", b"p"


class Walk:
    """`end`: where what the layer holds ends on the wire, perhaps behind the end of `data`.

    `context`: of each VLAN and tunnel that has a number, outermost first, a letter and four bytes; so the context of
    a packet seen inside of an overlay is the end of its context seen outside.
    """

    __slots__ = (
        "context",
        "data",
        "destination",
        "end",
        "identification",
        "interface",
        "next",
        "packet",
        "position",
        "source",
    )

    def __init__(self, packet: Packet) -> None:
        self.packet = packet
        self.data = packet.data
        self.interface = packet.interface
        self.position = 0
        self.end = max(packet.length, len(packet.data))
        self.next = LINK + packet.link_type
        self.context = b""
        self.source = b""
        self.destination = b""
        self.identification = -1

    def has(self, count: int) -> bool:
        """Whether the next `count` bytes are there and belong to this layer."""
        return self.position + count <= min(self.end, len(self.data))

    def short(self, what: str) -> Undecoded:
        """The header does not fit: the capture has cut it off, or the packet is too short for it."""
        kind = "truncated" if len(self.data) < self.end else "damage"
        return Undecoded(kind, what, len(self.data))

    def undecoded(self, kind: str, what: str) -> Undecoded:
        """The way ends here without a segment."""
        return Undecoded(kind, what, len(self.data))

    def pass_through(self, letter: bytes, number: int) -> None:
        """Remember a VLAN or tunnel."""
        self.context += letter + number.to_bytes(4, "big")


Layer = Callable[[Walk], Decoded | None]
