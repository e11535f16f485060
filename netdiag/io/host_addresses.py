"""The links and addresses of a namespace, asked of the kernel over rtnetlink and decoded by pyroute2.

pyroute2's own sockets for another namespace fork a process each; here the socket is made in the namespace by the
thread that is there, and only the messages are pyroute2's.
"""

import socket
from collections.abc import Iterator
from typing import Any

from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkError
from pyroute2.netlink.rtnl import RTM_GETADDR, RTM_GETLINK
from pyroute2.netlink.rtnl.ifaddrmsg import ifaddrmsg
from pyroute2.netlink.rtnl.ifinfmsg import ifinfmsg
from pyroute2.netlink.rtnl.marshal import MarshalRtnl

from netdiag.io.netns import Namespace
from netdiag.linux.address import InterfaceAddress, outside_addresses
from netdiag.linux.link import Link

_BUFFER = 128 * 1024
_SECONDS = 5


def host_addresses(namespace: Namespace, bridges: frozenset[str]) -> tuple[str, ...]:
    """Its addresses but loopback, link-local ones and those of `bridges`; none where the kernel does not tell."""
    try:
        return outside_addresses(read_links(namespace), read_addresses(namespace), bridges=bridges)
    except (OSError, NetlinkError):
        return ()


def read_links(namespace: Namespace) -> tuple[Link, ...]:
    """Every device of the namespace; OSError where the kernel does not answer."""
    return tuple(
        Link(
            ifindex=message["index"],
            ifname=message.get_attr("IFLA_IFNAME") or "",
            kind=message.get_nested("IFLA_LINKINFO", "IFLA_INFO_KIND") or "",
            flags=message["flags"],
        )
        for message in _dump(namespace, ifinfmsg(), RTM_GETLINK)
    )


def read_addresses(namespace: Namespace) -> tuple[InterfaceAddress, ...]:
    """Every address of the namespace; OSError where the kernel does not answer."""
    found = (
        # On a point-to-point link IFA_ADDRESS is the other end; IFA_LOCAL is always ours.
        (message, message.get_attr("IFA_LOCAL") or message.get_attr("IFA_ADDRESS"))
        for message in _dump(namespace, ifaddrmsg(), RTM_GETADDR)
    )
    return tuple(
        InterfaceAddress(
            ifindex=message["index"],
            address=address,
            prefix_length=message["prefixlen"],
            scope=message["scope"],
        )
        for message, address in found
        if address
    )


# Any: pyroute2's messages are dictionaries without types.
def _dump(namespace: Namespace, request: Any, kind: int) -> Iterator[Any]:
    request["header"]["type"] = kind
    request["header"]["flags"] = NLM_F_REQUEST | NLM_F_DUMP
    request.encode()
    reader = MarshalRtnl()
    with namespace.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as channel:
        channel.settimeout(_SECONDS)
        channel.sendto(bytes(request.data), (0, 0))
        while True:
            for message in reader.parse(channel.recv(_BUFFER)):
                error = message["header"].get("error")
                if error is not None:
                    raise error
                if message["header"]["type"] in (NLMSG_DONE, NLMSG_ERROR):
                    return
                yield message
