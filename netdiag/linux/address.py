"""The addresses of a network namespace, in the words of rtnetlink(7)."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from netdiag.linux.link import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceAddress:
    """An address with its prefix length on a device; `scope` 0 is global, 253 link, 254 host.

    `peer` is the other end of a point-to-point link, "" for none; `flags` are IFA_F_* (linux/if_addr.h).
    """

    ifindex: int
    address: str
    prefix_length: int
    scope: int
    peer: str = ""
    broadcast: str = ""
    label: str = ""
    flags: int = 0


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
