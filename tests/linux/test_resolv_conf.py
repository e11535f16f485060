"""Resolver configurations and the names they make of a name."""

import pytest

from netdiag.linux.resolv_conf import ResolvConf, parse_resolv_conf


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
