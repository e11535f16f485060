"""Values of rtnetlink: flags of links, addresses for other machines, details that survive JSON."""

import json
from dataclasses import asdict

from netdiag.linux.rtnetlink import IFF_LOOPBACK, IFF_LOWER_UP, IFF_UP, InterfaceAddress, Link, outside_addresses
from tests.netlab.dumps import facts
from tests.netlab.record import recordings


def test_switches() -> None:
    assert Link(ifindex=1, ifname="lo", flags=IFF_UP | IFF_LOOPBACK).loopback
    dangling = Link(ifindex=2, ifname="eth0", flags=IFF_UP)
    assert (dangling.up, dangling.carrier, dangling.loopback) == (True, False, False)
    assert Link(ifindex=2, ifname="eth0", flags=IFF_LOWER_UP).carrier


def test_every_detail_of_a_link_survives_json() -> None:
    links = [link for one in recordings() for link in facts(one.dumps).links]
    assert sum(bool(link.details) for link in links) > 40
    for link in links:
        printed = json.loads(json.dumps(asdict(link)))
        assert (printed["details"], printed["port"]) == (link.details, link.port)


def link(ifindex: int, ifname: str, *, up: bool = True, loopback: bool = False) -> Link:
    return Link(ifindex=ifindex, ifname=ifname, kind="", flags=up * 0x1 | loopback * 0x8)


def address(ifindex: int, text: str) -> InterfaceAddress:
    return InterfaceAddress(ifindex=ifindex, address=text, prefix_length=24, scope=0)


def test_what_other_machines_know() -> None:
    links = [link(1, "lo", loopback=True), link(2, "eth0"), link(3, "down", up=False), link(4, "br-1")]
    addresses = [
        address(1, "127.0.0.1"),
        address(1, "10.9.9.9"),
        address(2, "fe80::1"),
        address(2, "2001:db8::5"),
        address(2, "192.168.8.133"),
        address(2, "192.168.8.133"),
        address(3, "10.0.0.3"),
        address(4, "172.18.0.1"),
    ]
    assert outside_addresses(links, addresses, bridges=frozenset({"br-1"})) == ("192.168.8.133", "2001:db8::5")


def test_every_detail_of_a_forwarding_entry_survives_json() -> None:
    entries = [entry for one in recordings() for entry in facts(one.dumps).fdb]
    assert {"port", "vni", "via"} <= {name for entry in entries for name in entry.details}
    for entry in entries:
        assert json.loads(json.dumps(asdict(entry)))["details"] == entry.details


def test_every_detail_of_a_route_survives_json() -> None:
    found = [one for recording in recordings() for one in facts(recording.dumps).routes]
    assert any(one.details.get("nhid") for one in found)
    assert any(one.details.get("encap") for one in found)
    for one in found:
        printed = json.loads(json.dumps(asdict(one)))
        assert (printed["metrics"], printed["details"]) == (one.metrics, one.details)
    for rule in (one for recording in recordings() for one in facts(recording.dumps).rules):
        assert json.loads(json.dumps(asdict(rule)))["details"] == rule.details
