"""How a packet's journey ends, and what the client is told of it."""

import re
from dataclasses import dataclass

from netdiag.linux.filtering import Traversal, Verdict
from netdiag.linux.ruleset import RuleAddress
from netdiag.topology.hops import End
from netdiag.topology.passage import Moving
from netdiag.topology.terrain import Place

# What a program is told of a reject, where it is not ECONNREFUSED (icmp_err_convert of net/ipv4/icmp.c, tab_unreach of
# net/ipv6/icmp.c).
_REJECTS = {
    4: {
        "net-unreachable": "ENETUNREACH",
        "no-route": "ENETUNREACH",
        "net-prohibited": "ENETUNREACH",
        "host-unreachable": "EHOSTUNREACH",
        "host-prohibited": "EHOSTUNREACH",
        "admin-prohibited": "EHOSTUNREACH",
        "prot-unreachable": "ENOPROTOOPT",
        "proto-unreachable": "ENOPROTOOPT",
    },
    6: {
        "no-route": "ENETUNREACH",
        "addr-unreachable": "EHOSTUNREACH",
        "host-unreachable": "EHOSTUNREACH",
        "admin-prohibited": "EACCES",
        "adm-prohibited": "EACCES",
        "policy-fail": "EACCES",
        "reject-route": "EACCES",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """It has come to where a socket would take it; `iif` is the device it came by, 1 for loopback."""

    place: Place
    iif: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """It has not. `errno` is what the client's program is told, "" for nothing; `by` who tells it by a packet.

    `by` is None for silence and for what the client's own kernel says at once. `direct` is a reset for a frame that a
    bridge passes on: it is sent back by the port that the frame came by, past all hooks, so no translation is undone.
    """

    end: End
    because: str
    netns: int
    errno: str = ""
    by: int | None = None
    direct: bool = False
    rules: tuple[RuleAddress, ...] = ()


Fate = Delivered | Ended


def stopped_by(
    place: Place, hook: str, found: Traversal, rules: tuple[RuleAddress, ...], moving: Moving, *, bridged: bool = False
) -> Ended:
    """The end at a hook that did not let it pass; `bridged` is a frame that came by a port of a bridge."""
    because = found.because or hook
    if found.verdict is Verdict.DROP:
        return Ended(end=End.DROPPED, because=because, netns=place.inode, rules=rules)
    if found.verdict is Verdict.UNKNOWN:
        return Ended(end=End.UNKNOWN, because=because, netns=place.inode, rules=rules)
    # "icmp host-unreachable" of nft, "icmp-host-unreachable" of iptables.
    word = re.split(r" |icmp[6x]?-", found.kind)[-1]
    errno = _REJECTS[moving.packet.family].get(word, "ECONNREFUSED")
    return Ended(
        end=End.REFUSED,
        because=because,
        netns=place.inode,
        errno=errno,
        by=place.inode,
        # nf_send_reset() of net/ipv4/netfilter/nf_reject_ipv4.c
        direct=bridged and found.kind == "tcp reset",
        rules=rules,
    )


def at_port(address: str, port: int | None) -> str:
    """Address and port as people write them."""
    shown = f"[{address}]" if ":" in address else address
    return shown if port is None else f"{shown}:{port}"


def frames_filtered(place: Place, device: str, *, bridged: bool) -> str:
    """Why rules below the internet layer may stop a frame at a device; "" where none are asked about it.

    `bridged` is a frame on its way through a bridge, which those of the family bridge are asked about.
    """
    for table in place.facts.ruleset.tables:
        for chain in table.chains:
            if not chain.hook or not (chain.rules or chain.policy == "drop"):
                continue
            if table.family == "bridge" and bridged:
                return f"rules of the family bridge (table {table.name}) are not modelled"
            if chain.hook in ("ingress", "egress") and (not chain.devices or device in chain.devices):
                return f"rules at {chain.hook} of {device} (table {table.name}) are not modelled"
    return ""
