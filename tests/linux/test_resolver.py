"""Resolver configurations and the names they make of a name."""

import pytest

from netdiag.linux.resolver import DnsAnswer, Lookup, ResolvConf, parse_hosts, parse_resolv_conf


def test_a_containers_file() -> None:
    found = parse_resolv_conf("nameserver 127.0.0.11\noptions ndots:0\n")
    assert found == ResolvConf(nameservers=("127.0.0.11",), ndots=0)


def test_everything() -> None:
    text = """
; comment
# nameserver 1.1.1.1
domain old.test
search a.test. b.test
nameserver 10.0.0.1
nameserver nonsense
nameserver 2001:db8::1
nameserver 10.0.0.3
nameserver 10.0.0.4
options timeout:99 attempts:9 ndots:99 rotate edns0
"""
    assert parse_resolv_conf(text) == ResolvConf(
        nameservers=("10.0.0.1", "2001:db8::1", "10.0.0.3"),
        search=("a.test", "b.test"),
        ndots=15,
        timeout=30,
        attempts=5,
    )


def test_without_servers_the_machine_itself_is_asked() -> None:
    assert parse_resolv_conf("") == ResolvConf(nameservers=("127.0.0.1",))


@pytest.mark.parametrize("options", ["options timeout:0 attempts:0", "options timeout:x", "options"])
def test_odd_options(options: str) -> None:
    found = parse_resolv_conf(options)
    assert found.timeout >= 1
    assert found.attempts >= 1


@pytest.mark.parametrize(
    ("name", "ndots", "expected"),
    [
        ("kafka", 1, ("kafka.a.test", "kafka.b.test", "kafka")),
        ("kafka", 0, ("kafka", "kafka.a.test", "kafka.b.test")),
        ("kafka.x", 1, ("kafka.x", "kafka.x.a.test", "kafka.x.b.test")),
        ("kafka.", 1, ("kafka",)),
    ],
)
def test_candidates(name: str, ndots: int, expected: tuple[str, ...]) -> None:
    assert ResolvConf(search=("a.test", "b.test"), ndots=ndots).candidates(name) == expected


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


@pytest.mark.parametrize(
    ("answer", "lookup", "word"),
    [
        (DnsAnswer(rcode=0, addresses=("10.0.0.1",)), Lookup.FOUND, "no address record"),
        (DnsAnswer(rcode=0), Lookup.NO_ADDRESS, "no address record"),
        (DnsAnswer(rcode=3), Lookup.NO_SUCH_NAME, "NXDOMAIN"),
        (DnsAnswer(rcode=2), Lookup.SERVER_FAILED, "SERVFAIL"),
        (DnsAnswer(rcode=5), Lookup.SERVER_FAILED, "REFUSED"),
        (DnsAnswer(rcode=11), Lookup.SERVER_FAILED, "RCODE 11"),
    ],
)
def test_meaning(answer: DnsAnswer, lookup: Lookup, word: str) -> None:
    assert (answer.lookup, answer.word) == (lookup, word)
