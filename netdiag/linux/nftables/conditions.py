"""Conditions in the words of nft: what an expression loads into a register, an operator, a value."""

import sys
from collections.abc import Iterator, Mapping

from netdiag.linux.nftables.datatypes import (
    BY_NAME,
    INTEGER,
    DataType,
    Field,
    Name,
    field_beginning,
    field_within,
    fields_at,
    flags_text,
    value_text,
)
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.structs import prefix_length
from netdiag.values import dataclass

Fields = Mapping[str, Detail]

_BARE_META = ("iif", "oif", "iifname", "oifname", "iifgroup", "oifgroup")
_META_KINDS = {
    "protocol": "ether_type",
    "priority": "classid",
    "mark": "mark",
    "iif": "iface_index",
    "oif": "iface_index",
    "iifname": "ifname",
    "oifname": "ifname",
    "iiftype": "iface_type",
    "oiftype": "iface_type",
    "skuid": "uid",
    "skgid": "gid",
    "rtclassid": "realm",
    "nfproto": "nf_proto",
    "l4proto": "inet_proto",
    "ibrname": "ifname",
    "obrname": "ifname",
    "pkttype": "pkt_type",
    "iifgroup": "devgroup",
    "oifgroup": "devgroup",
    "iifkind": "ifname",
    "oifkind": "ifname",
    "ibrvproto": "ether_type",
    "time": "time_date",
    "day": "day",
    "hour": "hour",
    "sdif": "iface_index",
    "sdifname": "ifname",
}
_HOST_NUMBERS = ("length", "cpu", "cgroup", "ibrpvid", "nftrace", "secmark")
_CT_KINDS = {
    "state": "ct_state",
    "direction": "ct_dir",
    "status": "ct_status",
    "mark": "mark",
    "expiration": "time",
    "helper": "string",
    "l3proto": "nf_proto",
    "src": "ipv4_addr",
    "dst": "ipv4_addr",
    "protocol": "inet_proto",
    "proto_src": "inet_service",
    "proto_dst": "inet_service",
    "label": "ct_label",
    "src_ip": "ipv4_addr",
    "dst_ip": "ipv4_addr",
    "src_ip6": "ipv6_addr",
    "dst_ip6": "ipv6_addr",
}
_CT_WORDS = {
    "src": "saddr",
    "dst": "daddr",
    "proto_src": "proto-src",
    "proto_dst": "proto-dst",
    "src_ip": "ip saddr",
    "dst_ip": "ip daddr",
    "src_ip6": "ip6 saddr",
    "dst_ip6": "ip6 daddr",
}
_HOST_INTEGER = DataType(name="integer", host=True)
_FIB_PARTS = ((1, "saddr"), (2, "daddr"), (4, "mark"), (8, "iif"), (16, "oif"))
_FIB_PRESENT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a register holds: its words, how its values are written, how many bytes it has.

    `base` and `start` (in bits) are those of a payload whose header is not settled before it is compared. `mask` and
    `flip` are what was done to it since; `network` is True once its bytes were put into network order.
    """

    words: str
    kind: DataType
    size: int
    base: str = ""
    start: int = 0
    mask: bytes = b""
    flip: bytes = b""
    network: bool = False
    data: bytes | None = None
    key: str = ""

    @property
    def host(self) -> bool:
        """Whether its bytes are a number in the machine's byte order."""
        return self.kind.host and not self.network

    def number(self, value: bytes) -> int:
        """The value of its bytes as a number."""
        return int.from_bytes(value, sys.byteorder if self.host else "big")


def load(name: str, fields: Fields, source: Load | None = None) -> Load | None:
    """What an expression puts into its register; None for one that loads nothing. `source` is what a hash is of."""
    match name:
        case "meta":
            return _meta(str(fields.get("key")))
        case "ct":
            return _ct(fields)
        case "payload":
            return _payload(fields)
        case "fib":
            return _fib(fields)
        case "immediate":
            data = bytes.fromhex(str(fields.get("data", "")))
            return Load(words="", kind=INTEGER, size=len(data), data=data)
        case "numgen":
            words = f"numgen {fields.get('type')} mod {fields.get('modulus')}{_offset(fields)}"
            return Load(words=words, kind=_HOST_INTEGER, size=4)
        case "hash":
            return _hash(fields, source)
        case "rt":
            return _rt(str(fields.get("key")))
        case "socket":
            return _socket(fields)
        case "exthdr":
            return _header_option(fields)
        case "osf":
            return Load(words="osf name", kind=BY_NAME["string"], size=16)
        case _:
            return None


