"""The kernel's answers in a namespace, as they came, and the values that the decoders make of them."""

import ctypes
import errno
import os
import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from netdiag.io.kernel.netlink import ROUTE, SOCK_DIAG, Channel, Refused
from netdiag.linux.netlink.addresses import (
    decode_address,
    decode_fdb_entry,
    decode_neighbour,
    request_addresses,
    request_fdb,
    request_neighbours,
    request_proxy_neighbours,
)
from netdiag.linux.netlink.links import decode_bridge_vlans, decode_link, request_bridge_vlans, request_links
from netdiag.linux.netlink.routes import decode_route, decode_routing_rule, request_routes, request_routing_rules
from netdiag.linux.netns import Netns
from netdiag.linux.sockets import Protocol, decode_listener, request_listeners
from netdiag.topology.inventory import NamespaceFacts

# What was asked for -> the payloads that came.
Dumps = Mapping[str, tuple[bytes, ...]]

_NEW_NETWORK = 0x40000000

REQUESTS: Mapping[str, bytes] = {
    "links": request_links(),
    "addresses": request_addresses(),
    "routes": request_routes(),
    "rules": request_routing_rules(),
    "neighbours": request_neighbours(),
    "proxied": request_proxy_neighbours(),
    "forwarding": request_fdb(),
    "vlans": request_bridge_vlans(),
}
SOCKETS: Mapping[str, tuple[Protocol, int]] = {
    f"{protocol.value}{family}": (protocol, family) for protocol in Protocol for family in (4, 6)
}

T = TypeVar("T")


def read_dumps(descriptor: int) -> Dumps:
    """Every answer of the namespace behind `descriptor`."""
    return inside(descriptor, _all_dumps)


def read_facts(descriptor: int) -> NamespaceFacts:
    """The namespace behind `descriptor`, read with the decoders alone."""
    return facts(read_dumps(descriptor), inode=os.fstat(descriptor).st_ino)


def facts(dumps: Dumps, *, inode: int = 0) -> NamespaceFacts:
    """What the decoders make of these answers."""
    neighbours = (*dumps["neighbours"], *dumps["proxied"])
    listeners = [
        decode_listener(payload, protocol) for name, (protocol, _) in SOCKETS.items() for payload in dumps.get(name, ())
    ]
    return NamespaceFacts(
        netns=Netns(inode=inode),
        links=tuple(decode_link(payload) for payload in dumps["links"]),
        addresses=_known([decode_address(payload) for payload in dumps["addresses"]]),
        routes=_known([decode_route(payload) for payload in dumps["routes"]]),
        rules=_known([decode_routing_rule(payload) for payload in dumps["rules"]]),
        neighbours=_known([decode_neighbour(payload) for payload in neighbours]),
        fdb=_known([decode_fdb_entry(payload) for payload in dumps["forwarding"]]),
        vlans=tuple(vlan for payload in dumps["vlans"] for vlan in decode_bridge_vlans(payload)),
        listeners=_known(listeners),
    )


def _known(values: list[T | None]) -> tuple[T, ...]:
    return tuple(value for value in values if value is not None)


def inside(descriptor: int, work: Callable[[], T]) -> T:
    """In a thread that enters the namespace and ends with the work."""
    given: list[T] = []
    failed: list[BaseException] = []

    def enter() -> None:
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(descriptor, _NEW_NETWORK) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            given.append(work())
        except BaseException as error:  # noqa: BLE001 - handed on to the caller
            failed.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return given[0]


def _all_dumps() -> Dumps:
    found: dict[str, tuple[bytes, ...]] = {}
    with Channel(ROUTE) as channel:
        for name, request in REQUESTS.items():
            found[name] = _dump(channel, request)
    with Channel(SOCK_DIAG) as channel:
        for name, (protocol, family) in SOCKETS.items():
            found[name] = _dump(channel, request_listeners(protocol, family))
    return found


def _dump(channel: Channel, request: bytes) -> tuple[bytes, ...]:
    """The payloads of one whole answer."""
    try:
        return tuple(channel.payloads(request))
    except Refused as error:
        if error.number != errno.EOPNOTSUPP:
            raise
        return ()
