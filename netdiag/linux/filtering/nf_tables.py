"""Expressions of nf_tables, evaluated for one packet with registers, as the kernel does.

Every step gives True (go on), False (the rule does not match), None (not known) or a Decision that ends the rule.
Sources: linux/netfilter/nf_tables.h, linux/netfilter/nf_conntrack_common.h.
"""

import ipaddress
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from netdiag.linux.filtering.packet import (
    Bits,
    ConnectionState,
    Decision,
    Evaluation,
    Packet,
    Target,
    Ternary,
    both,
    compare,
    header_bytes,
    known,
    masked,
    masquerade,
    native_number,
    negated,
    network_header,
    redirect,
    translate,
    transport_header,
    unknown,
    within,
)
from netdiag.linux.ruleset import ElementSet, Expression, SetEntry, protocol_number
from netdiag.values import dataclass

Step = Ternary | Decision

# IP_CT bits as nft_ct shows them.
STATE_BITS = {
    ConnectionState.INVALID: 1,
    ConnectionState.ESTABLISHED: 2,
    ConnectionState.RELATED: 4,
    ConnectionState.NEW: 8,
    ConnectionState.UNTRACKED: 64,
}
# RTN_* of linux/rtnetlink.h.
UNICAST, LOCAL, BROADCAST, MULTICAST = 1, 2, 3, 5
_STATUS_SNAT, _STATUS_DNAT = 0x10, 0x20
_FIB_SADDR, _FIB_DADDR, _FIB_IIF, _FIB_OIF = 1, 2, 8, 16
_ETHERTYPES = {4: 0x0800, 6: 0x86DD}
_NAME = 16
# All registers together; what says more comes from no kernel.
_LONGEST = 64
# What changes nothing that later rules could ask for.
_HARMLESS = frozenset(
    ("counter", "log", "dup", "last", "flow_offload", "synproxy", "ct_helper", "ct_timeout", "secmark")
)


def step(expression: Expression, evaluation: Evaluation) -> Step:
    """Evaluate one expression."""
    if expression.name in _HARMLESS:
        return True
    handler = _HANDLERS.get(expression.name)
    if handler is None or not expression.understood:
        _forget(expression, evaluation)
        return None
    return handler(expression.fields, evaluation)


def address_type(address: str, evaluation: Evaluation) -> int | None:
    """RTN_* of an address as the routing tables see it; None where that is not known."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    if parsed.is_multicast:
        return MULTICAST
    if str(parsed) == "255.255.255.255":
        return BROADCAST
    if evaluation.namespace.is_local is None:
        return LOCAL if parsed.is_loopback else None
    return LOCAL if evaluation.namespace.is_local(address) else UNICAST


def _forget(expression: Expression, evaluation: Evaluation) -> None:
    """Mark as unknown what an expression that is not understood may have written."""
    register, length = expression.fields.get("dreg"), expression.fields.get("len", 16)
    if isinstance(register, int) and isinstance(length, int):
        evaluation.load(register, unknown(min(max(length, 4), 64)))


def _number(fields: Mapping[str, object], name: str, default: int = 0) -> int:
    value = fields.get(name, default)
    return value if isinstance(value, int) else default


def _length(fields: Mapping[str, object]) -> int:
    return min(_number(fields, "len"), _LONGEST)


def _hexadecimal(fields: Mapping[str, object], name: str) -> bytes:
    return bytes.fromhex(str(fields.get(name, "")))


def _meta(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    key = str(fields.get("key"))
    if "sreg" in fields:
        if key == "mark":
            bits = evaluation.read(_number(fields, "sreg"), 4)
            mark = int.from_bytes(bits.value, sys.byteorder) if bits.complete else None
            evaluation.packet = replace(evaluation.packet, mark=mark)
        return True
    evaluation.load(_number(fields, "dreg"), meta_value(key, evaluation))
    return True


def meta_value(key: str, evaluation: Evaluation) -> Bits:
    """The bytes that `meta KEY` loads."""
    packet = evaluation.packet
    match key:
        case "iifname" | "oifname":
            return _name(packet.in_link if key == "iifname" else packet.out_link)
        case "iif" | "oif":
            name = packet.in_link if key == "iif" else packet.out_link
            index = evaluation.namespace.ifindexes.get(name) if name else 0
            return unknown(4) if index is None else known(native_number(index))
        case "bri_iifname" | "ibrname":
            return _name(packet.in_link) if packet.in_port else unknown(_NAME)
        case "nfproto":
            return known(bytes([2 if packet.family == 4 else 10]))
        case "l4proto":
            number = protocol_number(packet.protocol)
            return unknown(1) if number is None else known(bytes([number]))
        case "protocol":
            return known(_ETHERTYPES[packet.family].to_bytes(2, "big"))
        case "mark":
            return unknown(4) if packet.mark is None else known(native_number(packet.mark))
        case "pkttype":
            return known(b"\0") if packet.in_link and packet.in_link != "lo" else unknown(1)
        case _:
            return unknown(16)


def _name(name: str) -> Bits:
    return known(name.encode(errors="surrogateescape")[:_NAME].ljust(_NAME, b"\0"))


def _payload(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    if "sreg" in fields:
        return None
    base, offset, length = str(fields.get("base")), _number(fields, "offset"), _length(fields)
    match base:
        case "network":
            bits = header_bytes(network_header(evaluation.packet), offset, length)
        case "transport":
            bits = header_bytes(transport_header(evaluation.packet), offset, length)
        case _:
            bits = unknown(length)
    evaluation.load(_number(fields, "dreg"), bits)
    return True


def _cmp(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    data = _hexadecimal(fields, "data")
    return compare(evaluation.read(_number(fields, "sreg"), len(data)), str(fields.get("op")), data)


def _range(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    first, last = _hexadecimal(fields, "from"), _hexadecimal(fields, "to")
    inside = within(evaluation.read(_number(fields, "sreg"), len(first)), first, last)
    return negated(inside, fields.get("op") == "!=")


def _bitwise(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    bits = evaluation.read(_number(fields, "sreg"), _length(fields))
    if fields.get("op", "mask-xor") == "mask-xor":
        found = masked(bits, _hexadecimal(fields, "mask"), _hexadecimal(fields, "xor"))
    else:
        found = unknown(len(bits.value))
    evaluation.load(_number(fields, "dreg"), found)
    return True


def _byteorder(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    size, bits = _number(fields, "size", 4), evaluation.read(_number(fields, "sreg"), _length(fields))
    if sys.byteorder == "little" and size > 0:
        bits = Bits(_swapped(bits.value, size), _swapped(bits.known, size))
    evaluation.load(_number(fields, "dreg"), bits)
    return True


def _swapped(data: bytes, size: int) -> bytes:
    return b"".join(data[at : at + size][::-1] for at in range(0, len(data), size))


def _immediate(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    evaluation.load(_number(fields, "dreg"), known(_hexadecimal(fields, "data")))
    return True


def _verdict(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    return decision(str(fields.get("verdict")), str(fields.get("chain", "")))


def decision(word: str, chain: str) -> Decision:
    """The decision of a verdict's name."""
    match word:
        case "accept" | "drop" | "jump" | "goto" | "return" | "continue":
            return Decision(word=word, chain=chain)
        case _:
            return Decision(word="unknown", because=f"verdict {word}")


