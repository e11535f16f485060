"""The links and addresses of a namespace, asked of the kernel over rtnetlink."""

import socket

from netdiag.errors import NetdiagError
from netdiag.io.kernel.netlink import ROUTE, Channel
from netdiag.io.kernel.netns import Namespace
from netdiag.linux.netlink.addresses import decode_address, request_addresses
from netdiag.linux.netlink.links import decode_link, request_links
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.rtnetlink import InterfaceAddress, Link, outside_addresses


def host_addresses(namespace: Namespace, bridges: frozenset[str]) -> tuple[str, ...]:
    """Its addresses but loopback, link-local ones and those of `bridges`; none where the kernel does not tell."""
    try:
        return outside_addresses(read_links(namespace), read_addresses(namespace), bridges=bridges)
    except (OSError, NetdiagError, Malformed):
        return ()


def read_links(namespace: Namespace) -> tuple[Link, ...]:
    """Every device of the namespace; Refused or OSError where the kernel does not answer."""
    return tuple(decode_link(payload) for payload in _dump(namespace, request_links()))


def read_addresses(namespace: Namespace) -> tuple[InterfaceAddress, ...]:
    """Every address of the namespace; Refused or OSError where the kernel does not answer."""
    found = (decode_address(payload) for payload in _dump(namespace, request_addresses()))
    return tuple(address for address in found if address is not None)


def _dump(namespace: Namespace, request: bytes) -> list[bytes]:
    made = namespace.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    with Channel(ROUTE, made) as channel:
        return channel.payloads(request)
