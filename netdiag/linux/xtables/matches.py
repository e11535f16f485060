"""Matches of iptables: struct to fields. A name in "not" is negated; ranges are lists of two.

Sources: linux/netfilter/xt_*.h, linux/netfilter_ipv4/ipt_*.h, linux/netfilter_ipv6/ip6t_*.h.
"""

from collections.abc import Callable, Mapping

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.blob import Blob
from netdiag.linux.xtables.rarer_matches import RARER
from netdiag.linux.xtables.uncommon_matches import decode_uncommon

Fields = dict[str, Detail]
Decoder = Callable[[Blob, int], Fields | None]

_ALL = [0, 0xFFFF]
_STATES = ("INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED", "SNAT", "DNAT")
_STATE_BITS = {"INVALID": 1, "ESTABLISHED": 2, "RELATED": 4, "NEW": 8, "SNAT": 64, "DNAT": 128, "UNTRACKED": 256}
_STATUSES = {"EXPECTED": 1, "SEEN_REPLY": 2, "ASSURED": 4, "CONFIRMED": 8}
_CONNTRACK_PORTS = (
    ("original_source_ports", 8),
    ("original_destination_ports", 9),
    ("reply_source_ports", 10),
    ("reply_destination_ports", 11),
)
_CONNTRACK_ADDRESSES = ("original_source", "original_destination", "reply_source", "reply_destination")
ALIAS = 1 << 13


def decode_match(name: str, revision: int, blob: Blob) -> Fields | None:
    """The fields of a match, None for one that is not known."""
    decoder = _DECODERS.get(name) or RARER.get(name)
    return decoder(blob, revision) if decoder else decode_uncommon(name, revision, blob)


def _ports(fields: Fields, blob: Blob, inverted: int) -> None:
    negated: list[Detail] = []
    for name, at, bit in (("source_ports", 0, 1), ("destination_ports", 4, 2)):
        limits: list[Detail] = [blob.u16(at), blob.u16(at + 2)]
        if limits != _ALL or inverted & bit:
            fields[name] = limits
        if inverted & bit:
            negated.append(name)
    if negated:
        fields["not"] = negated


def _tcp(blob: Blob, revision: int) -> Fields:
    fields: Fields = {}
    inverted = blob.u8(11)
    _ports(fields, blob, inverted)
    negated = fields.get("not")
    words: list[Detail] = negated if isinstance(negated, list) else []
    if blob.u8(8) or inverted & 8:
        fields["option"] = blob.u8(8)
        words += ["option"] if inverted & 8 else []
    if blob.u8(9) or inverted & 4:
        fields |= {"flags_mask": blob.u8(9), "flags_compare": blob.u8(10)}
        words += ["flags"] if inverted & 4 else []
    if words:
        fields["not"] = words
    return fields


def _udp(blob: Blob, revision: int) -> Fields:
    fields: Fields = {}
    _ports(fields, blob, blob.u8(8))
    return fields


def _multiport(blob: Blob, revision: int) -> Fields | None:
    which = {0: "sources", 1: "destinations", 2: "ports"}.get(blob.u8(0))
    count = blob.u8(1)
    if which is None or count > 15:
        return None
    ports = [blob.u16(2 + 2 * at) for at in range(count)]
    ranges: list[Detail] = []
    if revision == 0:
        return {"which": which, "ports": [[port, port] for port in ports]}
    at = 0
    while at < count:
        last = at + 1 if blob.u8(32 + at) and at + 1 < count else at
        ranges.append([ports[at], ports[last]])
        at = last + 1
    fields: Fields = {"which": which, "ports": ranges}
    if blob.u8(47):
        fields["not"] = ["ports"]
    return fields


def _addrtype(blob: Blob, revision: int) -> Fields:
    fields: Fields = {"source": blob.u16(0), "destination": blob.u16(2)}
    inverted = blob.u32(4) if revision else bool(blob.u32(4)) | bool(blob.u32(8)) << 1
    negated: list[Detail] = [name for name, bit in (("source", 1), ("destination", 2)) if inverted & bit]
    if negated:
        fields["not"] = negated
    if inverted & 4:
        fields["limit_in"] = True
    if inverted & 8:
        fields["limit_out"] = True
    return fields


