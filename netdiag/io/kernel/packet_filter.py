"""Reading the packet filters of a namespace: nf_tables by netlink, legacy iptables by getsockopt.

Everything here is called in a thread that is in the namespace. An empty namespace costs one question, and two small
files of /proc that tell which legacy tables there are: the kernel makes a table for whoever asks for it by name.
Sources: linux/netfilter_ipv4/ip_tables.h, linux/netfilter_ipv6/ip6_tables.h.
"""

import ctypes
import errno
import os
import socket
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel.netlink import Channel, Refused
from netdiag.linux.nftables.messages import (
    ElementMessage,
    SetMessage,
    TableId,
    decode_chain,
    decode_elements,
    decode_rule,
    decode_rule_count,
    decode_set,
    decode_table,
    get_chains,
    get_elements,
    get_flowtables,
    get_rules,
    get_sets,
    get_tables,
)
from netdiag.linux.nftables.tables import Dump, assemble
from netdiag.linux.ruleset import Origin, RuleAddress, Ruleset, Table, address_of, policy_of
from netdiag.linux.xtables.tables import TableInfo, decode_info
from netdiag.linux.xtables.tables import decode_table as decode_legacy_table

MOST_RULES = 20_000
MOST_ELEMENTS = 100_000
MOST_OF_A_SET = 20_000

T = TypeVar("T")
_GET_INFO, _GET_ENTRIES = 64, 65
_INFO_SIZE = 84
_NAME_SIZE = 32
# struct ipt_get_entries: name and size, then entries that hold numbers of 64 bits
_ENTRIES_AT = 40 if ctypes.alignment(ctypes.c_uint64) == 8 else 36
_LARGEST = 64 * 1024 * 1024
_TRIES = 5
_NAMES_LIMIT = 4096
_FAMILIES = (
    ("ip", socket.AF_INET, socket.IPPROTO_IP, "ip_tables_names"),
    ("ip6", socket.AF_INET6, socket.IPPROTO_IPV6, "ip6_tables_names"),
)


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
        for _, payload in channel.dump(get_rules()):
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
    for _, payload in channel.dump(get_chains()):
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
    places = _decoded(channel, get_tables(), decode_table)
    if not places:
        return ()
    chains = _decoded(channel, get_chains(), decode_chain)
    rules = _decoded(channel, get_rules(), decode_rule, most=MOST_RULES + 1)
    if len(rules) > MOST_RULES:
        rules = rules[:MOST_RULES]
        unread.append(f"rules of nf_tables: more than {MOST_RULES}, the rest is not shown")
    sets = _decoded(channel, get_sets(), decode_set)
    elements, partly = _elements(channel, sets, unread)
    for _, payload in channel.dump(get_flowtables()):
        place = decode_table(payload)
        unread.append(f"flowtable of {place.family} {place.table}: connections that it carries pass no rules")
    if channel.interrupted:
        unread.append("nf_tables: changed while it was read")
    dump = Dump(tables=places, chains=chains, rules=rules, sets=sets, elements=elements, partly=partly)
    return assemble(dump, names=_interface_name)


def _elements(
    channel: Channel, sets: Iterable[SetMessage], unread: list[str]
) -> tuple[dict[tuple[TableId, str], list[ElementMessage]], frozenset[tuple[TableId, str]]]:
    found: dict[tuple[TableId, str], list[ElementMessage]] = defaultdict(list)
    partly: set[tuple[TableId, str]] = set()
    left = MOST_ELEMENTS
    for one in sets:
        key = (one.place, one.name)
        limit = min(left, MOST_OF_A_SET)
        try:
            messages = channel.dump(get_elements(one.place.family, one.place.table, one.name))
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
    because = "only root can read it" if isinstance(error, MissingRight) else error.message
    return f"{what}: {because}"


class _Changed(Exception):
    pass


def legacy_tables() -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """The tables there are, and a line for what could not be read."""
    tables: list[Table] = []
    unread: list[str] = []
    for family, domain, level, file in _FAMILIES:
        names, missing = _names(file)
        unread += [f"legacy iptables of {family}: {missing}"] if missing else []
        for name in names:
            try:
                data, info = entries(domain, level, name)
                tables.append(decode_legacy_table(data, info, family=family))
            except NetdiagError as error:
                unread.append(f"legacy iptables of {family}, table {name}: {error.message}")
            except OSError as error:
                unread.append(f"legacy iptables of {family}, table {name}: {os.strerror(error.errno or 0).lower()}")
    return tuple(tables), tuple(unread)


def _names(file: str) -> tuple[list[str], str]:
    try:
        with open(f"/proc/thread-self/net/{file}", encoding="utf-8", errors="surrogateescape") as names:
            return names.read(_NAMES_LIMIT).split(), ""
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        reason = "only root can read it" if error.errno in (errno.EACCES, errno.EPERM) else error.strerror
        return [], str(reason)


def entries(domain: socket.AddressFamily, level: int, name: str) -> tuple[bytes, TableInfo]:
    """The bytes of one table that is there, and what the kernel tells of it."""
    with socket.socket(domain, socket.SOCK_DGRAM) as asked:
        for _ in range(_TRIES):
            info = decode_info(_asked(asked, level, _GET_INFO, name, _INFO_SIZE))
            try:
                return _entries(asked, level, info, name), info
            except _Changed:
                continue
    raise NetdiagError("it changed during every attempt to read it")


def _entries(asked: socket.socket, level: int, info: TableInfo, name: str) -> bytes:
    if info.size > _LARGEST:
        raise NetdiagError(f"{info.size} bytes of rules")
    try:
        return _asked(asked, level, _GET_ENTRIES, name, _ENTRIES_AT + info.size, size=info.size)[_ENTRIES_AT:]
    except OSError as error:
        if error.errno == errno.EAGAIN:
            raise _Changed from error
        raise


def _asked(asked: socket.socket, level: int, option: int, name: str, length: int, *, size: int = 0) -> bytes:
    """getsockopt with an argument, which the socket module cannot do."""
    question = name.encode("utf-8", errors="surrogateescape")[: _NAME_SIZE - 1].ljust(_NAME_SIZE, b"\0")
    buffer = ctypes.create_string_buffer(question + struct.pack("=I", size), length)
    given = ctypes.c_uint(length)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.getsockopt(asked.fileno(), level, option, buffer, ctypes.byref(given)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return buffer.raw
