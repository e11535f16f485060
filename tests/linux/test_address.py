"""Links and addresses of a namespace: from literals, and against iproute2."""

import json
import subprocess

import pytest

from netdiag.io.host_addresses import _dump
from netdiag.io.netns import open_namespace
from netdiag.linux.address import (
    RTM_GETADDR,
    RTM_GETLINK,
    InterfaceAddress,
    Link,
    dump_ended,
    outside_addresses,
    parse_addresses,
    parse_links,
)
from netdiag.linux.netns import NamedNamespace
from tests.io.namespaces import ip, joined_namespaces


def link(ifindex: int, ifname: str, *, up: bool = True, loopback: bool = False) -> Link:
    return Link(ifindex=ifindex, ifname=ifname, kind="", up=up, loopback=loopback)


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


@pytest.mark.parametrize("datagram", [b"", b"\0" * 15, b"\0" * 16, b"\xff" * 64, bytes(range(64))])
def test_bytes_that_are_no_dump(datagram: bytes) -> None:
    assert parse_links([datagram]) == ()
    assert parse_addresses([datagram]) == ()
    assert not dump_ended(datagram)


def test_the_same_as_iproute2() -> None:
    with joined_namespaces() as pair, open_namespace(NamedNamespace(name=pair.near)) as namespace:
        ip("-n", pair.near, "link", "add", "br-x", "type", "bridge")
        ip("-n", pair.near, "address", "add", "172.30.0.1/16", "dev", "br-x")
        ip("-n", pair.near, "address", "add", "2001:db8::1/64", "dev", "eth0", "nodad")
        links = parse_links(_dump(namespace, RTM_GETLINK))
        addresses = parse_addresses(_dump(namespace, RTM_GETADDR))
        told = json.loads(
            subprocess.run(
                ["ip", "-n", pair.near, "-d", "-j", "address"], check=True, capture_output=True, text=True
            ).stdout
        )
    assert {(k.ifindex, k.ifname, k.kind, k.up) for k in links} == {
        (t["ifindex"], t["ifname"], t.get("linkinfo", {}).get("info_kind", ""), "UP" in t["flags"]) for t in told
    }
    assert {(a.ifindex, a.address, a.prefix_length) for a in addresses} == {
        (t["ifindex"], info["local"], info["prefixlen"]) for t in told for info in t["addr_info"]
    }
