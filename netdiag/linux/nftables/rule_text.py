"""A rule of nf_tables in the words of nft, without the state of its counters.

A condition is what an expression loads into a register, an operator and a value. Registers are followed from what loads
them to what uses them. What says only which header the next condition reads (`meta l4proto tcp` before `tcp dport`) is
left out, as nft does.
"""

import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from ipaddress import IPv4Address, summarize_address_range

from netdiag.linux.nftables.datatypes import (
    BY_NAME,
    INTEGER,
    NETWORK_FAMILIES,
    NETWORKS,
    TRANSPORTS,
    VLAN_TYPES,
    DataType,
    Field,
    Name,
    duration,
    field_beginning,
    field_within,
    fields_at,
    flags_text,
    value_text,
)
from netdiag.linux.nftables.messages import reject_kind
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import ElementSet, Expression
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


_FAMILY_HEADERS = {"ip": "ip", "ip6": "ip6", "arp": "arp"}
_NETWORK_OF = {"icmp": "ip", "icmpv6": "ip6"}
_LINK_FAMILIES = ("bridge", "netdev")
_ETHER, _VLAN_START = 1, 112


def nft_text(
    expressions: Sequence[Expression], *, family: str, sets: Sequence[ElementSet], comment: str = "", names: Name = str
) -> str:
    """The rule as `nft -s list ruleset` prints it."""
    writer = _Writer(family=family, sets={one.name: one for one in sets}, names=names)
    writer.headers["network"] = _FAMILY_HEADERS.get(family, "")
    for expression in expressions:
        writer.take(expression)
    words = [statement for statement in writer.written if statement]
    return " ".join([*words, f'comment "{comment}"'] if comment else words)