def _conntrack(blob: Blob, revision: int) -> Fields | None:
    if revision not in (1, 2, 3):
        return None
    ports = [blob.u16(138 + 2 * at) if revision == 3 else blob.port(138 + 2 * at) for at in range(4)]
    flags, inverted = blob.u16(146), blob.u16(148)
    states, status = (blob.u8(150), blob.u8(151)) if revision == 1 else (blob.u16(150), blob.u16(152))
    fields: Fields = {}
    negated: list[Detail] = []

    def put(bit: int, name: str, value: Detail) -> None:
        if flags & bit:
            fields[name] = value
            if inverted & bit:
                negated.append(name)

    put(1, "states", [word for word in _STATES if states & _STATE_BITS[word]])
    put(2, "protocol", str(blob.u16(136)))
    for at, name in enumerate(_CONNTRACK_ADDRESSES):
        if flags & 4 << at:
            put(4 << at, name, blob.network(32 * at, 32 * at + 16))
    put(64, "status", [word for word, bit in _STATUSES.items() if status & bit])
    put(128, "expires", [blob.u32(128), blob.u32(132)])
    for at, (name, shift) in enumerate(_CONNTRACK_PORTS):
        last = blob.u16(154 + 2 * at) if revision == 3 else ports[at]
        put(1 << shift, name, [ports[at], last])
    if flags & 1 << 12:
        # an inverted direction is the other one
        fields["direction"] = "REPLY" if inverted & 1 << 12 else "ORIGINAL"
    if flags & ALIAS:
        fields["alias"] = True
    if negated:
        fields["not"] = negated
    return fields


def _state(blob: Blob, revision: int) -> Fields:
    bits = blob.u32(0)
    numbers = {**_STATE_BITS, "UNTRACKED": 64}
    return {"states": [word for word in _STATES[:5] if bits & numbers[word]]}


def _comment(blob: Blob, revision: int) -> Fields:
    return {"comment": blob.name(0, 256)}


def _mark(blob: Blob, revision: int) -> Fields | None:
    if revision != 1:
        return None
    fields: Fields = {"mark": blob.u32(0), "mask": blob.u32(4)}
    if blob.u8(8):
        fields["not"] = ["mark"]
    return fields


def _physdev(blob: Blob, revision: int) -> Fields:
    fields: Fields = {}
    inverted, wanted = blob.u8(64), blob.u8(65)
    negated: list[Detail] = []
    names: list[tuple[int, str, Detail]] = [
        (1, "in", blob.device(0, 16)),
        (2, "out", blob.device(32, 48)),
        (4, "is_bridged", True),
        (8, "is_in", True),
        (16, "is_out", True),
    ]
    for bit, name, value in names:
        if wanted & bit:
            fields[name] = value
            negated += [name] if inverted & bit else []
    if negated:
        fields["not"] = negated
    return fields


def _icmp(blob: Blob, revision: int) -> Fields:
    fields: Fields = {"type": blob.u8(0), "first_code": blob.u8(1), "last_code": blob.u8(2)}
    if blob.u8(3) & 1:
        fields["not"] = ["type"]
    return fields


def _iprange(blob: Blob, revision: int) -> Fields | None:
    if revision != 1:
        return None
    flags = blob.u8(64)
    fields: Fields = {}
    negated: list[Detail] = []
    for name, at, bit in (("source", 0, 1), ("destination", 32, 2)):
        if flags & bit:
            fields[name] = [blob.address(at), blob.address(at + 16)]
            negated += [name] if flags & bit << 4 else []
    if negated:
        fields["not"] = negated
    return fields


def _pkttype(blob: Blob, revision: int) -> Fields:
    words = {0: "unicast", 1: "broadcast", 2: "multicast"}
    number = blob.u32(0)
    fields: Fields = {"type": words.get(number, str(number))}
    if blob.u32(4):
        fields["not"] = ["type"]
    return fields


_DECODERS: Mapping[str, Decoder] = {
    "tcp": _tcp,
    "udp": _udp,
    "udplite": _udp,
    "multiport": _multiport,
    "addrtype": _addrtype,
    "conntrack": _conntrack,
    "state": _state,
    "comment": _comment,
    "mark": _mark,
    "connmark": _mark,
    "physdev": _physdev,
    "icmp": _icmp,
    "icmp6": _icmp,
    "iprange": _iprange,
    "pkttype": _pkttype,
}
