"""Addresses as users write them."""

import pytest

from netdiag.deployment.model.verdict import Address, parse_address, parse_bootstraps
from netdiag.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("broker-1:9092", ("broker-1", 9092)),
        ("[::1]:9092", ("::1", 9092)),
        ("172.18.0.2:1", ("172.18.0.2", 1)),
        ("[broker]:65535", ("broker", 65535)),
    ],
)
def test_addresses(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == Address(host=expected[0], port=expected[1])


@pytest.mark.parametrize("text", ["broker", "broker:", ":9092", "::1:9092", "a:0", "a:65536", "a:x", "a:٣"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kafka:9092", [("kafka", 9092)]),
        ("a:1,b:2, a:1", [("a", 1), ("b", 2)]),
        ("[::1]:9092", [("::1", 9092)]),
        ("PLAINTEXT://a:1,SSL://[fd00::1]:2", [("a", 1), ("fd00::1", 2)]),
    ],
)
def test_bootstraps(text: str, expected: list[tuple[str, int]]) -> None:
    assert parse_bootstraps(text) == tuple(Address(host=host, port=port) for host, port in expected)


@pytest.mark.parametrize("text", ["", ",", "a", "a:", "::1:9092", "a:1,b", "a:70000", ",".join(["a:1"] * 101)])
def test_what_is_no_list_of_bootstraps(text: str) -> None:
    with pytest.raises(UsageError):
        parse_bootstraps(text)
