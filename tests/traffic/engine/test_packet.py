"""The flags are the bits of the TCP header (RFC 9293, section 3.1)."""

from netdiag.traffic.engine.packet import ACK, FIN, PSH, RST, SYN


def test_flags_are_single_bits_in_the_order_of_the_header() -> None:
    assert [1 << place for place in range(5)] == [FIN, SYN, RST, PSH, ACK]
