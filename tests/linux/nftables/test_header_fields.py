"""Fields of headers by their place."""

from netdiag.linux.nftables.header_fields import field_beginning, field_within, fields_at


def test_one_field_or_several_in_a_row() -> None:
    assert [one.name for one in fields_at("tcp", 16, 16)] == ["dport"]
    assert [one.name for one in fields_at("ip", 96, 64)] == ["saddr", "daddr"]
    assert fields_at("tcp", 17, 16) == ()
    assert fields_at("odd", 0, 8) == ()


def test_parts_of_bytes_and_beginnings_of_addresses() -> None:
    within = field_within("ip", 8, 8, 0xFC)
    assert within is not None
    assert within.name == "dscp"
    assert field_within("ip", 8, 8, 0xF8) is None
    longer = field_beginning("ip", 96, 8)
    assert longer is not None
    assert longer.name == "saddr"
