"""Devices in the words of `ip -d -j link`, ours and its own."""

import grp
import pwd
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from netdiag.linux.netlink.link_kinds import KINDS, PORTS
from netdiag.linux.rtnetlink import Link
from netdiag.topology.inventory import NamespaceFacts
from tests.netlab.iproute2_output import Iproute2Output

_FLAGS = {
    0x1: "UP",
    0x2: "BROADCAST",
    0x8: "LOOPBACK",
    0x10: "POINTOPOINT",
    0x80: "NOARP",
    0x100: "PROMISC",
    0x200: "ALLMULTI",
    0x400: "MASTER",
    0x800: "SLAVE",
    0x1000: "MULTICAST",
    0x10000: "LOWER_UP",
    0x20000: "DORMANT",
    0x40000: "ECHO",
}
_TYPES = {
    "ether": 1,
    "loopback": 772,
    "none": 65534,
    "ipip": 768,
    "tunnel6": 769,
    "sit": 776,
    "gre": 778,
    "gre6": 823,
    "netlink": 824,
}
_TIMERS = frozenset(
    (
        "hello_timer",
        "tcn_timer",
        "topology_change_timer",
        "gc_timer",
        "message_age_timer",
        "forward_delay_timer",
        "hold_timer",
    )
)
# Printed of a value that is told already.
_REPEATED = frozenset(("group_fwd_mask_str",))
_DEVICES = frozenset(("link", "active_slave", "primary", "backup_port"))

Thing = tuple[Hashable, dict[str, Any]]


def ours(facts: NamespaceFacts, names: Mapping[int, str]) -> Iterator[Thing]:
    """By index."""
    for link in facts.links:
        told: dict[str, Any] = {
            "ifname": link.ifname,
            "kind": link.kind,
            "link_type": link.type,
            "flags": {word for bit, word in _FLAGS.items() if link.flags & bit},
            "mtu": link.mtu,
            "address": link.address,
            "broadcast": link.broadcast,
            "operstate": link.operstate,
            "master": names.get(link.master or 0, ""),
            "link": _below(link, names),
            "link_netnsid": link.link_netnsid,
            "qdisc": link.qdisc,
            "txqlen": link.txqlen,
            "group": link.group,
            "altnames": list(link.altnames),
            "alias": link.alias,
            "port_kind": link.port_kind,
        }
        told |= {f"details.{key}": _named(key, value, names) for key, value in link.details.items()}
        told |= {f"port.{key}": _named(key, value, names) for key, value in link.port.items()}
        yield link.ifindex, told


def theirs(said: Iproute2Output) -> Iterator[Thing]:
    """By index."""
    for one in said["link"]:
        info = one.get("linkinfo", {})
        told = {
            "ifname": one["ifname"],
            "kind": info.get("info_kind", ""),
            "flags": set(one["flags"]) & set(_FLAGS.values()),
            "mtu": one["mtu"],
            "address": one.get("address", ""),
            "broadcast": one.get("broadcast", ""),
            "operstate": one["operstate"],
            "master": one.get("master", ""),
            "link": one.get("link") or one.get("link_index") or "",
            "link_netnsid": one.get("link_netnsid"),
            "qdisc": one.get("qdisc", ""),
            "txqlen": one.get("txqlen", 0),
            "group": 0 if one["group"] == "default" else int(one["group"]),
            "altnames": one.get("altnames", []),
            "alias": one.get("ifalias", ""),
            "port_kind": info.get("info_slave_kind", ""),
        }
        if told["kind"] == "vxlan" or told["link"] == one["ifindex"]:
            # its own index, which says nothing; what is below a vxlan is among its details
            del told["link"]
        if one["link_type"] in _TYPES:
            told["link_type"] = _TYPES[one["link_type"]]
        for name, prefix in (("info_data", "details"), ("info_slave_data", "port")):
            decoded = KINDS if name == "info_data" else PORTS
            if info.get(name.replace("data", "kind")) not in decoded:
                # told as it came, which `undecoded` is for
                continue
            for key, value in info.get(name, {}).items():
                if key not in _TIMERS | _REPEATED:
                    told[f"{prefix}.{key}"] = _numbered(key, value)
        yield one["ifindex"], told


def _below(link: Link, names: Mapping[int, str]) -> str | int:
    if link.link is None:
        return ""
    return names.get(link.link, f"if{link.link}") if link.link_netnsid is None else link.link


def _named(key: str, value: Any, names: Mapping[int, str]) -> Any:
    """Devices by name, as iproute2 looks them up."""
    if isinstance(value, int) and key in _DEVICES:
        return names.get(value, f"if{value}")
    return _plain(value)


def _numbered(key: str, value: Any) -> Any:
    """Users and groups by number, whether or not the machine that printed them had names for them."""
    if isinstance(value, str) and key == "user":
        return pwd.getpwnam(value).pw_uid
    if isinstance(value, str) and key == "group" and value.isidentifier():
        with suppress(KeyError):
            return grp.getgrnam(value).gr_gid
    return _plain(value)


def _plain(value: Any) -> Any:
    """Lists whose order says nothing, as sets of text."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return sorted(value)
    return value