@dataclasses.dataclass(slots=True, kw_only=True)
class _Writer:
    family: str
    sets: dict[str, ElementSet]
    names: Name
    written: list[str] = field(default_factory=list)
    registers: dict[int, Load] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    # where in `written` a condition stands that the next payload of that base makes needless
    settled: dict[str, int] = field(default_factory=dict)
    lowest: tuple[int, bytes] | None = None

    def take(self, expression: Expression) -> None:
        name, fields = expression.name, expression.fields
        if name in ("meta", "ct", "payload", "exthdr") and "sreg" in fields and "dreg" not in fields:
            self._assign(name, fields)
        elif (loaded := load(name, fields, self._at(fields, "sreg"))) is not None:
            if name == "exthdr" and fields.get("op") == "ipv6":
                self._needless("network")
            if name == "hash" and "sreg" in fields:
                source = self._words_of_registers(number_of(fields, "sreg"), number_of(fields, "len"))
                loaded = load(name, fields, replace(loaded, words=source)) or loaded
            self._put(number_of(fields, "dreg"), loaded)
        else:
            self._other(name, fields, expression)

    def _other(self, name: str, fields: Fields, expression: Expression) -> None:
        match name:
            case "bitwise":
                self._bitwise(fields)
            case "byteorder":
                found = self._at(fields, "sreg")
                if found is not None:
                    self._put(number_of(fields, "dreg"), replace(found, network=fields.get("op") == "hton"))
            case "cmp":
                self._compare(fields)
            case "range":
                self._range(fields)
            case "lookup":
                self._lookup(fields)
            case "verdict":
                chain = f" {fields['chain']}" if "chain" in fields else ""
                self.written.append(f"{fields.get('verdict')}{chain}")
            case "nat" | "masq" | "redir" | "tproxy":
                self._translate(name, fields)
            case "dynset":
                self._dynset(fields)
            case "dup" | "fwd":
                self._send(name, fields)
            case _:
                self.written.append(self._statement(name, fields, expression))

    def _statement(self, name: str, fields: Fields, expression: Expression) -> str:
        match name:
            case "counter" | "notrack" | "last":
                return name
            case "limit":
                return limit_text(fields)
            case "quota":
                return quota_text(fields)
            case "connlimit":
                return connection_limit_text(fields)
            case "log":
                return log_text(fields)
            case "reject":
                return self._reject(fields)
            case "queue":
                return queue_text(fields)
            case "objref":
                return self._object(fields)
            case "synproxy":
                return synproxy_text(fields)
            case "flow_offload":
                return f"flow add @{fields.get('flowtable')}"
            case _ if name.startswith("xt:"):
                word = "target" if fields.get("target") else "match"
                return f'xt {word} "{name.removeprefix("xt:")}"'
            case _:
                return f"[{name}]"

    def _at(self, fields: Fields, name: str) -> Load | None:
        return self.registers.get(_slot(number_of(fields, name))) if name in fields else None

    def _put(self, register: int, loaded: Load) -> None:
        self.registers[_slot(register)] = loaded

    def _bitwise(self, fields: Fields) -> None:
        found = self._at(fields, "sreg")
        if found is None:
            return
        if fields.get("op", "mask-xor") != "mask-xor":
            amount = int(str(fields.get("data") or "0"), 16)
            self._put(number_of(fields, "dreg"), replace(found, words=f"{found.words} {fields['op']} {amount}"))
            return
        mask, flip = (bytes.fromhex(str(fields.get(name, ""))) for name in ("mask", "xor"))
        self._put(number_of(fields, "dreg"), replace(found, mask=mask, flip=flip))

    def _header(self, loaded: Load) -> str:
        """The header that a payload is of; what only said so is taken back."""
        if not loaded.base:
            return ""
        if loaded.base == "link":
            self._needless("link")
            if self.family not in _LINK_FAMILIES and not self.headers.get("link"):
                return ""
            return "vlan" if loaded.start >= _VLAN_START else "ether"
        header = self.headers.get(loaded.base, "")
        if loaded.base == "transport" and not header:
            return "th" if len(fields_at("th", loaded.start, loaded.size * 8)) == 1 else ""
        self._needless(loaded.base)
        if header in _NETWORK_OF and self.headers.get("network") == _NETWORK_OF[header]:
            self._needless("network")
        return header

    def _needless(self, base: str) -> None:
        at = self.settled.pop(base, None)
        if at is not None:
            self.written[at] = ""

    def _compare(self, fields: Fields) -> None:
        found = self._at(fields, "sreg")
        operator, value = str(fields.get("op")), bytes.fromhex(str(fields.get("data", "")))
        if found is None:
            self.written.append("[cmp]")
            return
        slot = _slot(number_of(fields, "sreg"))
        if operator == "<=" and self.lowest is not None and self.lowest[0] == slot:
            first = self.lowest[1]
            self.written.pop()
            self.lowest = None
            self.written.append(ranged(found, self._header(found), first, value, False, self.names))
            return
        self.lowest = (slot, value) if operator == ">=" else None
        header = self._header(found)
        self.written += compared(found, header, operator, value, self.names)
        if operator == "==":
            self._settle(found, header, value)

    def _settle(self, found: Load, header: str, value: bytes) -> None:
        """What a condition tells of the headers to come."""
        at, number = len(self.written) - 1, int.from_bytes(value, "big")
        if found.base == "link":
            # the type may have been compared along with the address before it
            number &= 0xFFFF
        words = self.written[at].split()
        if found.key == "l4proto" or words[:2] in (["ip", "protocol"], ["ip6", "nexthdr"]):
            if number in TRANSPORTS:
                self.headers["transport"] = TRANSPORTS[number]
                self.settled["transport"] = at
        elif found.key == "nfproto" and number in NETWORK_FAMILIES and self.family not in _FAMILY_HEADERS:
            self._network(NETWORK_FAMILIES[number], at)
        elif found.key == "protocol" or words[:2] in (["ether", "type"], ["vlan", "type"]):
            if number in NETWORKS and self.family not in _FAMILY_HEADERS:
                self._network(NETWORKS[number], at)
            elif number in VLAN_TYPES:
                self.settled["link"] = at
        elif found.key == "iiftype" and found.number(value) == _ETHER:
            self.headers["link"] = "ether"
            self.settled["link"] = at

    def _network(self, header: str, at: int) -> None:
        self.headers["network"] = header
        self.settled["network"] = at

    def _range(self, fields: Fields) -> None:
        found = self._at(fields, "sreg")
        first, last = (bytes.fromhex(str(fields.get(name, ""))) for name in ("from", "to"))
        if found is not None:
            negated = fields.get("op") == "!="
            self.written.append(ranged(found, self._header(found), first, last, negated, self.names))

    def _words_of_registers(self, register: int, size: int = 0, parts: int = 0) -> str:
        """What is loaded from a register on, joined as nft joins the parts of a key."""
        slot, words, taken = _slot(register), [], 0
        while (found := self.registers.get(slot)) is not None:
            words.append(load_words(found, self._header(found)))
            step = max(-(-found.size // 4), 1)
            slot += step
            taken += step * 4
            if (size and taken >= size) or (parts and len(words) >= parts) or not (size or parts):
                break
        return " . ".join(words)

    def _lookup(self, fields: Fields) -> None:
        name = str(fields.get("set"))
        found = self.sets.get(name)
        parts = found.key_type.count(" . ") + 1 if found else 1
        words = self._words_of_registers(number_of(fields, "sreg"), parts=parts)
        written = set_words(found) if found is not None and found.anonymous else f"@{name}"
        if "dreg" not in fields:
            self.written.append(f"{words} {'!= ' if fields.get('invert') else ''}{written}")
        elif number_of(fields, "dreg") == 0:
            self.written.append(f"{words} vmap {written}")
        else:
            kind = BY_NAME.get(found.data_type.split(" . ")[0] if found else "", BY_NAME["mark"])
            several = bool(found and " . " in found.data_type)
            mapped = Load(words=f"{words} map {written}", kind=kind, size=kind.size, key="concat" if several else "")
            self._put(number_of(fields, "dreg"), mapped)

    def _value(self, fields: Fields, name: str, kind: str) -> str:
        found = self._at(fields, name)
        if found is None:
            return ""
        if found.data is None:
            return load_words(found, self._header(found))
        return value_text(BY_NAME[kind], found.data, names=self.names)

    def _translate(self, name: str, fields: Fields) -> None:
        family = str(fields.get("family", self.family))
        if name == "tproxy":
            family = {2: "ip", 10: "ip6"}.get(number_of(fields, "family"), "")
        kind = "ipv6_addr" if family == "ip6" else "ipv4_addr"
        places = (
            ("address", "address", "port", "port")
            if name == "tproxy"
            else (*("address_min", "address_max", "port_min", "port_max"),)
        )
        address, last = self._value(fields, places[0], kind), self._value(fields, places[1], kind)
        port, last_port = (self._value(fields, place, "inet_service") for place in places[2:])
        source = self._at(fields, places[0])
        joined = source is not None and source.key == "concat"
        if joined:
            port = last_port = ""
        word = {"nat": str(fields.get("type")), "masq": "masquerade", "redir": "redirect"}.get(name, name)
        netmap = number_of(fields, "range_flags") & 64
        if name in ("nat", "tproxy") and (self.family == "inet" or joined or netmap):
            word += f" {family}" if family in ("ip", "ip6") else ""
        word += " prefix" if netmap else ""
        if netmap and last and last != address:
            address, last = _prefix(address, last), ""
        where = target_text(address, last, port, last_port, brackets=family == "ip6")
        words = [word, f"to {where}" if where else "", range_flags_text(fields)]
        self.written.append(" ".join(part for part in words if part))

    def _reject(self, fields: Fields) -> str:
        if fields.get("type") != "icmp" or self.family in _FAMILY_HEADERS:
            return reject_text(fields, self.family)
        header = self.headers.get("network", "")
        self._needless("network")
        return f"reject with {reject_kind('icmp', number_of(fields, 'code'), header)}"

    def _object(self, fields: Fields) -> str:
        if "set" not in fields:
            return object_reference_text(fields)
        found = self.sets.get(str(fields["set"]))
        words = self._words_of_registers(number_of(fields, "sreg"), parts=1)
        written = set_words(found) if found is not None and found.anonymous else f"@{fields['set']}"
        return f"{found.data_type if found else 'object'} name {words} map {written}"

    def _dynset(self, fields: Fields) -> None:
        name = str(fields.get("set"))
        found = self.sets.get(name)
        parts = found.key_type.count(" . ") + 1 if found else 1
        words = self._words_of_registers(number_of(fields, "sreg"), parts=parts)
        if number_of(fields, "timeout"):
            words += f" timeout {duration(number_of(fields, 'timeout'))}"
        inner = fields.get("expressions")
        more = inner_text(inner if isinstance(inner, list) else [])
        words += f" {more}" if more else ""
        value = self._at(fields, "data_sreg")
        if value is not None and found is not None:
            kind = found.data_type if found.data_type in BY_NAME else "mark"
            words += f" : {self._value(fields, 'data_sreg', kind)}"
        self.written.append(f"{fields.get('op')} @{name} {{ {words} }}")

    def _send(self, name: str, fields: Fields) -> None:
        family = "ipv6_addr" if self.family == "ip6" else "ipv4_addr"
        address, device = self._value(fields, "address", family), self._value(fields, "device", "iface_index")
        words = [name, f"to {address or device}", f"device {device}" if address and device else ""]
        self.written.append(" ".join(word for word in words if word))

    def _assign(self, name: str, fields: Fields) -> None:
        """`meta mark set ...` and its like."""
        if name == "payload":
            self.written.append(self._written_header(fields))
            return
        if name == "exthdr":
            numbers = (number_of(fields, one) for one in ("type", "offset"))
            words = header_option_words(str(fields.get("op", "ipv6")), *numbers)
            size = Load(words="", kind=BY_NAME["inet_service"], size=2)
            self.written.append(f"{words} set {self._assigned(fields, size)}")
            return
        place = load(name, fields)
        if place is not None:
            words = place.words if place.words.startswith(name) else f"{name} {place.words}"
            self.written.append(f"{words} set {self._assigned(fields, place)}")

    def _assigned(self, fields: Fields, place: Load) -> str:
        source = self._at(fields, "sreg")
        if source is None:
            return "?"
        if source.data is None:
            return load_words(source, self._header(source))
        return value_text(place.kind, source.data[: place.size], host=place.host, names=self.names)

    def _written_header(self, fields: Fields) -> str:
        place = load("payload", {**fields, "dreg": 0})
        source = self._at(fields, "sreg")
        assert place is not None
        header = self._header(place)
        if source is not None and source.mask and source.base == place.base:
            changed = int.from_bytes(source.mask, "big") ^ (1 << 8 * len(source.mask)) - 1
            part = field_within(header, place.start, place.size * 8, changed)
            if part is not None:
                shift = place.start + place.size * 8 - part.start - part.length
                number = int.from_bytes(source.flip, "big") >> shift
                size = -(-part.length // 8)
                return f"{header} {part.name} set {value_text(part.kind, number.to_bytes(size, 'big'))}"
        known = replace(place, kind=load_kind(place, header))
        return f"{load_words(place, header)} set {self._assigned(fields, known)}"


def set_words(found: ElementSet) -> str:
    """An anonymous set or map, as it is written in a rule."""
    words = (key if value is None else f"{key} : {value}" for key, value in found.elements)
    return f"{{ {', '.join(words)} }}"


def _prefix(first: str, last: str) -> str:
    """The network from the first to the last address."""
    try:
        found = [*summarize_address_range(IPv4Address(first), IPv4Address(last))]
    except ValueError:
        return f"{first}-{last}"
    return str(found[0]) if len(found) == 1 else f"{first}-{last}"


def _slot(register: int) -> int:
    """Registers of 16 bytes are four of the small ones."""
    return (register - 1) * 4 if register <= 4 else register - 8


_UNITS = {1: "second", 60: "minute", 3600: "hour", 86400: "day", 604800: "week"}
_LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug", "audit")
_DEFAULT_LEVEL, _DEFAULT_BURST = 4, 5
_LOG_FLAGS = ((4, "ip options"), (8, "skuid"), (32, "ether"))
_LOG_ALL = 0x2F
_RANGE_FLAGS = ((4, "random"), (16, "fully-random"), (8, "persistent"))
_OVER = 1
# What a plain "reject" sends in tables of each family.
_PLAIN_REJECTS = {"ip": ("icmp", 3), "ip6": ("icmp", 4)}


def number_of(fields: Fields, name: str) -> int:
    """A number among the fields."""
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def limit_text(fields: Fields) -> str:
    """limit rate over 10/second burst 5 packets."""
    over = "over " if number_of(fields, "flags") & _OVER else ""
    unit = _UNITS.get(number_of(fields, "unit"), f"{fields.get('unit')} seconds")
    rate, burst = number_of(fields, "rate"), number_of(fields, "burst")
    if fields.get("type") == "bytes":
        words = f"limit rate {over}{amount_text(rate)}/{unit}"
        return f"{words} burst {amount_text(burst)}" if burst else words
    words = f"limit rate {over}{rate}/{unit}"
    return f"{words} burst {burst} packets" if burst not in (0, _DEFAULT_BURST) else words


def amount_text(count: int) -> str:
    """A number of bytes in the largest unit that divides it."""
    for unit, size in (("mbytes", 1 << 20), ("kbytes", 1 << 10)):
        if count and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} bytes"


def quota_text(fields: Fields) -> str:
    """quota over 10 mbytes."""
    return f"quota {'over ' if number_of(fields, 'flags') & _OVER else ''}{amount_text(number_of(fields, 'bytes'))}"


def connection_limit_text(fields: Fields) -> str:
    """ct count over 20."""
    return f"ct count {'over ' if number_of(fields, 'flags') & _OVER else ''}{fields.get('count')}"


def log_text(fields: Fields) -> str:
    """log prefix "x" group 5."""
    words = ["log"]
    if fields.get("prefix"):
        words.append(f'prefix "{fields["prefix"]}"')
    if "group" in fields:
        words.append(f"group {fields['group']}")
        words += [f"snaplen {fields['snaplen']}"] if fields.get("snaplen") else []
        words += [f"queue-threshold {fields['threshold']}"] if fields.get("threshold") else []
        return " ".join(words)
    level = number_of(fields, "level") if "level" in fields else _DEFAULT_LEVEL
    if level != _DEFAULT_LEVEL:
        words.append(f"level {_LEVELS[level] if level < len(_LEVELS) else level}")
    return " ".join([*words, *_log_flags(number_of(fields, "flags"))])


def _log_flags(flags: int) -> list[str]:
    if flags & _LOG_ALL == _LOG_ALL:
        return ["flags all"]
    words = []
    tcp = [word for bit, word in ((1, "sequence"), (2, "options")) if flags & bit]
    if tcp:
        words.append(f"flags tcp {','.join(tcp)}")
    return words + [f"flags {word}" for bit, word in _LOG_FLAGS if flags & bit]


def reject_text(fields: Fields, family: str) -> str:
    """reject with icmp host-unreachable; the default of the family is left out."""
    kind, code = str(fields.get("type")), number_of(fields, "code")
    plain = _PLAIN_REJECTS.get(family, ("icmpx", 1))
    return "reject" if (kind, code) == plain else f"reject with {fields.get('kind')}"


def range_flags_text(fields: Fields) -> str:
    """random,persistent."""
    return ",".join(word for bit, word in _RANGE_FLAGS if number_of(fields, "range_flags") & bit)


def target_text(address: str, last_address: str, port: str, last_port: str, *, brackets: bool) -> str:
    """10.0.0.5-10.0.0.9:80-90."""
    words = address if address == last_address or not last_address else f"{address}-{last_address}"
    if port and brackets and address:
        words = f"[{address}]" if address == last_address or not last_address else f"[{address}]-[{last_address}]"
    if port:
        words += f":{port}" if port == last_port or not last_port else f":{port}-{last_port}"
    return words


def queue_text(fields: Fields) -> str:
    """queue flags bypass to 3-5."""
    first, total, flags = number_of(fields, "num"), number_of(fields, "total"), number_of(fields, "flags")
    words = ",".join(word for bit, word in ((1, "bypass"), (2, "fanout")) if flags & bit)
    last = f"-{first + total - 1}" if total > 1 else ""
    return f"queue flags {words} to {first}{last}" if words else f"queue to {first}{last}"


def object_reference_text(fields: Fields) -> str:
    """counter name "x"."""
    kind = str(fields.get("type"))
    word = f"{kind} set" if kind in ("ct helper", "ct timeout", "ct expectation") else f"{kind} name"
    return f'{word} "{fields.get("name")}"'


def synproxy_text(fields: Fields) -> str:
    """synproxy mss 1460 wscale 7 timestamp."""
    flags = number_of(fields, "flags")
    words = ["synproxy"]
    words += [f"mss {fields.get('mss')}"] if flags & 1 else []
    words += [f"wscale {fields.get('wscale')}"] if flags & 2 else []
    words += ["timestamp"] if flags & 8 else []
    return " ".join([*words, *(["sack-perm"] if flags & 4 else [])])


def inner_text(found: Sequence[Detail]) -> str:
    """The statements of a dynset beside its element."""
    words = []
    for one in found:
        if isinstance(one, list) and len(one) == 2 and isinstance(one[1], dict):
            name, fields = str(one[0]), one[1]
            writer = {"limit": limit_text, "quota": quota_text, "connlimit": connection_limit_text}.get(name)
            words.append(writer(fields) if writer else name)
    return " ".join(words)