def _meta(key: str) -> Load:
    words = key if key in _BARE_META else f"meta {key}"
    kind = BY_NAME.get(_META_KINDS.get(key, ""), _HOST_INTEGER if key in _HOST_NUMBERS else INTEGER)
    size = 2 if key in ("protocol", "iiftype", "oiftype", "ibrpvid", "ibrvproto") else kind.size
    return Load(words=words, kind=kind, size=1 if key == "nftrace" else size, key=key)


def _ct(fields: Fields) -> Load:
    key, direction = str(fields.get("key")), fields.get("direction")
    word = _CT_WORDS.get(key, key)
    words = f"ct {direction} {word}" if direction else f"ct {word}"
    kind = BY_NAME.get(_CT_KINDS.get(key, ""), _HOST_INTEGER)
    kind = INTEGER if key == "id" else kind
    size = {"packets": 8, "bytes": 8, "avgpkt": 8, "zone": 2}.get(key, kind.size)
    return Load(words=words, kind=kind, size=size, key=f"ct {key}")


def _payload(fields: Fields) -> Load:
    base, offset, length = str(fields.get("base")), fields.get("offset"), fields.get("len")
    start = offset * 8 if isinstance(offset, int) else 0
    return Load(words="", kind=INTEGER, size=_bounded(length), base=base, start=start)


def _bounded(length: Detail) -> int:
    """No more than all registers hold."""
    return min(length, 64) if isinstance(length, int) else 0


def _fib(fields: Fields) -> Load:
    flags = fields.get("flags")
    bits = flags if isinstance(flags, int) else 0
    parts = " . ".join(word for bit, word in _FIB_PARTS if bits & bit)
    result = str(fields.get("result"))
    if bits & _FIB_PRESENT:
        return Load(words=f"fib {parts} {result}", kind=BY_NAME["boolean"], size=1)
    kind = {"type": "fib_addrtype", "oif": "iface_index", "oifname": "ifname"}.get(result, "")
    found = BY_NAME.get(kind, _HOST_INTEGER)
    return Load(words=f"fib {parts} {result}", kind=found, size=found.size)


def _hash(fields: Fields, source: Load | None) -> Load:
    seed = fields.get("seed")
    words = f"{fields.get('type', 'jhash')}"
    if fields.get("type") != "symhash":
        words += f" {source.words if source else '?'}"
    words += f" mod {fields.get('modulus')}"
    if seed and isinstance(seed, int):
        words += f" seed 0x{seed:x}"
    return Load(words=words + _offset(fields), kind=_HOST_INTEGER, size=4)


def _offset(fields: Fields) -> str:
    return f" offset {fields['offset']}" if fields.get("offset") else ""


def _rt(key: str) -> Load:
    words = {"nexthop4": "ip nexthop", "nexthop6": "ip6 nexthop"}.get(key, key)
    kind = {"classid": "realm", "nexthop4": "ipv4_addr", "nexthop6": "ipv6_addr", "ipsec": "boolean"}.get(key, "")
    found = BY_NAME.get(kind, DataType(name="integer", size=2, host=True))
    return Load(words=f"rt {words}", kind=found, size=found.size)


def _socket(fields: Fields) -> Load:
    key = str(fields.get("key"))
    if key == "mark":
        return Load(words="socket mark", kind=BY_NAME["mark"], size=4)
    if key == "cgroupv2":
        return Load(words=f"socket cgroupv2 level {fields.get('level')}", kind=BY_NAME["cgroupsv2"], size=8)
    return Load(words=f"socket {key}", kind=DataType(name="integer", size=1), size=1)


