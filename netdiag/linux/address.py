"""The links and addresses of a network namespace, in the words of rtnetlink(7)."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A network device; `kind` is what rtnetlink calls it ("veth", "bridge"), empty for hardware and loopback."""

    ifindex: int
    ifname: str
    kind: str
    up: bool
    loopback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceAddress:
    """An address with its prefix length on a device; `scope` 0 is global, 253 link, 254 host."""

    ifindex: int
    address: str
    prefix_length: int
    scope: int


def outside_addresses(
    links: Iterable[Link], addresses: Iterable[InterfaceAddress], *, bridges: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The addresses by which other machines may know this one, IPv4 first.

    Left out: loopback and link-local addresses, devices that are down, and `bridges`, whose addresses are the
    gateways of container networks.
    """
    usable = {link.ifindex for link in links if link.up and not link.loopback and link.ifname not in bridges}
    found = [ipaddress.ip_address(a.address) for a in addresses if a.ifindex in usable]
    outside = [a for a in dict.fromkeys(found) if not a.is_loopback and not a.is_link_local]
    return tuple(str(a) for a in sorted(outside, key=lambda a: a.version))
