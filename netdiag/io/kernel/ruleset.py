"""Reading the packet filters of a namespace: nf_tables by netlink, legacy iptables by getsockopt.

Everything here is called in a thread that is in the namespace. An empty namespace costs one question, and two small
files of /proc that tell which legacy tables there are: to ask for one by name would make it.
"""

import errno
import socket
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel.channel import Channel, Refused
from netdiag.io.kernel.legacy_tables import legacy_tables
from netdiag.linux.nftables import requests
from netdiag.linux.nftables.assemble import Answers, assemble
from netdiag.linux.nftables.messages import (
    ElementMessage,
    Place,
    SetMessage,
    decode_chain,
    decode_elements,
    decode_rule,
    decode_rule_count,
    decode_set,
    decode_table,
)
from netdiag.linux.ruleset import Origin, RuleAddress, Ruleset, Table, address_of, policy_of

MOST_RULES = 20_000
MOST_ELEMENTS = 100_000
MOST_OF_A_SET = 20_000

T = TypeVar("T")


def read_ruleset(channel: Channel | None) -> Ruleset:
    """All tables of the namespace in which `channel` (of nfnetlink) was opened and this thread is.

    None for a channel: this kernel has no nfnetlink, so only legacy tables can be there.
    """
    tables: tuple[Table, ...] = ()
    unread: list[str] = []
    try:
        tables = () if channel is None else _native_tables(channel, unread)
    except NetdiagError as error:
        # What nfnetlink says when nobody has registered nf_tables.
        if not (isinstance(error, Refused) and error.number in (errno.EINVAL, errno.EOPNOTSUPP)):
            unread.append(_line("nf_tables", error))
    legacy, missing = legacy_tables()
    return Ruleset(tables=(*tables, *legacy), unread=(*unread, *missing))


def read_counters(channel: Channel, ruleset: Ruleset) -> Mapping[RuleAddress, int]:
    """How many packets each rule of a ruleset has matched by now; rules without a counter are left out."""
    found: dict[tuple[str, str, str, int], int] = {}
    if any(rule.handle is not None for table in ruleset.tables for chain in table.chains for rule in chain.rules):
        for _, payload in channel.dump(requests.get_rules()):
            place, chain_name, handle, count = decode_rule_count(payload)
            if count is not None:
                found[place.family, place.table, chain_name, handle] = count.packets
    legacy = {
        (table.family, table.name, chain.name, rule.number): rule.packets
        for table in legacy_tables()[0]
        for chain in table.chains
        for rule in chain.rules
    }
    counters: dict[RuleAddress, int] = {}
    for address in addresses(ruleset):
        if address.handle is None:
            packets = legacy.get((address.family, address.table, address.chain, address.number))
        else:
            packets = found.get((address.family, address.table, address.chain, address.handle))
        if packets is not None:
            counters[address] = packets
    return counters


def read_policies(channel: Channel, ruleset: Ruleset) -> Mapping[RuleAddress, int]:
    """How many packets got to each policy that drops, where that is counted."""
    dropping = {
        (table.family, table.name, chain.name): policy_of(table, chain)
        for table in ruleset.tables
        for chain in table.chains
        if chain.policy == "drop"
    }
    if not dropping:
        return {}
    found: dict[RuleAddress, int] = {}
    for _, payload in channel.dump(requests.get_chains()):
        place, chain = decode_chain(payload)
        address = dropping.get((place.family, place.table, chain.name))
        if address is not None and chain.packets is not None and address.origin is not Origin.IPTABLES_LEGACY:
            found[address] = chain.packets
    for table in legacy_tables()[0]:
        for chain in table.chains:
            address = dropping.get((table.family, table.name, chain.name))
            if address is not None and chain.packets is not None and address.origin is Origin.IPTABLES_LEGACY:
                found[address] = chain.packets
    return found


def addresses(ruleset: Ruleset) -> Iterator[RuleAddress]:
    """Every rule's address."""
    for table in ruleset.tables:
        for chain in table.chains:
            for rule in chain.rules:
                yield address_of(table, chain, rule)


def _native_tables(channel: Channel, unread: list[str]) -> tuple[Table, ...]:
    places = _decoded(channel, requests.get_tables(), decode_table)
    if not places:
        return ()
    chains = _decoded(channel, requests.get_chains(), decode_chain)
    rules = _decoded(channel, requests.get_rules(), decode_rule, most=MOST_RULES + 1)
    if len(rules) > MOST_RULES:
        rules = rules[:MOST_RULES]
        unread.append(f"rules of nf_tables: more than {MOST_RULES}, the rest is not shown")
    sets = _decoded(channel, requests.get_sets(), decode_set)
    elements, partly = _elements(channel, sets, unread)
    for _, payload in channel.dump(requests.get_flowtables()):
        place = decode_table(payload)
        unread.append(f"flowtable of {place.family} {place.table}: connections that it carries pass no rules")
    if channel.interrupted:
        unread.append("nf_tables: changed while it was read")
    answers = Answers(tables=places, chains=chains, rules=rules, sets=sets, elements=elements, partly=partly)
    return assemble(answers, names=_interface_name)


def _elements(
    channel: Channel, sets: Iterable[SetMessage], unread: list[str]
) -> tuple[dict[tuple[Place, str], list[ElementMessage]], frozenset[tuple[Place, str]]]:
    found: dict[tuple[Place, str], list[ElementMessage]] = defaultdict(list)
    partly: set[tuple[Place, str]] = set()
    left = MOST_ELEMENTS
    for one in sets:
        key = (one.place, one.name)
        limit = min(left, MOST_OF_A_SET)
        try:
            messages = channel.dump(requests.get_elements(one.place.family, one.place.table, one.name))
            taken = [element for _, payload in messages for element in decode_elements(payload)]
        except NetdiagError as error:
            partly.add(key)
            unread.append(_line(f"set {one.name} of {one.place.family} {one.place.table}", error))
            continue
        found[key] = taken[:limit]
        left -= len(found[key])
        if len(taken) > limit:
            partly.add(key)
            where = f"set {one.name} of {one.place.family} {one.place.table}"
            unread.append(f"{where}: more than {limit} elements, the rest is not shown")
    return found, frozenset(partly)


def _decoded(channel: Channel, request: bytes, decode: Callable[[memoryview], T], most: int | None = None) -> list[T]:
    return [decode(payload) for _, payload in islice(channel.dump(request), most)]


def _interface_name(ifindex: int) -> str:
    try:
        return socket.if_indextoname(ifindex)
    except (OSError, OverflowError):
        return str(ifindex)


def _line(what: str, error: NetdiagError) -> str:
    because = "only root may look at it" if isinstance(error, MissingRight) else error.message
    return f"{what}: {because}"
