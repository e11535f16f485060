"""Tables of nf_tables with their chains, rules and sets, put together from the kernel's messages.

Ends of intervals are joined to their beginnings; keys and values of sets are in nft's words.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from netdiag.linux.nftables.datatypes import DataType, Name, parts, quoted, type_name, value_text
from netdiag.linux.nftables.iptables_nft import iptables_text, made_by_iptables
from netdiag.linux.nftables.messages import (
    ANONYMOUS,
    INTERVAL,
    MAP,
    OBJECT_MAP,
    SET_FLAGS,
    ElementMessage,
    RuleMessage,
    SetMessage,
    TableId,
)
from netdiag.linux.nftables.rule_text import nft_text
from netdiag.linux.ruleset import Chain, ElementSet, FilterRule, Origin, SetEntry, Table
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """All messages of one dump; elements by table and set."""

    tables: Sequence[TableId] = ()
    chains: Sequence[tuple[TableId, Chain]] = ()
    rules: Sequence[RuleMessage] = ()
    sets: Sequence[SetMessage] = ()
    elements: Mapping[tuple[TableId, str], Sequence[ElementMessage]] = field(default_factory=dict)
    partly: frozenset[tuple[TableId, str]] = frozenset()


def assemble(dump: Dump, *, names: Name = str) -> tuple[Table, ...]:
    """The tables, in the kernel's order. `names` gives the device of an ifindex."""
    return tuple(_table(place, dump, names) for place in dump.tables)


def _table(place: TableId, dump: Dump, names: Name) -> Table:
    sets = tuple(
        assemble_set(
            one,
            dump.elements.get((place, one.name), ()),
            names=names,
            partly=(place, one.name) in dump.partly,
        )
        for one in dump.sets
        if one.place == place
    )
    chains = [chain for where, chain in dump.chains if where == place]
    rules: dict[str, list[RuleMessage]] = {chain.name: [] for chain in chains}
    for rule in dump.rules:
        if rule.place == place and rule.chain in rules:
            rules[rule.chain].append(rule)
    of_iptables = made_by_iptables(place, chains, (rule for several in rules.values() for rule in several), sets)
    origin = Origin.IPTABLES_NFT if of_iptables else Origin.NFTABLES

    def text(rule: RuleMessage) -> str:
        if of_iptables:
            return iptables_text(rule.chain, rule.expressions, family=place.family)
        return nft_text(rule.expressions, family=place.family, sets=sets, comment=rule.comment, names=names)

    filled = [replace(chain, rules=tuple(_numbered(rules[chain.name], text))) for chain in chains]
    return Table(family=place.family, name=place.table, origin=origin, chains=tuple(filled), sets=sets)


def _numbered(rules: Iterable[RuleMessage], text: Callable[[RuleMessage], str]) -> Iterator[FilterRule]:
    for number, rule in enumerate(rules, 1):
        yield FilterRule(
            number=number,
            handle=rule.handle,
            expressions=rule.expressions,
            text=text(rule),
            packets=rule.count.packets if rule.count else None,
            bytes=rule.count.bytes if rule.count else None,
            comment=rule.comment or _matched_comment(rule),
        )


def _matched_comment(rule: RuleMessage) -> str:
    """iptables keeps a comment in a match of its own."""
    found = (one.fields.get("comment") for one in rule.expressions if one.name == "xt:comment")
    return str(next(found, ""))


_HOST_ORDER = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joined:
    """An element from `key` to `last`; both b"" for the one that stands for all others."""

    key: bytes
    last: bytes
    element: ElementMessage


def assemble_set(
    description: SetMessage, elements: Iterable[ElementMessage], *, names: Name = str, partly: bool = False
) -> ElementSet:
    """The set with its elements in the order of nft, by key; the catch-all element comes last."""
    joined = sorted(_joined(description, elements), key=lambda one: _rank(description, one.key))
    flags = [word for bit, word in SET_FLAGS.items() if description.flags & bit]
    return ElementSet(
        name=description.name,
        key_type=type_name(description.key_type),
        data_type=_data_type(description),
        flags=tuple(flags),
        elements=tuple((_key_text(description, one, names), _data_text(description, one, names)) for one in joined),
        anonymous=bool(description.flags & ANONYMOUS),
        entries=tuple(_entry(one) for one in joined),
        field_lengths=description.field_lengths,
        partly=partly,
    )


def _rank(description: SetMessage, key: bytes) -> tuple[bool, int]:
    kinds = parts(description.key_type)
    single = kinds[0] if len(kinds) == 1 and not description.flags & INTERVAL else None
    host = single is not None and (single.kind == "string" or _in_host_order(description, single))
    return not key, int.from_bytes(key, sys.byteorder if host else "big")


def _in_host_order(description: SetMessage, kind: DataType) -> bool:
    return description.key_order == _HOST_ORDER if description.key_order else kind.host


