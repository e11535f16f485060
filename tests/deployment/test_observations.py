"""Addresses as clients write them."""

import pytest

from netdiag.deployment.model.contact import Address, NodeEndpoint


@pytest.mark.parametrize(("host", "text"), [("kafka", "kafka:1"), ("::1", "[::1]:1"), ("10.0.0.1", "10.0.0.1:1")])
def test_address(host: str, text: str) -> None:
    assert str(Address(host=host, port=1)) == text
    assert NodeEndpoint(node_id=7, host=host, port=1).address == Address(host=host, port=1)
