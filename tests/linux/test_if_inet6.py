"""IPv6 addresses of a namespace."""

from netdiag.linux.if_inet6 import parse_if_inet6

TABLE = """00000000000000000000000000000001 01 80 10 80       lo
fe80000000000000042acffffe2b3c41 02 40 20 80     eth0
20010db8000000000000000000000005 02 40 00 80     eth0
"""


def test_addresses() -> None:
    assert parse_if_inet6(TABLE) == ("::1", "fe80::42a:cfff:fe2b:3c41", "2001:db8::5")
    assert parse_if_inet6("") == ()
    assert parse_if_inet6("zz000000000000000000000000000001 lo\nshort\n") == ()
