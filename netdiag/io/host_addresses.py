"""The addresses of a namespace by which other machines know it, asked of the kernel over rtnetlink."""

import socket

from netdiag.io.netns import Namespace
from netdiag.linux.address import (
    RTM_GETADDR,
    RTM_GETLINK,
    dump_ended,
    dump_request,
    outside_addresses,
    parse_addresses,
    parse_links,
)

_BUFFER = 128 * 1024


def host_addresses(namespace: Namespace, bridges: frozenset[str]) -> tuple[str, ...]:
    """Its addresses but loopback, link-local ones and those of `bridges`; none where the kernel does not tell."""
    try:
        links = parse_links(dump(namespace, RTM_GETLINK))
        addresses = parse_addresses(dump(namespace, RTM_GETADDR))
    except OSError:
        return ()
    return outside_addresses(links, addresses, bridges=bridges)


def dump(namespace: Namespace, kind: int) -> list[bytes]:
    """The datagrams of one dump, `kind` being RTM_GETLINK or RTM_GETADDR."""
    with namespace.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as channel:
        channel.settimeout(5)
        channel.sendto(dump_request(kind), (0, 0))
        datagrams: list[bytes] = []
        while not datagrams or not dump_ended(datagrams[-1]):
            datagrams.append(channel.recv(_BUFFER))
        return datagrams
