"""A rule of nf_tables in the words of nft, without the state of its counters.

Registers are followed from what loads them to what uses them. What says only which header the next condition reads
(`meta l4proto tcp` before `tcp dport`) is left out, as nft does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, summarize_address_range

from netdiag.linux.nftables import statements
from netdiag.linux.nftables.comparisons import compared, load_kind, load_words, ranged
from netdiag.linux.nftables.datatypes import BY_NAME, Name, duration, value_text
from netdiag.linux.nftables.expressions import reject_kind
from netdiag.linux.nftables.header_fields import (
    NETWORK_FAMILIES,
    NETWORKS,
    TRANSPORTS,
    VLAN_TYPES,
    field_within,
    fields_at,
)
from netdiag.linux.nftables.loads import Load, header_option_words, load
from netdiag.linux.ruleset import ElementSet, Expression

_FAMILY_HEADERS = {"ip": "ip", "ip6": "ip6", "arp": "arp"}
_NETWORK_OF = {"icmp": "ip", "icmpv6": "ip6"}
_LINK_FAMILIES = ("bridge", "netdev")
_ETHER, _VLAN_START = 1, 112


def native_text(
    expressions: Sequence[Expression], *, family: str, sets: Sequence[ElementSet], comment: str = "", names: Name = str
) -> str:
    """As `nft -s list ruleset` prints it."""
    writer = _Writer(family=family, sets={one.name: one for one in sets}, names=names)
    writer.headers["network"] = _FAMILY_HEADERS.get(family, "")
    for expression in expressions:
        writer.take(expression)
    words = [statement for statement in writer.written if statement]
    return " ".join([*words, f'comment "{comment}"'] if comment else words)


@dataclass(slots=True, kw_only=True)
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
                source = self._words_of_registers(statements.number(fields, "sreg"), statements.number(fields, "len"))
                loaded = load(name, fields, replace(loaded, words=source)) or loaded
            self._put(statements.number(fields, "dreg"), loaded)
        else:
            self._other(name, fields, expression)

    def _other(self, name: str, fields: statements.Fields, expression: Expression) -> None:
        match name:
            case "bitwise":
                self._bitwise(fields)
            case "byteorder":
                found = self._at(fields, "sreg")
                if found is not None:
                    self._put(statements.number(fields, "dreg"), replace(found, network=fields.get("op") == "hton"))
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

    def _statement(self, name: str, fields: statements.Fields, expression: Expression) -> str:
        match name:
            case "counter" | "notrack" | "last":
                return name
            case "limit":
                return statements.limit(fields)
            case "quota":
                return statements.quota(fields)
            case "connlimit":
                return statements.connection_limit(fields)
            case "log":
                return statements.log(fields)
            case "reject":
                return self._reject(fields)
            case "queue":
                return statements.queue(fields)
            case "objref":
                return self._object(fields)
            case "synproxy":
                return statements.synproxy(fields)
            case "flow_offload":
                return f"flow add @{fields.get('flowtable')}"
            case _ if name.startswith("xt:"):
                word = "target" if fields.get("target") else "match"
                return f'xt {word} "{name.removeprefix("xt:")}"'
            case _:
                return f"[{name}]"

    def _at(self, fields: statements.Fields, name: str) -> Load | None:
        return self.registers.get(_slot(statements.number(fields, name))) if name in fields else None

    def _put(self, register: int, loaded: Load) -> None:
        self.registers[_slot(register)] = loaded

    def _bitwise(self, fields: statements.Fields) -> None:
        found = self._at(fields, "sreg")
        if found is None:
            return
        if fields.get("op", "mask-xor") != "mask-xor":
            amount = int(str(fields.get("data") or "0"), 16)
            self._put(statements.number(fields, "dreg"), replace(found, words=f"{found.words} {fields['op']} {amount}"))
            return
        mask, flip = (bytes.fromhex(str(fields.get(name, ""))) for name in ("mask", "xor"))
        self._put(statements.number(fields, "dreg"), replace(found, mask=mask, flip=flip))

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

    def _compare(self, fields: statements.Fields) -> None:
        found = self._at(fields, "sreg")
        operator, value = str(fields.get("op")), bytes.fromhex(str(fields.get("data", "")))
        if found is None:
            self.written.append("[cmp]")
            return
        slot = _slot(statements.number(fields, "sreg"))
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

    def _range(self, fields: statements.Fields) -> None:
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

    def _lookup(self, fields: statements.Fields) -> None:
        name = str(fields.get("set"))
        found = self.sets.get(name)
        parts = found.key_type.count(" . ") + 1 if found else 1
        words = self._words_of_registers(statements.number(fields, "sreg"), parts=parts)
        written = set_words(found) if found is not None and found.anonymous else f"@{name}"
        if "dreg" not in fields:
            self.written.append(f"{words} {'!= ' if fields.get('invert') else ''}{written}")
        elif statements.number(fields, "dreg") == 0:
            self.written.append(f"{words} vmap {written}")
        else:
            kind = BY_NAME.get(found.data_type.split(" . ")[0] if found else "", BY_NAME["mark"])
            several = bool(found and " . " in found.data_type)
            mapped = Load(words=f"{words} map {written}", kind=kind, size=kind.size, key="concat" if several else "")
            self._put(statements.number(fields, "dreg"), mapped)

    def _value(self, fields: statements.Fields, name: str, kind: str) -> str:
        found = self._at(fields, name)
        if found is None:
            return ""
        if found.data is None:
            return load_words(found, self._header(found))
        return value_text(BY_NAME[kind], found.data, names=self.names)

    def _translate(self, name: str, fields: statements.Fields) -> None:
        family = str(fields.get("family", self.family))
        if name == "tproxy":
            family = {2: "ip", 10: "ip6"}.get(statements.number(fields, "family"), "")
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
        netmap = statements.number(fields, "range_flags") & 64
        if name in ("nat", "tproxy") and (self.family == "inet" or joined or netmap):
            word += f" {family}" if family in ("ip", "ip6") else ""
        word += " prefix" if netmap else ""
        if netmap and last and last != address:
            address, last = _prefix(address, last), ""
        where = statements.target(address, last, port, last_port, brackets=family == "ip6")
        words = [word, f"to {where}" if where else "", statements.range_flags(fields)]
        self.written.append(" ".join(part for part in words if part))

    def _reject(self, fields: statements.Fields) -> str:
        if fields.get("type") != "icmp" or self.family in _FAMILY_HEADERS:
            return statements.reject(fields, self.family)
        header = self.headers.get("network", "")
        self._needless("network")
        return f"reject with {reject_kind('icmp', statements.number(fields, 'code'), header)}"

    def _object(self, fields: statements.Fields) -> str:
        if "set" not in fields:
            return statements.object_reference(fields)
        found = self.sets.get(str(fields["set"]))
        words = self._words_of_registers(statements.number(fields, "sreg"), parts=1)
        written = set_words(found) if found is not None and found.anonymous else f"@{fields['set']}"
        return f"{found.data_type if found else 'object'} name {words} map {written}"

    def _dynset(self, fields: statements.Fields) -> None:
        name = str(fields.get("set"))
        found = self.sets.get(name)
        parts = found.key_type.count(" . ") + 1 if found else 1
        words = self._words_of_registers(statements.number(fields, "sreg"), parts=parts)
        if statements.number(fields, "timeout"):
            words += f" timeout {duration(statements.number(fields, 'timeout'))}"
        inner = fields.get("expressions")
        more = statements.inner_statements(inner if isinstance(inner, list) else [])
        words += f" {more}" if more else ""
        value = self._at(fields, "data_sreg")
        if value is not None and found is not None:
            kind = found.data_type if found.data_type in BY_NAME else "mark"
            words += f" : {self._value(fields, 'data_sreg', kind)}"
        self.written.append(f"{fields.get('op')} @{name} {{ {words} }}")

    def _send(self, name: str, fields: statements.Fields) -> None:
        family = "ipv6_addr" if self.family == "ip6" else "ipv4_addr"
        address, device = self._value(fields, "address", family), self._value(fields, "device", "iface_index")
        words = [name, f"to {address or device}", f"device {device}" if address and device else ""]
        self.written.append(" ".join(word for word in words if word))

    def _assign(self, name: str, fields: statements.Fields) -> None:
        """`meta mark set ...` and its like."""
        if name == "payload":
            self.written.append(self._written_header(fields))
            return
        if name == "exthdr":
            numbers = (statements.number(fields, one) for one in ("type", "offset"))
            words = header_option_words(str(fields.get("op", "ipv6")), *numbers)
            size = Load(words="", kind=BY_NAME["inet_service"], size=2)
            self.written.append(f"{words} set {self._assigned(fields, size)}")
            return
        place = load(name, fields)
        if place is not None:
            words = place.words if place.words.startswith(name) else f"{name} {place.words}"
            self.written.append(f"{words} set {self._assigned(fields, place)}")

    def _assigned(self, fields: statements.Fields, place: Load) -> str:
        source = self._at(fields, "sreg")
        if source is None:
            return "?"
        if source.data is None:
            return load_words(source, self._header(source))
        return value_text(place.kind, source.data[: place.size], host=place.host, names=self.names)

    def _written_header(self, fields: statements.Fields) -> str:
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
    """An anonymous set or map, where it is used."""
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