_TCP_OPTIONS = {2: "maxseg", 3: "window", 4: "sack-perm", 5: "sack", 8: "timestamp", 30: "mptcp"}
_TCP_OPTION_FIELDS = {(2, 2): "size", (3, 2): "count", (8, 2): "tsval", (8, 6): "tsecr"}
_EXTENSIONS = {0: "hbh", 43: "rt", 44: "frag", 51: "ah", 60: "dst", 135: "mh"}
_EXTENSION_FIELDS = {0: "nexthdr", 1: "hdrlength"}
_ROUTING, _ROUTING_TYPE = 43, 2


def _header_option(fields: Fields) -> Load:
    kind, offset, length, flags = (
        value if isinstance(value, int) else 0 for value in map(fields.get, ("type", "offset", "len", "flags"))
    )
    words = header_option_words(str(fields.get("op", "ipv6")), kind, offset)
    if flags & 1:
        option = words.rpartition(" ")[0]
        return Load(words=option if "option" in option else f"exthdr {option}", kind=BY_NAME["boolean"], size=1)
    carried = BY_NAME["inet_proto"] if words.endswith(" nexthdr") else INTEGER
    return Load(words=words, kind=carried, size=length)


def header_option_words(operation: str, kind: int, offset: int) -> str:
    """An option of TCP, or an extension header of IPv6, with one of its fields."""
    if operation == "tcpopt":
        return f"tcp option {_TCP_OPTIONS.get(kind, str(kind))} {_TCP_OPTION_FIELDS.get((kind, offset), 'kind')}"
    if operation == "ipv6":
        if (kind, offset) == (_ROUTING, _ROUTING_TYPE):
            return "rt type"
        return f"{_EXTENSIONS.get(kind, str(kind))} {_EXTENSION_FIELDS.get(offset, str(offset))}"
    return f"{operation} option {kind} {offset}"


_ORDERED = {"==": "", "!=": "!= ", "<": "< ", "<=": "<= ", ">": "> ", ">=": ">= "}


def compared(load: Load, header: str, operator: str, value: bytes, names: Name) -> list[str]:
    """The conditions of one comparison; a load of several fields at once is several conditions."""
    if load.base:
        return [*_payload_conditions(load, header, operator, value, names)]
    if load.mask:
        return [_masked(load, operator, value, names)]
    if load.kind.kind == "string" and len(value) < load.size and b"\0" not in value and operator in ("==", "!="):
        words = value_text(load.kind, value)
        return [f"{load.words} {_sign(operator)}{words[:-1]}*{words[-1]}"]
    return [f"{load.words} {_sign(operator)}{_value(load, load.kind, value, names)}"]


def ranged(load: Load, header: str, first: bytes, last: bytes, negated: bool, names: Name) -> str:
    """The condition of a range."""
    words, kind = load.words, load.kind
    if load.base:
        found = fields_at(header, load.start, load.size * 8)
        words, kind = (f"{header} {found[0].name}", found[0].kind) if found else (raw_words(load), INTEGER)
    host = load.host
    sign = "!= " if negated else ""
    one, other = (value_text(kind, value, host=host, names=names) for value in (first, last))
    if kind.kind == "address" and not negated:
        return f"{words} {sign}{one}-{other}"
    return f"{words} {sign}{one}-{other}"


def load_words(load: Load, header: str) -> str:
    """What is loaded, without a comparison."""
    if not load.base:
        return load.words + (_mask_words(load) if load.mask else "")
    if load.mask:
        field = field_within(header, load.start, load.size * 8, int.from_bytes(load.mask, "big"))
        if field is not None:
            return f"{header} {field.name}"
    found = fields_at(header, load.start, load.size * 8)
    words = " . ".join(f"{header} {field.name}" for field in found) if found else raw_words(load)
    return words + (_mask_words(load) if load.mask else "")


def load_kind(load: Load, header: str) -> DataType:
    """The type that says how its values are written."""
    if not load.base:
        return load.kind
    found = fields_at(header, load.start, load.size * 8)
    return found[0].kind if found else INTEGER


def raw_words(load: Load) -> str:
    """Bits of a header that nft has no name for."""
    base = {"link": "ll", "network": "nh", "transport": "th", "inner": "ih"}.get(load.base, load.base)
    return f"@{base},{load.start},{load.size * 8}"


