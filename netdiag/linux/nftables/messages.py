"""Requests to nf_tables as bytes, and its answers, one message each: tables, chains, rules, sets, elements.

Whoever sends a request sets its number and flags. A payload begins with the four bytes of nfgenmsg. Sources:
linux/netfilter/nfnetlink.h, linux/netfilter/nf_tables.h.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from netdiag.linux.netlink.nfnetlink import Malformed, attributes, number, table, text, user_data, user_text
from netdiag.linux.nftables.expressions import (
    ARP_HOOKS,
    HOOKS,
    NETDEV_HOOKS,
    OBJECTS,
    POLICIES,
    Count,
    decode_count,
    decode_expressions,
    decode_verdict,
)
from netdiag.linux.ruleset import Chain, Expression
from netdiag.values import dataclass

_SUBSYSTEM = 10
_GETTABLE, _GETCHAIN, _GETRULE, _GETSET, _GETSETELEM, _GETFLOWTABLE = 1, 4, 7, 10, 13, 23
_NLM_F_REQUEST, _NLM_F_DUMP = 0x1, 0x300
_MESSAGE = struct.Struct("=IHHIIBBH")
_UNSPECIFIED = 0
_TABLE, _SET = 1, 2

# NFPROTO_* by the words of nft.
FAMILIES = {"inet": 1, "ip": 2, "arp": 3, "netdev": 5, "bridge": 7, "ip6": 10}


def get_tables() -> bytes:
    """All tables of all families."""
    return _dump(_GETTABLE)


def get_chains() -> bytes:
    """All chains."""
    return _dump(_GETCHAIN)


def get_rules() -> bytes:
    """All rules."""
    return _dump(_GETRULE)


def get_sets() -> bytes:
    """All sets and maps, without their elements."""
    return _dump(_GETSET)


def get_flowtables() -> bytes:
    """All flow tables."""
    return _dump(_GETFLOWTABLE)


def get_elements(family: str, table: str, name: str) -> bytes:
    """The elements of one set."""
    words = (_TABLE, table), (_SET, name)
    return _dump(_GETSETELEM, FAMILIES[family], b"".join(_attribute(kind, word) for kind, word in words))


def _dump(kind: int, family: int = _UNSPECIFIED, attributes: bytes = b"") -> bytes:
    flags = _NLM_F_REQUEST | _NLM_F_DUMP
    header = _MESSAGE.pack(_MESSAGE.size + len(attributes), _SUBSYSTEM << 8 | kind, flags, 0, 0, family, 0, 0)
    return header + attributes


def _attribute(kind: int, word: str) -> bytes:
    value = word.encode("utf-8", errors="surrogateescape") + b"\0"
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


_FAMILY_NAMES = {code: word for word, code in FAMILIES.items()}
_HEADER_SIZE = 4
_FIELD_LENGTHS = 2
SET_FLAGS = {2: "constant", 4: "interval", 16: "timeout", 32: "dynamic"}
ANONYMOUS, INTERVAL, MAP, OBJECT_MAP, CONCATENATION = 1, 4, 8, 64, 128
_INTERVAL_END, _CATCH_ALL = 1, 2
_MOST_FIELDS = 16


class TableId(NamedTuple):
    """The table that an object belongs to."""

    family: str
    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMessage:
    """A rule with its table and chain."""

    place: TableId
    chain: str
    handle: int
    expressions: tuple[Expression, ...]
    count: Count | None
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMessage:
    """A set without its elements. `key_order` and `data_order` are 1 for the machine's byte order, 2 for network's."""

    place: TableId
    name: str
    flags: int
    key_type: int
    key_length: int
    data_type: int
    data_length: int
    field_lengths: tuple[int, ...] = ()
    object_type: str = ""
    timeout: int = 0
    key_order: int = 0
    data_order: int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementMessage:
    """One element. `closes` is the end of an interval, not an element; `rest` stands for all others."""

    key: bytes
    last: bytes = b""
    value: bytes = b""
    verdict: str = ""
    chain: str = ""
    object_name: str = ""
    closes: bool = False
    rest: bool = False
    timeout: int = 0
    comment: str = ""
    statements: tuple[Expression, ...] = ()


def _opened(payload: memoryview) -> tuple[str, dict[int, memoryview]]:
    if len(payload) < _HEADER_SIZE:
        raise Malformed("a message without a header")
    code = payload[0]
    return _FAMILY_NAMES.get(code, f"family {code}"), table(payload[_HEADER_SIZE:])


def decode_table(payload: memoryview) -> TableId:
    """A table."""
    family, parts = _opened(payload)
    return TableId(family, text(parts.get(1)))


def decode_chain(payload: memoryview) -> tuple[TableId, Chain]:
    """A chain, still without its rules."""
    family, parts = _opened(payload)
    place = TableId(family, text(parts.get(1)))
    name, handle = text(parts.get(3)), number(parts.get(2))
    if 4 not in parts:
        return place, Chain(name=name, handle=handle)
    hook = table(parts[4])
    count = decode_count(parts[8]) if 8 in parts else None
    devices = [text(value) for kind, value in attributes(hook[4]) if kind == 1] if 4 in hook else []
    if 3 in hook and not devices:
        devices = [text(hook[3])]
    priority = number(hook.get(2))
    hooks = {"netdev": NETDEV_HOOKS, "arp": ARP_HOOKS}.get(family, HOOKS)
    code = number(hook.get(1))
    return place, Chain(
        name=name,
        handle=handle,
        hook=hooks.get(code, f"hook {code}"),
        type=text(parts.get(7)),
        priority=priority - (1 << 32) if priority >= 1 << 31 else priority,
        policy=POLICIES.get(number(parts.get(5), 1), ""),
        packets=count.packets if count else None,
        bytes=count.bytes if count else None,
        devices=tuple(devices),
    )


def decode_rule(payload: memoryview) -> RuleMessage:
    """A rule."""
    family, parts = _opened(payload)
    expressions, count = decode_expressions(parts.get(4, memoryview(b"")), family)
    return RuleMessage(
        place=TableId(family, text(parts.get(1))),
        chain=text(parts.get(2)),
        handle=number(parts.get(3)),
        expressions=expressions,
        count=count,
        comment=user_text(user_data(parts.get(7)).get(0)),
    )


def decode_rule_count(payload: memoryview) -> tuple[TableId, str, int, Count | None]:
    """Table, chain, handle and first counter of a rule; nothing else of it is read."""
    family, parts = _opened(payload)
    count = None
    for _, element in attributes(parts.get(4, memoryview(b""))):
        inside = table(element)
        if text(inside.get(1)) == "counter":
            count = decode_count(inside.get(2, memoryview(b"")))
            break
    return TableId(family, text(parts.get(1))), text(parts.get(2)), number(parts.get(3)), count


def decode_set(payload: memoryview) -> SetMessage:
    """A set or map."""
    family, parts = _opened(payload)
    notes = user_data(parts.get(13))
    return SetMessage(
        place=TableId(family, text(parts.get(1))),
        name=text(parts.get(2)),
        flags=number(parts.get(3)),
        key_type=number(parts.get(4)),
        key_length=number(parts.get(5)),
        data_type=number(parts.get(6)),
        data_length=number(parts.get(7)),
        field_lengths=tuple(_field_lengths(parts.get(9))),
        object_type=OBJECTS.get(number(parts.get(15)), "") if 15 in parts else "",
        timeout=number(parts.get(11)),
        key_order=_order(notes.get(0)),
        data_order=_order(notes.get(1)),
        comment=user_text(notes.get(7)),
    )


def _order(note: bytes | None) -> int:
    # nft writes these in the machine's order, one of two small numbers either way
    return max(note, default=0) if note else 0


def _field_lengths(description: memoryview | None) -> Iterator[int]:
    if description is None:
        return
    concatenation = table(description).get(_FIELD_LENGTHS)
    if concatenation is None:
        return
    for at, (_, field) in enumerate(attributes(concatenation)):
        if at >= _MOST_FIELDS:
            raise Malformed(f"a key of more than {_MOST_FIELDS} parts")
        yield number(table(field).get(1))


def decode_elements(payload: memoryview) -> Iterator[ElementMessage]:
    """The elements in one message."""
    family, parts = _opened(payload)
    for _, element in attributes(parts.get(3, memoryview(b""))):
        yield _element(table(element), family)


def _element(parts: dict[int, memoryview], family: str) -> ElementMessage:
    flags = number(parts.get(3))
    verdict, chain, value = "", "", b""
    if 2 in parts:
        data = table(parts[2])
        if 2 in data:
            verdict, chain = decode_verdict(data[2])
        value = bytes(data.get(1, b""))
    statements = _statements(parts, family)
    return ElementMessage(
        key=_key(parts.get(1)),
        last=_key(parts.get(10)),
        value=value,
        verdict=verdict,
        chain=chain,
        object_name=text(parts.get(9)),
        closes=bool(flags & _INTERVAL_END),
        rest=bool(flags & _CATCH_ALL),
        timeout=number(parts.get(4)),
        comment=user_text(user_data(parts.get(6)).get(0)),
        statements=statements,
    )


def _key(value: memoryview | None) -> bytes:
    return b"" if value is None else bytes(table(value).get(1, b""))


def _statements(parts: dict[int, memoryview], family: str) -> tuple[Expression, ...]:
    if 11 in parts:
        return decode_expressions(parts[11], family)[0]
    return ()