def _lookup(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    found = evaluation.sets.get(str(fields.get("set")))
    if found is None:
        return None
    answer = look_up(found, evaluation, _number(fields, "sreg"))
    if "dreg" not in fields:
        return negated(answer.matches, bool(fields.get("invert")))
    if answer.matches is not True:
        _forget(Expression(name="", fields={"dreg": fields.get("dreg")}), evaluation)  # type: ignore[dict-item]
        return answer.matches
    if answer.entry is None:
        return None
    if answer.entry.verdict:
        return decision(answer.entry.verdict, answer.entry.chain)
    evaluation.load(_number(fields, "dreg"), known(answer.entry.value))
    return True


def _ct(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    key, packet = str(fields.get("key")), evaluation.packet
    if "sreg" in fields:
        if key == "mark":
            bits = evaluation.read(_number(fields, "sreg"), 4)
            mark = int.from_bytes(bits.value, sys.byteorder) if bits.complete else None
            evaluation.packet = replace(packet, connection_mark=mark)
        return True
    if key == "state":
        evaluation.load(_number(fields, "dreg"), known(native_number(STATE_BITS[evaluation.state])))
        return True
    if not evaluation.connected:
        return False
    evaluation.load(_number(fields, "dreg"), _connection_value(key, packet, str(fields.get("direction", ""))))
    return True


def _connection_value(key: str, packet: Packet, direction: str) -> Bits:
    match key:
        case "mark":
            return unknown(4) if packet.connection_mark is None else known(native_number(packet.connection_mark))
        case "status":
            bits = _STATUS_DNAT * packet.destination_translated | _STATUS_SNAT * packet.source_translated
            return Bits(native_number(bits), native_number(_STATUS_DNAT | _STATUS_SNAT))
        case "direction":
            return known(bytes([packet.reply]))
        case "l3protocol":
            return known(bytes([2 if packet.family == 4 else 10]))
        case "protocol":
            return meta_l4proto(packet)
        case _ if direction == "original":
            return _original_tuple(key, packet)
        case _:
            return unknown(16)


def meta_l4proto(packet: Packet) -> Bits:
    """The protocol's number."""
    number = protocol_number(packet.protocol)
    return unknown(1) if number is None else known(bytes([number]))


def _original_tuple(key: str, packet: Packet) -> Bits:
    before = packet.dialled
    start, length = (12, 4) if packet.family == 4 else (8, 16)
    match key:
        case "src" | "src_ip" | "src_ip6":
            return header_bytes(network_header(before), start, length)
        case "dst" | "dst_ip" | "dst_ip6":
            return header_bytes(network_header(before), start + length, length)
        case "proto_src":
            return header_bytes(transport_header(before), 0, 2)
        case "proto_dst":
            return header_bytes(transport_header(before), 2, 2)
        case _:
            return unknown(16)


def _fib(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    flags, result = _number(fields, "flags"), fields.get("result")
    bits = unknown(16 if result == "oifname" else 4)
    if result == "type" and not flags & (_FIB_IIF | _FIB_OIF):
        address = evaluation.packet.source if flags & _FIB_SADDR else evaluation.packet.destination
        kind = address_type(address, evaluation)
        bits = unknown(4) if kind is None else known(native_number(kind))
    evaluation.load(_number(fields, "dreg"), bits)
    return True


def _nat(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    target = Target(
        destination=fields.get("type") == "dnat",
        first=_address(fields, "address_min", evaluation),
        last=_address(fields, "address_max" if "address_max" in fields else "address_min", evaluation),
        first_port=_port(fields, "port_min", evaluation),
        last_port=_port(fields, "port_max" if "port_max" in fields else "port_min", evaluation),
        netmap="netmap" in str(fields.get("flags", "")),
    )
    return translate(evaluation, target)


def _address(fields: Mapping[str, object], name: str, evaluation: Evaluation) -> str | None:
    if name not in fields:
        return ""
    bits = evaluation.read(_number(fields, name), 4 if evaluation.packet.family == 4 else 16)
    return str(ipaddress.ip_address(bits.value)) if bits.complete else None


def _port(fields: Mapping[str, object], name: str, evaluation: Evaluation) -> int | None:
    if name not in fields:
        return 0
    bits = evaluation.read(_number(fields, name), 2)
    return int.from_bytes(bits.value, "big") if bits.complete else None


def _masq(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    return masquerade(evaluation)


def _redir(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    last = "port_max" if "port_max" in fields else "port_min"
    return redirect(evaluation, _port(fields, "port_min", evaluation), _port(fields, last, evaluation))


def _reject(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    return Decision(word="reject", kind=str(fields.get("kind", "")))


def _notrack(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    evaluation.leave_untracked()
    return True


def _limit(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    return None


def _object(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    return True if fields.get("type") in ("counter", "ct helper", "ct timeout", "secmark") else None


def _ends_elsewhere(fields: Mapping[str, object], evaluation: Evaluation) -> Step:
    return Decision(word="unknown", because="handed to another program or device")


_HANDLERS: Mapping[str, Callable[[Mapping[str, object], Evaluation], Step]] = {
    "meta": _meta,
    "payload": _payload,
    "cmp": _cmp,
    "range": _range,
    "bitwise": _bitwise,
    "byteorder": _byteorder,
    "immediate": _immediate,
    "verdict": _verdict,
    "lookup": _lookup,
    "ct": _ct,
    "fib": _fib,
    "nat": _nat,
    "masq": _masq,
    "redir": _redir,
    "reject": _reject,
    "notrack": _notrack,
    "limit": _limit,
    "quota": _limit,
    "connlimit": _limit,
    "dynset": _limit,
    "objref": _object,
    "queue": _ends_elsewhere,
    "tproxy": _ends_elsewhere,
    "fwd": _ends_elsewhere,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`matches` is None where it depends on unknown bits. `entry` is the element, None where several are possible."""

    matches: Ternary
    entry: SetEntry | None = None


def look_up(elements: ElementSet, evaluation: Evaluation, register: int) -> Answer:
    """Look up the key in the registers, from this one on."""
    possible, everything_else = False, None
    for entry in elements.entries:
        if not entry.key:
            everything_else = entry
            continue
        found = _inside(evaluation.read(register, len(entry.key)), entry, elements.field_lengths)
        if found is True and not possible:
            return Answer(matches=True, entry=entry)
        if found is not False:
            possible = True
    if possible or elements.partly or _changing(elements):
        return Answer(matches=None)
    if everything_else is not None:
        return Answer(matches=True, entry=everything_else)
    # Words without entries: written down by hand.
    return Answer(matches=None if elements.elements and not elements.entries else False)


def _changing(elements: ElementSet) -> bool:
    """Whether packets put elements into it."""
    return "dynamic" in elements.flags


def _inside(bits: Bits, entry: SetEntry, lengths: tuple[int, ...]) -> Ternary:
    answer: Ternary = True
    for start, end in _parts(len(entry.key), lengths):
        part = Bits(bits.value[start:end], bits.known[start:end])
        answer = both(answer, within(part, entry.key[start:end], entry.last[start:end]))
        if answer is False:
            return False
    return answer


def _parts(length: int, lengths: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Where each part of a key begins and ends; parts begin at multiples of four bytes."""
    if len(lengths) < 2:
        yield 0, length
        return
    start = 0
    for size in lengths:
        yield start, start + size
        start += -(-size // 4) * 4
