"""Whose rule it is, by its chain and the bridges that it names."""

import pytest

from netdiag.deployment.mechanism import Mechanism
from netdiag.linux.ruleset import Origin, RuleAddress
from netdiag.topology.causes_rules import devices, named, removal, suspect_of_rule
from tests.topology.failing_cases import failing, shop

BRIDGE = "br-010101010101"
OTHER = "br-020202020202"


def rule(
    text: str, chain: str, table: str = "filter", origin: Origin = Origin.IPTABLES_NFT, number: int = 3
) -> RuleAddress:
    return RuleAddress(family="ip", table=table, chain=chain, number=number, handle=12, text=text, origin=origin)


@pytest.mark.parametrize(
    ("text", "chain", "table", "mechanism"),
    [
        (
            f"-A DOCKER-ISOLATION-STAGE-2 -o {BRIDGE} -j DROP",
            "DOCKER-ISOLATION-STAGE-2",
            "filter",
            Mechanism.NETWORK_ISOLATION,
        ),
        (f"-A PREROUTING -d 172.20.0.2/32 ! -i {BRIDGE} -j DROP", "PREROUTING", "raw", Mechanism.NETWORK_ISOLATION),
        (f"-A FORWARD -i {BRIDGE} -o {BRIDGE} -j DROP", "FORWARD", "filter", Mechanism.ICC_OFF),
        (f"-A DOCKER-FORWARD -i {BRIDGE} -o {BRIDGE} -j DROP", "DOCKER-FORWARD", "filter", Mechanism.ICC_OFF),
        ("-A DOCKER-INTERNAL ! -s 172.20.0.0/16 -j DROP", "DOCKER-INTERNAL", "filter", Mechanism.INTERNAL_EGRESS),
        ("-A DOCKER-USER -p tcp -j DROP", "DOCKER-USER", "filter", Mechanism.HOST_FIREWALL),
        ("-A FORWARD -p tcp --dport 9092 -j DROP", "FORWARD", "filter", Mechanism.HOST_FIREWALL),
        ("-A INPUT -j REJECT --reject-with tcp-reset", "INPUT", "filter", Mechanism.REJECTED),
    ],
)
def test_whose_rule_it_is(text: str, chain: str, table: str, mechanism: Mechanism) -> None:
    found = failing(shop(), "far", "172.20.0.2", 9092)
    assert found.host is not None
    suspect = suspect_of_rule(found, found.host, rule(text, chain, table))
    assert suspect.mechanism is mechanism
    assert text in suspect.evidence[0]


def test_from_outside_it_is_direct_access() -> None:
    found = failing(shop(), "host", "172.20.0.2", 9092)
    assert found.host is not None
    text = f"-A PREROUTING -d 172.20.0.2/32 ! -i {BRIDGE} -j DROP"
    suspect = suspect_of_rule(found, found.host, rule(text, "PREROUTING", "raw"))
    assert suspect.mechanism is Mechanism.DIRECT_ACCESS_DROPPED
    assert "publishes the port" in suspect.remedies[0].text


def test_rules_of_engine_29() -> None:
    found = failing(shop(), "client", "172.20.0.2", 9092)
    assert found.host is not None
    text = f'oifname "{BRIDGE}" counter drop comment "ICC"'
    native = rule(text, f"filter-forward-in__{BRIDGE}", "docker-bridges", Origin.NFTABLES)
    assert suspect_of_rule(found, found.host, native).mechanism in (Mechanism.ICC_OFF, Mechanism.NETWORK_ISOLATION)
    assert set(devices(native)) == {("o", BRIDGE, False), ("i", BRIDGE, False)}


def test_policies_and_words() -> None:
    found = failing(shop(), "client", "172.20.0.2", 9092)
    assert found.host is not None
    forward = rule("-P FORWARD DROP", "FORWARD", number=0)
    assert suspect_of_rule(found, found.host, forward).mechanism is Mechanism.FORWARD_POLICY
    incoming = rule("-P INPUT DROP", "INPUT", number=0)
    assert suspect_of_rule(found, found.host, incoming).mechanism is Mechanism.HOST_FIREWALL
    assert named(rule("", "FORWARD")) == "rule 3 of FORWARD (iptables table filter, handle 12)"
    assert named(forward).startswith("the policy of FORWARD")
    assert removal(rule("", "FORWARD"), "host").endswith("iptables -t filter -D FORWARD 3")
    native = rule("", "f", "own", Origin.NFTABLES)
    assert removal(native, "host").endswith("nft delete rule ip own f handle 12")
