"""The kernel's answers in a namespace, as they came, and the values that the decoders make of them."""

import ctypes
import os
import socket
import threading
from collections.abc import Callable, Mapping
from typing import TypeVar

from netdiag.linux.netlink.addresses import decode_address, request_addresses
from netdiag.linux.netlink.bridge_vlans import decode_bridge_vlans, request_bridge_vlans
from netdiag.linux.netlink.forwarding import decode_forwarding, request_forwarding
from netdiag.linux.netlink.links import decode_link, request_links
from netdiag.linux.netlink.messages import MessageType, decode_refusal, messages
from netdiag.linux.netlink.neighbours import decode_neighbour, request_neighbours, request_proxy_neighbours
from netdiag.linux.netlink.routes import decode_route, request_routes
from netdiag.linux.netlink.rules import decode_rule, request_rules
from netdiag.linux.netlink.sockets import decode_listener, request_listeners
from netdiag.linux.netns import Netns
from netdiag.linux.socket import Protocol
from netdiag.topology.inventory import NamespaceFacts

# What was asked for -> the payloads that came.
Dumps = Mapping[str, tuple[bytes, ...]]

_ROUTE, _SOCK_DIAG = 0, 4
_SOL_NETLINK, _GET_STRICT_CHK = 270, 12
_NEW_NETWORK = 0x40000000
_EOPNOTSUPP = 95
_LARGEST = 1 << 20

REQUESTS: Mapping[str, bytes] = {
    "links": request_links(),
    "addresses": request_addresses(),
    "routes": request_routes(),
    "rules": request_rules(),
    "neighbours": request_neighbours(),
    "proxied": request_proxy_neighbours(),
    "forwarding": request_forwarding(),
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
        rules=_known([decode_rule(payload) for payload in dumps["rules"]]),
        neighbours=_known([decode_neighbour(payload) for payload in neighbours]),
        fdb=_known([decode_forwarding(payload) for payload in dumps["forwarding"]]),
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
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _ROUTE) as one:
        one.setsockopt(_SOL_NETLINK, _GET_STRICT_CHK, 1)
        for name, request in REQUESTS.items():
            found[name] = _dump(one, request)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as one:
        for name, (protocol, family) in SOCKETS.items():
            found[name] = _dump(one, request_listeners(protocol, family))
    return found


def _dump(one: socket.socket, request: bytes) -> tuple[bytes, ...]:
    """The payloads of one whole answer; asked for again as long as the table changes under it."""
    while True:
        one.send(request)
        payloads, whole = [], True
        ended = False
        while not ended:
            for message in messages(one.recv(_LARGEST)):
                whole = whole and not message.interrupted
                if message.type in (MessageType.DONE, MessageType.ERROR):
                    refusal = decode_refusal(message)
                    assert refusal.errno in (0, _EOPNOTSUPP), refusal
                    ended = True
                else:
                    payloads.append(bytes(message.payload))
        if whole:
            return tuple(payloads)
