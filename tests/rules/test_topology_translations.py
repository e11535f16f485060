"""Where NAT rules send connections."""

import pytest

from netdiag.rules.topology_translations import device_towards, translations
from netdiag.rules.topology_words import parsed
from netdiag.topology.inventory import LinkId, NamespaceFacts
from tests.rules.topology_recorded import Recorded


def facts_of(text: str) -> NamespaceFacts:
    return Recorded(text).topology.inventory.namespaces[100]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            "-A DOCKER ! -i br-1 -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:19092",
            ("172.20.0.2", 19092, 9092, "tcp"),
        ),
        ("-A DOCKER -p udp --dport 53 -j DNAT --to-destination 10.0.0.1", ("10.0.0.1", 53, 53, "udp")),
        ("-A DOCKER -p tcp --dport 5:9 -j DNAT --to-destination 10.0.0.1", ("10.0.0.1", None, 5, "tcp")),
        ("-A DOCKER_OUTPUT -p tcp --dport 53 -j DNAT --to-destination 127.0.0.11:44321", None),
        ("-A POSTROUTING -j MASQUERADE", None),
    ],
)
def test_the_target_of_a_rule(rule: str, told: tuple[object, ...] | None) -> None:
    found = [
        (str(each.address), each.port, each.published[0], each.protocol)
        for each in translations(facts_of(f"places: {{host: {{nat: ['{rule}']}}}}"))
    ]
    assert found == ([] if told is None else [told])


def test_the_most_exact_route_tells_the_device() -> None:
    facts = facts_of(
        "places: {host: {links: {eth0: {addresses: [192.0.2.1/24]}, br: {kind: bridge, addresses: [172.20.0.1/16]}}, "
        "gateway: 192.0.2.254, routes: [{to: 172.20.9.0/24, dev: eth0, via: 192.0.2.9}]}}"
    )
    told = {
        text: device_towards(facts, address)
        for text in ("172.20.0.2", "172.20.9.9", "8.8.8.8", "192.0.2.7")
        if (address := parsed(text)) is not None
    }
    assert told == {
        "172.20.0.2": LinkId(netns=100, ifindex=3),
        "172.20.9.9": None,
        "8.8.8.8": None,
        "192.0.2.7": LinkId(netns=100, ifindex=2),
    }
