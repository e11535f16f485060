"""Rules in the words of nft."""

from netdiag.linux.nftables.expressions import decode_expressions
from netdiag.linux.nftables.rule_text import native_text
from tests.linux.nftables.building import TCP_PORT_80, verdict


def test_a_rule_has_a_text() -> None:
    found = decode_expressions(memoryview(b"".join((*TCP_PORT_80, verdict(1)))), "ip")[0]
    assert native_text(found, family="ip", sets=())
