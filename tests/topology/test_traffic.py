"""Captured connections laid over a bridge with two containers."""

from dataclasses import replace
from typing import Any

import pytest

from netdiag.linux.netns import Netns
from netdiag.linux.rtnetlink import InterfaceAddress, Link
from netdiag.topology.graph import Cable, CableKind, Place, PlaceKind, Topology
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts
from netdiag.topology.traffic import with_traffic
from netdiag.traffic.rows import ConnectionRow

HOST, BROKER, CLIENT = 1, 2, 3
BRIDGE, TO_BROKER, TO_CLIENT = (LinkId(netns=HOST, ifindex=index) for index in (10, 11, 12))
IN_BROKER, IN_CLIENT = LinkId(netns=BROKER, ifindex=2), LinkId(netns=CLIENT, ifindex=2)


def namespace(inode: int, links: dict[int, str], addresses: dict[int, str]) -> NamespaceFacts:
    return NamespaceFacts(
        netns=Netns(inode=inode),
        links=(Link(ifindex=1, ifname="lo", flags=0x9), *(Link(ifindex=i, ifname=n) for i, n in links.items())),
        addresses=(
            InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),
            *(InterfaceAddress(ifindex=i, address=a, prefix_length=24, scope=0) for i, a in addresses.items()),
        ),
    )


TOPOLOGY = Topology(
    inventory=Inventory(
        namespaces={
            HOST: namespace(HOST, {10: "br-a", 11: "veth1", 12: "veth2"}, {10: "172.20.0.1"}),
            BROKER: namespace(BROKER, {2: "eth0"}, {2: "172.20.0.2"}),
            CLIENT: namespace(CLIENT, {2: "eth0"}, {2: "172.20.0.3"}),
        },
        own=HOST,
    ),
    places=(
        Place(netns=HOST, kind=PlaceKind.HOST, name="host", label="host"),
        Place(netns=BROKER, kind=PlaceKind.CONTAINER, name="kafka", label="kafka"),
        Place(netns=CLIENT, kind=PlaceKind.CONTAINER, name="app", label="app"),
    ),
    cables=(
        Cable(kind=CableKind.PORT, a=TO_BROKER, b=BRIDGE),
        Cable(kind=CableKind.PORT, a=TO_CLIENT, b=BRIDGE),
        Cable(kind=CableKind.VETH, a=TO_BROKER, b=IN_BROKER),
        Cable(kind=CableKind.VETH, a=TO_CLIENT, b=IN_CLIENT),
    ),
    host="host",
)
SAID: dict[str, Any] = {
    "client": "172.20.0.3:40000",
    "broker": "172.20.0.2:9092",
    "opening": "complete",
    "ending": "fin",
    "protocol": "kafka",
    "requests": 5,
    "responses": 4,
    "client_bytes": 100,
    "broker_bytes": 700,
    "retransmissions": 1,
    "file": "a.pcapng",
}
REST: dict[str, Any] = {name: 0 if kind is int else None for name, kind in ConnectionRow.__annotations__.items()}
ROW = ConnectionRow(**REST | SAID)
EVERYWHERE = {BRIDGE, TO_BROKER, TO_CLIENT, IN_BROKER, IN_CLIENT}


def test_both_ends_their_cables_and_the_bridge_once() -> None:
    found = with_traffic(TOPOLOGY, [ROW, ROW]).traffic
    assert set(found) == EVERYWHERE
    for each in found.values():
        assert (each.connections, each.failed, each.requests, each.responses) == (2, 0, 10, 8)
        assert (each.request_bytes, each.response_bytes, each.retransmissions) == (200, 1400, 2)
        assert not each.captured


@pytest.mark.parametrize(
    ("name", "link"), [("kafka:eth0", IN_BROKER), ("host:br-a", BRIDGE), ("veth2", TO_CLIENT), ("eth0", None)]
)
def test_where_it_was_captured(name: str, link: LinkId | None) -> None:
    found = with_traffic(TOPOLOGY, [ROW._replace(client="10.0.0.9:1", broker="10.0.0.8:2", interfaces=(name,))]).traffic
    assert {each for each, sum_ in found.items() if sum_.captured} == ({link} if link else set())
    assert set(found) == ({link} if link else set())


def test_an_address_behind_nat_is_told_by_where_it_was_also_seen() -> None:
    row = ROW._replace(broker="192.168.8.133:19092", seen_as=("172.20.0.1:40000>172.20.0.2:9092 on host:br-a",))
    assert set(with_traffic(TOPOLOGY, [row]).traffic) == EVERYWHERE
    assert set(with_traffic(TOPOLOGY, [row._replace(seen_as=None)]).traffic) == {IN_CLIENT, TO_CLIENT, BRIDGE}


def test_loopback_tells_nothing_and_neither_does_an_address_of_two() -> None:
    lo = ROW._replace(client="127.0.0.1:1", broker="127.0.0.1:9092")
    assert with_traffic(TOPOLOGY, [lo]).traffic == {}
    again = namespace(4, {2: "eth0"}, {2: "172.20.0.2"})
    twice = replace(TOPOLOGY, inventory=Inventory(namespaces={**TOPOLOGY.inventory.namespaces, 4: again}, own=HOST))
    assert set(with_traffic(twice, [ROW]).traffic) == {IN_CLIENT, TO_CLIENT, BRIDGE}


def test_only_kafka_and_what_was_meant_for_a_listener() -> None:
    other = ROW._replace(protocol="http")
    assert with_traffic(TOPOLOGY, [other]).traffic == {}
    refused = ROW._replace(protocol="none", opening="refused", listener="EXTERNAL", requests=0)
    assert {each.failed for each in with_traffic(TOPOLOGY, [refused]).traffic.values()} == {1}