def _data_type(description: SetMessage) -> str:
    if description.flags & OBJECT_MAP:
        return description.object_type
    if not description.flags & MAP:
        return ""
    return "verdict" if description.data_type in (0xFFFFFF00, 1) else type_name(description.data_type)


def _entry(joined: _Joined) -> SetEntry:
    element = joined.element
    return SetEntry(key=joined.key, last=joined.last, value=element.value, verdict=element.verdict, chain=element.chain)


def _joined(description: SetMessage, elements: Iterable[ElementMessage]) -> Iterator[_Joined]:
    found = list(elements)
    rest = [one for one in found if one.rest]
    found = [one for one in found if not one.rest]
    if description.flags & INTERVAL and not description.field_lengths and not any(one.last for one in found):
        yield from _intervals(found)
    else:
        for one in found:
            yield _Joined(key=one.key, last=one.last or one.key, element=one)
    for one in rest:
        yield _Joined(key=b"", last=b"", element=one)


def _intervals(elements: Sequence[ElementMessage]) -> Iterator[_Joined]:
    """An interval is a beginning and, one after its last key, an end; the last one may go on to the highest key."""
    begun: ElementMessage | None = None
    for one in sorted(elements, key=lambda element: (element.key, not element.closes)):
        if begun is not None:
            yield _Joined(key=begun.key, last=_before(one.key), element=begun)
        begun = None if one.closes else one
    if begun is not None:
        yield _Joined(key=begun.key, last=b"\xff" * len(begun.key), element=begun)


def _before(key: bytes) -> bytes:
    number = int.from_bytes(key, "big")
    return max(number - 1, 0).to_bytes(len(key), "big")


def _key_text(description: SetMessage, joined: _Joined, names: Name) -> str:
    if not joined.key:
        return "*"
    kinds = parts(description.key_type)
    lengths = description.field_lengths
    host = None if not description.key_order else description.key_order == _HOST_ORDER
    if description.flags & INTERVAL and not lengths:
        host = False
    if len(kinds) < 2:
        kind = kinds[0] if kinds else DataType(name="integer")
        return interval_text(kind, joined.key, joined.last, host=host, names=names)
    words, start = [], 0
    for at, kind in enumerate(kinds):
        size = lengths[at] if at < len(lengths) else kind.size
        first, last = joined.key[start : start + size], joined.last[start : start + size]
        words.append(interval_text(kind, first, last, host=None, names=names))
        start += -(-size // 4) * 4
    return " . ".join(words)


def interval_text(kind: DataType, first: bytes, last: bytes, *, host: bool | None, names: Name) -> str:
    """One value, a prefix where addresses make one, or the first and the last."""
    if first == last:
        return value_text(kind, first, host=host, names=names)
    if kind.kind == "address" or kind.name in ("mark", "integer"):
        length = _prefix_length(first, last)
        if length is not None and kind.kind == "address":
            return f"{value_text(kind, first)}/{length}"
    if kind.kind == "string":
        return _pattern(first, last)
    plain = replace(kind, words={}) if kind.kind == "number" else kind
    return f"{value_text(plain, first, host=host, names=names)}-{value_text(plain, last, host=host, names=names)}"


def _prefix_length(first: bytes, last: bytes) -> int | None:
    one, other = int.from_bytes(first, "big"), int.from_bytes(last, "big")
    differing = one ^ other
    if one & differing or differing & (differing + 1):
        return None
    return 8 * len(first) - differing.bit_length()


def _pattern(first: bytes, last: bytes) -> str:
    shared = b""
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        shared += bytes([one])
    if any(first[len(shared) :]) or last[len(shared) :].strip(b"\xff"):
        return f"{quoted(first)}-{quoted(last)}"
    text = shared.decode("utf-8", errors="surrogateescape")
    return f'"{text}*"'


def _data_text(description: SetMessage, joined: _Joined, names: Name) -> str | None:
    element = joined.element
    if description.flags & OBJECT_MAP:
        return f'"{element.object_name}"'
    if element.verdict:
        return f"{element.verdict} {element.chain}".rstrip()
    if not description.flags & MAP:
        return None
    kinds = parts(description.data_type)
    if len(kinds) < 2:
        kind = kinds[0] if kinds else DataType(name="integer")
        if kind.kind == "address" and len(element.value) == 2 * kind.size:
            # a map from prefixes to prefixes: the first and the last address
            return interval_text(kind, element.value[: kind.size], element.value[kind.size :], host=None, names=names)
        size = min(kind.size, len(element.value)) if kind.name != "integer" else len(element.value)
        return value_text(kind, element.value[:size], names=names)
    words, start = [], 0
    for kind in kinds:
        words.append(value_text(kind, element.value[start : start + kind.size], names=names))
        start += -(-kind.size // 4) * 4
    return " . ".join(words)
