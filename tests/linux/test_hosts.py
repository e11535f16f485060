"""Hosts files."""

from netdiag.linux.hosts import parse_hosts

# What engine 20.10 writes into a container.
CONTAINER = """127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
fe00::0	ip6-localnet
172.18.0.5	c84ae2429ac2 # own name
10.0.0.1	db DB.example.
"""


def test_names_have_their_addresses_in_order() -> None:
    hosts = parse_hosts(CONTAINER)
    assert hosts.lookup("localhost") == ("127.0.0.1", "::1")
    assert hosts.lookup("C84AE2429AC2") == ("172.18.0.5",)
    assert hosts.lookup("db.example") == hosts.lookup("db.example.") == ("10.0.0.1",)
    assert hosts.lookup("own") == hosts.lookup("#") == ()


def test_what_is_no_entry_is_ignored() -> None:
    assert parse_hosts("nonsense name\n127.0.0.1\n\n#127.0.0.1 x\n\0\n").addresses == {}
