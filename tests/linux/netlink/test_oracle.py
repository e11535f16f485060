"""The decoders against those of pyroute2, message by message, over the recordings of another kernel."""

import struct
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyroute2.netlink.rtnl import RTM_NEWADDR, RTM_NEWLINK, RTM_NEWNEIGH, RTM_NEWROUTE, RTM_NEWRULE
from pyroute2.netlink.rtnl.fibmsg import fibmsg
from pyroute2.netlink.rtnl.ifaddrmsg import ifaddrmsg
from pyroute2.netlink.rtnl.ifinfmsg import ifinfmsg
from pyroute2.netlink.rtnl.ndmsg import ndmsg
from pyroute2.netlink.rtnl.rtmsg import rtmsg

from netdiag.linux.netlink.addresses import decode_address, decode_neighbour
from netdiag.linux.netlink.links import decode_link
from netdiag.linux.netlink.routes import decode_route, decode_routing_rule
from netdiag.linux.rtnetlink import Link
from tests.netlab.record import recordings

# The kinds whose numbers have the same names in both, but for the prefix, and where ours has them.
_NUMBERS = {
    "IFLA_BR_": "details",
    "IFLA_BRPORT_": "port",
    "IFLA_BOND_": "details",
    "IFLA_VXLAN_": "details",
    "IFLA_VRF_": "details",
}


def payloads(name: str) -> list[bytes]:
    """All recorded messages of one request."""
    found = [payload for one in recordings() for payload in one.dumps[name]]
    assert len(found) > 100
    return found


def decoded(kind: Callable[[bytes], Any], number: int, payload: bytes) -> Any:
    """A message as pyroute2 reads it."""
    message = kind(struct.pack("=IHHII", 16 + len(payload), number, 0, 1, 0) + payload)
    message.decode()
    return message


def test_links() -> None:
    numbers = 0
    for payload in payloads("links"):
        ours, theirs = decode_link(payload), decoded(ifinfmsg, RTM_NEWLINK, payload)
        get = theirs.get_attr
        assert (ours.ifindex, ours.type, ours.flags) == (theirs["index"], theirs["ifi_type"], theirs["flags"])
        assert (ours.mtu, ours.qdisc, ours.operstate) == (
            get("IFLA_MTU"),
            get("IFLA_QDISC"),
            get("IFLA_OPERSTATE"),
        )
        info = get("IFLA_LINKINFO")
        assert ours.master == get("IFLA_MASTER")
        assert ours.kind == "vxlan" or ours.link == (get("IFLA_LINK") or None)
        assert ours.kind == (info.get_attr("IFLA_INFO_KIND") or "" if info else "")
        assert ours.port_kind == (info.get_attr("IFLA_INFO_SLAVE_KIND") or "" if info else "")
        for name, value in _details(info):
            assert _ours(ours, name, value) == value, (ours.ifname, name)
            numbers += 1
    assert numbers > 300


def _details(info: Any) -> Iterator[tuple[str, Any]]:
    """The numbers that it knows of a kind."""
    for part in ("IFLA_INFO_DATA", "IFLA_INFO_SLAVE_DATA"):
        data = info.get_attr(part) if info else None
        for name, value in data["attrs"] if isinstance(data, Mapping) else ():
            # what it takes for a mark is a number for the kernel: IFLA_VXLAN_TTL_INHERIT of 0 means no
            if isinstance(value, int) and not isinstance(value, bool) and name.startswith(tuple(_NUMBERS)):
                yield name, value


def _ours(link: Link, name: str, value: int) -> object:
    """The same number of ours; `value` where ours is a word for it, or is known to be told in another way."""
    prefix = max((known for known in _NUMBERS if name.startswith(known)), key=len)
    details = link.details if _NUMBERS[prefix] == "details" else link.port
    ours = details.get(name.removeprefix(prefix).lower(), value)
    if ours is None:
        return 0
    if isinstance(ours, str):
        return int(ours, 16) if ours.startswith("0x") else value
    return round(ours * 100) if isinstance(ours, float) else ours


def test_addresses() -> None:
    for payload in payloads("addresses"):
        ours, theirs = decode_address(payload), decoded(ifaddrmsg, RTM_NEWADDR, payload)
        get = theirs.get_attr
        assert ours
        assert (ours.ifindex, ours.prefix_length, ours.scope) == (
            theirs["index"],
            theirs["prefixlen"],
            theirs["scope"],
        )
        assert ours.address == (get("IFA_LOCAL") or get("IFA_ADDRESS"))
        assert (ours.label, ours.flags) == (get("IFA_LABEL") or "", get("IFA_FLAGS"))


def test_routes() -> None:
    for payload in payloads("routes"):
        ours, theirs = decode_route(payload), decoded(rtmsg, RTM_NEWROUTE, payload)
        get = theirs.get_attr
        assert ours
        anywhere = "0.0.0.0" if theirs["family"] == 2 else "::"
        assert ours.destination == f"{get('RTA_DST') or anywhere}/{theirs['dst_len']}"
        assert (ours.table, ours.protocol, ours.scope) == (get("RTA_TABLE"), theirs["proto"], theirs["scope"])
        assert (ours.priority, ours.source) == (get("RTA_PRIORITY") or 0, get("RTA_PREFSRC") or "")
        if get("RTA_MULTIPATH"):
            hops = [(hop.get_attr("RTA_GATEWAY") or "", hop["oif"], hop["hops"] + 1) for hop in get("RTA_MULTIPATH")]
        else:
            hops = [(get("RTA_GATEWAY") or "", get("RTA_OIF"), 1)] if get("RTA_OIF") else []
        assert [(hop.gateway, hop.ifindex, hop.weight) for hop in ours.hops] == hops


def test_rules() -> None:
    for payload in payloads("rules"):
        ours, theirs = decode_routing_rule(payload), decoded(fibmsg, RTM_NEWRULE, payload)
        if ours is None:
            assert theirs["family"] not in (2, 10)
            continue
        get = theirs.get_attr
        assert (ours.priority, ours.table) == (get("FRA_PRIORITY") or 0, get("FRA_TABLE"))
        assert ours.details.get("protocol") == get("FRA_PROTOCOL")


def test_neighbours() -> None:
    for payload in payloads("neighbours"):
        ours, theirs = decode_neighbour(payload), decoded(ndmsg, RTM_NEWNEIGH, payload)
        get = theirs.get_attr
        assert ours
        assert (ours.ifindex, ours.address) == (theirs["ifindex"], get("NDA_DST"))
        assert ours.lladdr == (get("NDA_LLADDR") or "")


def test_a_message_costs_a_fraction_of_the_library() -> None:
    """Processor time of the same messages in one run, the best of three; some twenty times is usual."""
    links = payloads("links")[::4]
    ours = min(_seconds(links, decode_link) for _ in range(3))
    theirs = min(_seconds(links, _whole) for _ in range(3))
    assert theirs > 2 * ours


def _seconds(messages: list[bytes], decode: Callable[[bytes], object]) -> float:
    began = time.process_time()
    for payload in messages:
        decode(payload)
    return time.process_time() - began


def _whole(payload: bytes) -> object:
    """All of a message: the library reads attributes when they are looked at."""
    message = decoded(ifinfmsg, RTM_NEWLINK, payload)
    rest = [message]
    while rest:
        rest += [value for _, value in rest.pop()["attrs"] if isinstance(value, dict) and "attrs" in value]
    return message
