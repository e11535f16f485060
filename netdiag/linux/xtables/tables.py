"""Tables of legacy iptables: decoded from one blob of entries, in which jumps are offsets, to chains of rules.

Every built-in chain ends with an entry that is its policy, every other one begins with an entry that holds its name,
the whole ends with an entry called ERROR. Foreign bytes: every length and offset is checked before it is followed.
Sources: linux/netfilter/x_tables.h, linux/netfilter_ipv4/ip_tables.h, linux/netfilter_ipv6/ip6_tables.h.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise

from netdiag.errors import NetdiagError
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Chain, Expression, FilterRule, Origin, Table, protocol_word
from netdiag.linux.xtables.rules import decode_extension, entry_text
from netdiag.linux.xtables.structs import BadBlob, Blob
from netdiag.values import dataclass

HOOKS = ("prerouting", "input", "forward", "output", "postrouting")
_PRIORITIES = {"raw": -300, "mangle": -150, "filter": 0, "security": 50}
_NAT_PRIORITIES = {"prerouting": -100, "output": -100, "input": 100, "postrouting": 100}
_VERDICTS = {-1: "drop", -2: "accept", -4: "queue", -5: "return"}
_NO_ENTRY = 0xFFFFFFFF
_MOST_ENTRIES = 100_000
_HEADER = struct.Struct("=H29sB")


class BadTable(NetdiagError):
    """The kernel's answer cannot be read as a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """struct ipt_getinfo: by hook the offset of its first entry and of its policy."""

    name: str
    begins: dict[str, int]
    policies: dict[str, int]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Where things are in struct ipt_entry and struct ip6t_entry."""

    conditions: int
    target: int
    counters: int
    size: int


_LAYOUTS = {
    "ip": _Layout(conditions=84, target=88, counters=96, size=112),
    "ip6": _Layout(conditions=136, target=140, counters=152, size=168),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    offset: int
    following: int
    conditions: Expression
    matches: tuple[Expression, ...]
    target: str
    revision: int
    info: bytes
    goto: bool
    packets: int
    bytes: int


def decode_info(data: bytes) -> TableInfo:
    """Decode the description of a table, which precedes its entries."""
    if len(data) < 84:
        raise BadTable(f"{len(data)} bytes tell too little of a table")
    hooks, *numbers = struct.unpack_from("=I5I5III", data, 32)
    begins, policies = numbers[:5], numbers[5:10]
    valid = [(name, at) for at, name in enumerate(HOOKS) if hooks & 1 << at]
    return TableInfo(
        name=data[:32].split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape"),
        begins={name: begins[at] for name, at in valid},
        policies={name: policies[at] for name, at in valid},
        size=numbers[11],
    )


def decode_table(data: bytes, info: TableInfo, *, family: str) -> Table:
    """The table of a blob of entries; `family` is "ip" or "ip6"."""
    entries = tuple(_entries(data, family))
    starts = _chain_starts(entries, info)
    names = {offset: name for offset, (name, _) in starts.items()}
    chains: list[Chain] = []
    current: list[_Entry] = []
    opened: tuple[str, str] | None = None
    for entry in entries:
        if entry.offset in starts:
            if opened is not None:
                chains.append(_chain(opened, current, info, names, family))
            opened, current = starts[entry.offset], []
        if entry.target != "ERROR":
            current.append(entry)
    if opened is not None:
        chains.append(_chain(opened, current, info, names, family))
    return Table(family=family, name=info.name, origin=Origin.IPTABLES_LEGACY, chains=tuple(chains))


def _chain_starts(entries: Sequence[_Entry], info: TableInfo) -> dict[int, tuple[str, str]]:
    """By the offset of its first entry each chain's name and hook."""
    starts = {at: (hook.upper(), hook) for hook, at in info.begins.items() if at != _NO_ENTRY}
    for entry, after in pairwise(entries):
        if entry.target == "ERROR":
            starts[after.offset] = (_name(entry.info), "")
    return starts


def _name(info: bytes) -> str:
    return info.split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")


def _chain(
    opened: tuple[str, str], entries: list[_Entry], info: TableInfo, names: dict[int, str], family: str
) -> Chain:
    name, hook = opened
    policy, packets, count = "", None, None
    # The last entry of every chain is the kernel's: the policy, or the return of a chain that iptables made.
    rules, last = (entries[:-1], entries[-1]) if entries else ([], None)
    if hook and last is not None:
        policy = "drop" if _verdict(last) == -1 else "accept"
        packets, count = last.packets, last.bytes
    priority = _NAT_PRIORITIES.get(hook, 0) if info.name == "nat" else _PRIORITIES.get(info.name, 0)
    kind = "nat" if info.name == "nat" else "filter"
    return Chain(
        name=name,
        rules=tuple(_rule(name, number, one, names, family) for number, one in enumerate(rules, 1)),
        hook=hook,
        type=kind if hook else "",
        priority=priority if hook else 0,
        policy=policy,
        packets=packets,
        bytes=count,
    )