def _sign(operator: str) -> str:
    return _ORDERED.get(operator, f"{operator} ")


def _value(load: Load, kind: DataType, value: bytes, names: Name) -> str:
    if kind.name == "iface_index" and not any(value):
        return "0"
    return value_text(kind, value, host=load.host, names=names)


def _payload_conditions(load: Load, header: str, operator: str, value: bytes, names: Name) -> Iterator[str]:
    bits = load.size * 8
    if load.mask:
        field = field_within(header, load.start, bits, int.from_bytes(load.mask, "big"))
        if field is not None and field.kind.kind != "flags":
            yield f"{header} {field.name} {_sign(operator)}{_part(field, load, value)}"
            return
    found = fields_at(header, load.start, bits)
    if not found:
        longer = field_beginning(header, load.start, bits)
        if longer is not None and longer.kind.kind == "address":
            network = value_text(longer.kind, value.ljust(longer.length // 8, b"\0"))
            yield f"{header} {longer.name} {_sign(operator)}{network}/{bits}"
            return
        yield f"{raw_words(load)} {_sign(operator)}0x{int.from_bytes(value, 'big'):x}"
        return
    if load.mask:
        yield _masked_field(load, f"{header} {found[0].name}", found[0].kind, operator, value)
        return
    for field in found:
        yield f"{header} {field.name} {_sign(operator)}{_part(field, load, value)}"


def _part(field: Field, load: Load, value: bytes) -> str:
    """A field's own value among the bits that were loaded."""
    shift = load.start + load.size * 8 - field.start - field.length
    number = int.from_bytes(value, "big") >> shift & (1 << field.length) - 1
    if field.length % 8 == 0:
        return value_text(field.kind, number.to_bytes(field.length // 8, "big"))
    return field.kind.words.get(number, f"0x{number:02x}" if field.kind.kind == "hex" else str(number))


def _masked_field(load: Load, words: str, kind: DataType, operator: str, value: bytes) -> str:
    length = prefix_length(load.mask)
    if kind.kind == "address" and length is not None:
        return f"{words} {_sign(operator)}{value_text(kind, value)}/{length}"
    if kind.kind == "flags":
        return _flags(words, kind, operator, int.from_bytes(load.mask, "big"), int.from_bytes(value, "big"))
    if kind.kind == "address":
        return f"{words} & {value_text(kind, load.mask)} {operator} {value_text(kind, value)}"
    if kind.kind == "mac":
        return f"{words} & {value_text(kind, load.mask)} {operator} {value_text(kind, value)}"
    mask, number = int.from_bytes(load.mask, "big"), int.from_bytes(value, "big")
    return f"{words} & {mask} {operator} {number}"


def _flags(words: str, kind: DataType, operator: str, mask: int, value: int) -> str:
    """Of bits some are set, or none, or exactly these."""
    if value == 0:
        return f"{words} {'' if operator == '!=' else '! '}{flags_text(kind, mask)}"
    sign = "!= " if operator == "!=" else ""
    return f"{words} {sign}{flags_text(kind, value)} / {flags_text(kind, mask)}"


def _masked(load: Load, operator: str, value: bytes, names: Name) -> str:
    mask, number = load.number(load.mask), load.number(value)
    if load.kind.kind == "flags":
        return _flags(load.words, load.kind, operator, mask, number)
    return f"{load.words}{_mask_words(load)} {operator} {_value(load, load.kind, value, names)}"


def _mask_words(load: Load) -> str:
    """What was done to the bits: (bits & mask) ^ flip, said with &, | and ^."""
    mask, flip = load.number(load.mask), load.number(load.flip)
    ones = (1 << 8 * len(load.mask)) - 1
    words = ""
    if mask & flip:
        words += f" & {_bits(load, mask)}" if mask != ones else ""
        return f"{words} ^ {_bits(load, flip)}"
    kept = mask | flip
    words += f" & {_bits(load, kept)}" if kept != ones else ""
    return words + (f" | {_bits(load, flip)}" if flip else "")


def _bits(load: Load, number: int) -> str:
    return f"0x{number:08x}" if load.kind.kind == "mark" else str(number)
