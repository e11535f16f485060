"""Addresses as text."""

from ipaddress import ip_address

import pytest

from netdiag.traffic.engine.addresses import endpoint_of_text, endpoint_text


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("10.0.0.1", "10.0.0.1:9092"),
        ("255.255.255.255", "255.255.255.255:9092"),
        ("fe80::1", "[fe80::1]:9092"),
        ("::1", "[::1]:9092"),
        ("::ffff:172.18.0.2", "172.18.0.2:9092"),
    ],
)
def test_an_address_and_its_port(address: str, text: str) -> None:
    assert endpoint_text(ip_address(address).packed, 9092) == text


@pytest.mark.parametrize("address", ["10.0.0.1", "fe80::1"])
def test_both_ways_write_the_same(address: str) -> None:
    assert endpoint_of_text(address, 9092) == endpoint_text(ip_address(address).packed, 9092)