def _verdict(entry: _Entry) -> int | None:
    if entry.target or len(entry.info) < 4:
        return None
    (code,) = struct.unpack_from("=i", entry.info)
    return int(code)


def _rule(chain: str, number: int, entry: _Entry, names: dict[int, str], family: str) -> FilterRule:
    expressions = [entry.conditions, *entry.matches]
    target = _target(entry, names, family)
    if target is not None:
        expressions.append(target)
    comments = (str(one.fields.get("comment", "")) for one in entry.matches if one.name == "xt:comment")
    return FilterRule(
        number=number,
        handle=None,
        expressions=tuple(expressions),
        text=entry_text(chain, expressions, family=family),
        packets=entry.packets,
        bytes=entry.bytes,
        comment=next(comments, ""),
    )


def _target(entry: _Entry, names: dict[int, str], family: str) -> Expression | None:
    if entry.target:
        return decode_extension(entry.target, entry.revision, entry.info, family=family, target=True)
    code = _verdict(entry)
    if code is None:
        return Expression(name="verdict", fields={"verdict": "unknown"}, understood=False)
    if code < 0:
        word = _VERDICTS.get(code, f"unknown({code})")
        return Expression(name="verdict", fields={"verdict": word}, understood=code in _VERDICTS)
    if code == entry.following and code not in names:
        return None
    chain = names.get(code)
    if chain is None:
        # a jump to the next entry that begins no chain is how a rule without a target is written
        return None if code == entry.following else Expression(name="verdict", understood=False)
    return Expression(name="verdict", fields={"verdict": "goto" if entry.goto else "jump", "chain": chain})


def _entries(data: bytes, family: str) -> Iterator[_Entry]:
    layout = _LAYOUTS[family]
    offset, count = 0, 0
    while offset < len(data):
        count += 1
        if count > _MOST_ENTRIES:
            raise BadTable(f"more than {_MOST_ENTRIES} entries")
        if offset + layout.size > len(data):
            raise BadTable("an entry that is cut off")
        target_at, length = struct.unpack_from("=HH", data, offset + layout.target)
        if not layout.size <= target_at <= length - _HEADER.size or offset + length > len(data):
            raise BadTable("an entry with a wrong length")
        try:
            yield _entry(data[offset : offset + length], offset, target_at, layout, family)
        except (BadBlob, struct.error) as error:
            raise BadTable("an entry that cannot be read") from error
        offset += length


def _entry(data: bytes, offset: int, target_at: int, layout: _Layout, family: str) -> _Entry:
    size, name, revision = _HEADER.unpack_from(data, target_at)
    if size < _HEADER.size or target_at + size > len(data):
        raise BadTable("a target with a wrong length")
    packets, count = struct.unpack_from("=QQ", data, layout.counters)
    goto = data[layout.conditions - 2] & 2 if family == "ip" else data[131] & 4
    return _Entry(
        offset=offset,
        following=offset + len(data),
        conditions=_conditions(Blob(data, 4 if family == "ip" else 6)),
        matches=tuple(_matches(data[layout.size : target_at], family)),
        target=_name(name),
        revision=revision,
        info=data[target_at + _HEADER.size : target_at + size],
        goto=bool(goto),
        packets=packets,
        bytes=count,
    )


def _matches(data: bytes, family: str) -> Iterator[Expression]:
    offset = 0
    while offset < len(data):
        if offset + _HEADER.size > len(data):
            raise BadTable("a match that is cut off")
        size, name, revision = _HEADER.unpack_from(data, offset)
        if size < _HEADER.size or offset + size > len(data):
            raise BadTable("a match with a wrong length")
        info = data[offset + _HEADER.size : offset + size]
        yield decode_extension(_name(name), revision, info, family=family, target=False)
        offset += size


def _conditions(blob: Blob) -> Expression:
    """struct ipt_ip or ip6t_ip6."""
    size = 4 if blob.version == 4 else 16
    devices = 4 * size
    protocol, inverted = blob.u16(devices + 64), blob.u8(devices + 67 if blob.version == 4 else devices + 68)
    flags = blob.u8(devices + 66 if blob.version == 4 else devices + 67)
    fields: dict[str, Detail] = {}
    negated: list[Detail] = []
    for name, at, bit in (("source", 0, 8), ("destination", size, 16)):
        network = blob.network(at, at + 2 * size)
        if not network.endswith("/0") or inverted & bit:
            fields[name] = network
            negated += [name] if inverted & bit else []
    for name, at, bit in (("in", 0, 1), ("out", 16, 2)):
        device = blob.device(devices + at, devices + at + 32)
        if device:
            fields[name] = device
            negated += [name] if inverted & bit else []
    if protocol:
        fields["protocol"] = protocol_word(protocol)
        negated += ["protocol"] if inverted & 64 else []
    if blob.version == 4 and flags & 1:
        fields["fragment"] = True
        negated += ["fragment"] if inverted & 32 else []
    if negated:
        fields["not"] = negated
    return Expression(name="ip", fields=fields)
