"""Packet filter and NAT rules of a network namespace, from any of the three kernel interfaces.

One vocabulary for native nftables, iptables over nf_tables and legacy iptables: tables of chains of rules, a rule being
conditions and then an action. What a rule says is kept twice: as expressions that can be evaluated
(`netdiag.linux.filtering.traversal`), and as the text that `iptables-save` or `nft list ruleset` would print.
Protocols above IP are named as in protocols(5).
Sources: linux/netfilter/nf_tables.h, linux/netfilter/x_tables.h, linux/netfilter_ipv4/ip_tables.h.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from netdiag.digits import number_of
from netdiag.linux.rtnetlink import Detail
from netdiag.values import dataclass


class Origin(Enum):
    """The interface that made a table; the value is its usual name."""

    NFTABLES = "nftables"
    IPTABLES_NFT = "iptables-nft"
    IPTABLES_LEGACY = "iptables-legacy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """One step of a rule. `name` is the kernel's ("cmp", "payload", "xt:addrtype", "counter", "verdict").

    `fields` are its decoded parts. An expression that is not understood has `understood` False, and what a packet would
    meet there is unknown.
    """

    name: str
    fields: Mapping[str, Detail] = field(default_factory=dict)
    understood: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRule:
    """One rule. `number` counts from 1 in its chain; `handle` is the kernel's, None for legacy iptables.

    `text` is the rule as iptables-save prints it without table and counters ("-A DOCKER -i br0 -j RETURN") for the two
    iptables, as nft prints it for nftables. `packets` and `bytes` are None for a rule without a counter.
    """

    number: int
    handle: int | None
    expressions: tuple[Expression, ...]
    text: str
    packets: int | None = None
    bytes: int | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A chain; a base chain has a `hook` ("prerouting", "input", "forward", "output", "postrouting", "ingress").

    `type` is "filter", "nat" or "route", `policy` "accept" or "drop"; all three are "" for other chains. `devices` are
    those that a chain of the family netdev is bound to.
    """

    name: str
    rules: tuple[FilterRule, ...] = ()
    hook: str = ""
    type: str = ""
    priority: int = 0
    policy: str = ""
    packets: int | None = None
    bytes: int | None = None
    handle: int | None = None
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetEntry:
    """An element as the kernel keeps it: for evaluating, not for output.

    `key` and `last` are the first and the last key of an interval, equal in sets without intervals; an element that
    stands for all others (`*`) has `key` b"". `value` is what a map leads to; of a verdict map `verdict` ("jump",
    "accept") and `chain` are.
    """

    key: bytes
    last: bytes
    value: bytes = b""
    verdict: str = ""
    chain: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementSet:
    """A set, or a map if `data_type` is not "". Elements are pairs (key, value), value None in a set.

    Keys and values are text as nft prints them; a verdict is "jump NAME", "accept", ...; `flags` are nft's words.
    `entries` are the same as the kernel keeps them, `field_lengths` the bytes of each part of a key of several parts.
    `partly` is True if not all elements could be read.
    """

    name: str
    key_type: str
    data_type: str = ""
    flags: tuple[str, ...] = ()
    elements: tuple[tuple[str, str | None], ...] = ()
    anonymous: bool = False
    entries: tuple[SetEntry, ...] = ()
    field_lengths: tuple[int, ...] = ()
    partly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. `family` is "ip", "ip6", "inet", "arp", "bridge" or "netdev"; `name` for iptables "nat", "filter"."""

    family: str
    name: str
    origin: Origin
    chains: tuple[Chain, ...] = ()
    sets: tuple[ElementSet, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """Every table of a namespace. `unread` tells in one line each what could not be read, and why."""

    tables: tuple[Table, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleAddress:
    """Which rule is meant: "iptables-nft ip filter FORWARD #4"."""

    family: str
    table: str
    chain: str
    number: int
    handle: int | None
    text: str
    origin: Origin

    def __str__(self) -> str:
        return f"{self.origin.value} {self.family} {self.table} {self.chain} #{self.number}"


def address_of(table: Table, chain: Chain, rule: FilterRule) -> RuleAddress:
    """Where a rule stands."""
    return RuleAddress(
        family=table.family,
        table=table.name,
        chain=chain.name,
        number=rule.number,
        handle=rule.handle,
        text=rule.text,
        origin=table.origin,
    )


def policy_of(table: Table, chain: Chain) -> RuleAddress:
    """The policy of a base chain as if it were a rule: number 0, and the text of `iptables -S`."""
    text = f"-P {chain.name} {chain.policy.upper()}"
    if table.origin is Origin.NFTABLES:
        text = f"policy {chain.policy}"
    return RuleAddress(
        family=table.family,
        table=table.name,
        chain=chain.name,
        number=0,
        handle=None,
        text=text,
        origin=table.origin,
    )


NUMBERS = {
    "ip": 0,
    "icmp": 1,
    "igmp": 2,
    "ipencap": 4,
    "tcp": 6,
    "egp": 8,
    "udp": 17,
    "dccp": 33,
    "ipv6": 41,
    "ipv6-route": 43,
    "ipv6-frag": 44,
    "rsvp": 46,
    "gre": 47,
    "esp": 50,
    "ah": 51,
    "ipv6-icmp": 58,
    "icmpv6": 58,
    "ospf": 89,
    "pim": 103,
    "ipcomp": 108,
    "vrrp": 112,
    "sctp": 132,
    "udplite": 136,
}
_WORDS = {number: word for word, number in reversed(NUMBERS.items())}


def protocol_number(name: str) -> int | None:
    """IPPROTO_* of a protocol's name or number; None for a name that is not known."""
    if name in NUMBERS:
        return NUMBERS[name]
    number = number_of(name)
    return number if number is not None and number < 256 else None


def protocol_word(number: int) -> str:
    """Its name, or the number as text."""
    return _WORDS.get(number, str(number))
