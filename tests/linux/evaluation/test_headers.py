"""Headers as bytes, as far as they are known."""

from dataclasses import replace

from netdiag.linux.evaluation.bits import known, unknown
from netdiag.linux.evaluation.headers import network_header, read, transport_header
from netdiag.linux.evaluation.packet import ConnectionState, Packet

PACKET = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2", destination_port=80)


def test_ipv4() -> None:
    header = network_header(PACKET)
    assert len(header.value) == 20
    assert read(header, 9, 1) == known(b"\x06")
    assert read(header, 12, 8) == known(bytes([10, 0, 0, 1, 10, 0, 0, 2]))
    assert read(header, 8, 1) == unknown(1)
    assert read(header, 18, 4).known == b"\xff\xff\0\0"


def test_ipv6() -> None:
    header = network_header(replace(PACKET, family=6, source="fd00::1", destination="10.0.0.2"))
    assert len(header.value) == 40
    assert read(header, 8, 16).value[0] == 0xFD
    assert read(header, 24, 16) == unknown(16)


def test_transport() -> None:
    header = transport_header(PACKET)
    assert len(header.value) == 20
    assert read(header, 0, 4).known == b"\0\0\xff\xff"
    assert read(header, 13, 1).value == b"\x02"
    assert read(transport_header(replace(PACKET, state=ConnectionState.ESTABLISHED)), 13, 1) == unknown(1)
    assert read(transport_header(replace(PACKET, protocol="icmp")), 0, 1) == known(b"\x08")
    assert read(transport_header(replace(PACKET, protocol="icmpv6")), 0, 1) == known(b"\x80")
    assert read(transport_header(replace(PACKET, protocol="udp")), 2, 2) == known(b"\0\x50")
    assert transport_header(replace(PACKET, protocol="odd")) == unknown(20)
