"""Protocols by name and number."""

from netdiag.linux.ruleset import protocol_number, protocol_word


def test_names_and_numbers() -> None:
    assert [protocol_number(name) for name in ("udp", "132", "999", "odd", "icmpv6")] == [17, 132, None, None, 58]
    assert [protocol_word(number) for number in (6, 58, 254)] == ["tcp", "ipv6-icmp", "254"]
