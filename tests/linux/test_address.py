"""Links and addresses of a namespace, from literals."""

from netdiag.linux.address import InterfaceAddress, outside_addresses
from netdiag.linux.link import Link


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
