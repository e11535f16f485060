"""Tables that iptables made in nf_tables (iptables-nft): which they are, and their rules as iptables prints them.

Loads and comparisons become options again. The result is what legacy iptables would have for the same rule: an
expression "ip", matches, a target or a verdict.
"""

import ipaddress
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from netdiag.linux.nftables.messages import RuleMessage, TableId
from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Chain, ElementSet, Expression, protocol_number, protocol_word
from netdiag.linux.xtables.rules import entry_text
from netdiag.linux.xtables.structs import network_text

# table -> base chain -> hook, type, priority
_FILTER = {name: (name.lower(), "filter", priority) for name, priority in (("INPUT", 0), ("FORWARD", 0), ("OUTPUT", 0))}
_BASE = {
    "filter": _FILTER,
    "security": {name: (hook, kind, 50) for name, (hook, kind, _) in _FILTER.items()},
    "raw": {"PREROUTING": ("prerouting", "filter", -300), "OUTPUT": ("output", "filter", -300)},
    "mangle": {
        **{name: (name.lower(), "filter", -150) for name in ("PREROUTING", "INPUT", "FORWARD", "POSTROUTING")},
        "OUTPUT": ("output", "route", -150),
    },
    "nat": {
        "PREROUTING": ("prerouting", "nat", -100),
        "INPUT": ("input", "nat", 100),
        "OUTPUT": ("output", "nat", -100),
        "POSTROUTING": ("postrouting", "nat", 100),
    },
}
_EXPRESSIONS = frozenset(
    ("meta", "payload", "cmp", "bitwise", "counter", "verdict", "immediate", "limit", "lookup", "log", "range")
)


def made_by_iptables(
    place: TableId, chains: Sequence[Chain], rules: Iterable[RuleMessage], sets: Iterable[ElementSet]
) -> bool:
    """Whether iptables-save would print the table."""
    expected = _BASE.get(place.table)
    if place.family not in ("ip", "ip6") or expected is None:
        return False
    based = [chain for chain in chains if chain.hook]
    if any((chain.hook, chain.type, chain.priority) != expected.get(chain.name) for chain in based):
        return False
    if not based and not chains:
        return False
    if any(not one.anonymous for one in sets):
        return False
    return all(one.name in _EXPRESSIONS or one.name.startswith("xt:") for rule in rules for one in rule.expressions)


_NAME_SIZE = 16
_FRAGMENT_MASK = "1fff"
_PORT_OFFSETS = {0: "source_ports", 2: "destination_ports"}
_TCP, _UDP, _SCTP = 6, 17, 132
_PORTED = {_TCP: "tcp", _UDP: "udp", 136: "udplite", 33: "dccp", _SCTP: "sctp"}
_ICMP = {1: "icmp", 58: "icmp6"}
_UNITS = {1: "sec", 60: "min", 3600: "hour", 86400: "day"}
_PACKET_TYPES = {0: "unicast", 1: "broadcast", 2: "multicast"}


def iptables_text(chain: str, expressions: Sequence[Expression], *, family: str) -> str:
    """The rule as iptables-save prints it."""
    return entry_text(chain, as_iptables(expressions, family), family=family)


def as_iptables(expressions: Sequence[Expression], family: str) -> tuple[Expression, ...]:
    """The rule as an entry of iptables: its conditions, its matches, its target."""
    rule = _IptablesRule(family=family)
    for expression in expressions:
        rule.take(expression)
    conditions = dict(rule.conditions)
    if rule.negated:
        conditions["not"] = rule.negated
    return (Expression(name="ip", fields=conditions), *rule.rest)


@dataclass(slots=True, kw_only=True)
class _Load:
    """What is in a register."""

    name: str
    fields: Mapping[str, Detail]
    mask: bytes = b""


@dataclass(slots=True, kw_only=True)
class _IptablesRule:
    family: str
    conditions: dict[str, Detail] = field(default_factory=dict)
    negated: list[Detail] = field(default_factory=list)
    rest: list[Expression] = field(default_factory=list)
    registers: dict[int, _Load] = field(default_factory=dict)
    lowest: str = ""

    def take(self, expression: Expression) -> None:
        fields = expression.fields
        match expression.name:
            case "meta" | "payload" if "dreg" in fields:
                self.registers[_number(fields, "dreg")] = _Load(name=expression.name, fields=fields)
            case "bitwise":
                load = self.registers.get(_number(fields, "sreg"))
                if load is not None:
                    load.mask = bytes.fromhex(str(fields.get("mask", "")))
                    self.registers[_number(fields, "dreg")] = load
            case "cmp":
                self._compare(expression, str(fields.get("op")), str(fields.get("data")))
            case "range":
                self._compare(expression, f"range{fields.get('op')}", f"{fields.get('from')}-{fields.get('to')}")
            case "log":
                self.rest.append(_log(fields))
            case "limit":
                self.rest.append(_limit(fields))
            case "meta" if fields.get("key") == "nftrace":
                self.rest.append(Expression(name="xt:TRACE", fields={"target": True}))
            case "counter" | "immediate":
                return
            case _:
                self.rest.append(expression)

    def _compare(self, expression: Expression, operator: str, data: str) -> None:
        load = self.registers.get(_number(expression.fields, "sreg"))
        found = False
        # A value of another size than iptables gives is no option of its.
        with suppress(ValueError, IndexError):
            found = load is not None and (
                self._meta(load, operator, data) if load.name == "meta" else self._payload(load, operator, data)
            )
        if not found:
            self.rest.append(expression)

    def _put(self, name: str, value: Detail, operator: str) -> bool:
        self.conditions[name] = value
        if operator == "!=":
            self.negated.append(name)
        return True

    def _match(self, name: str, fields: Mapping[str, Detail], negated: str = "") -> bool:
        """Options of one match; those of the same match before it are added to."""
        last = self.rest[-1] if self.rest else None
        present: dict[str, Detail] = {}
        if last is not None and last.name == f"xt:{name}" and last.fields.get("raised"):
            present = dict(last.fields)
            self.rest.pop()
        before = present.get("not")
        words = [*(before if isinstance(before, list) else []), *([negated] if negated else [])]
        present |= {**fields, "raised": True}
        if words:
            present["not"] = words
        self.rest.append(Expression(name=f"xt:{name}", fields=present))
        return True

    def _meta(self, load: _Load, operator: str, data: str) -> bool:
        value = bytes.fromhex(data) if "-" not in data else b""
        match load.fields.get("key"):
            case "iifname" | "oifname":
                name = value.split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")
                name += "" if b"\0" in value or len(value) == _NAME_SIZE else "+"
                return self._put("in" if load.fields.get("key") == "iifname" else "out", name, operator)
            case "l4proto":
                return self._put("protocol", protocol_word(value[0]), operator)
            case "mark":
                mask = int.from_bytes(load.mask or b"\xff" * 4, sys.byteorder)
                mark: dict[str, Detail] = {"mark": int.from_bytes(value, sys.byteorder), "mask": mask}
                return self._match("mark", mark, "mark" if operator == "!=" else "")
            case "pkttype":
                kind = _PACKET_TYPES.get(value[0], str(value[0]))
                return self._match("pkttype", {"type": kind}, "type" if operator == "!=" else "")
            case _:
                return False

    def _payload(self, load: _Load, operator: str, data: str) -> bool:
        base, offset = load.fields.get("base"), _number(load.fields, "offset")
        if base == "network":
            return self._address(load, offset, operator, data) or self._fragment(load, offset, operator)
        if base == "transport":
            return self._transport(load, offset, operator, data)
        return False

    def _address(self, load: _Load, offset: int, operator: str, data: str) -> bool:
        size, places = (
            (4, {12: "source", 16: "destination"})
            if self.family == "ip"
            else (
                16,
                {8: "source", 24: "destination"},
            )
        )
        name = places.get(offset)
        if name is None or "-" in data:
            return False
        value = bytes.fromhex(data)
        mask = (load.mask or b"\xff" * len(value)).ljust(size, b"\0")
        return self._put(name, _network(value.ljust(size, b"\0"), mask), operator)

    def _fragment(self, load: _Load, offset: int, operator: str) -> bool:
        if self.family != "ip" or offset != 6 or load.mask.hex() != _FRAGMENT_MASK:
            return False
        self.conditions["fragment"] = True
        if operator == "==":
            self.negated.append("fragment")
        return True

    def _transport(self, load: _Load, offset: int, operator: str, data: str) -> bool:
        number = protocol_number(str(self.conditions.get("protocol", "")))
        if number in _PORTED and offset in _PORT_OFFSETS and load.fields.get("len") == 2:
            return self._ports(_PORTED[number], _PORT_OFFSETS[offset], operator, data)
        if number == _TCP and offset == 13:
            mask = load.mask[0] if load.mask else 0xFF
            fields: dict[str, Detail] = {"flags_mask": mask, "flags_compare": int(data, 16)}
            return self._match("tcp", fields, "flags" if operator == "!=" else "")
        return False

    def _ports(self, match: str, name: str, operator: str, data: str) -> bool:
        if operator == ">=":
            self.lowest = data
            return True
        if operator == "<=" and not self.lowest:
            data, operator = f"0000-{data}", "range=="
        if operator == "<=" and self.lowest:
            data, operator, self.lowest = f"{self.lowest}-{data}", "range==", ""
        first, _, last = data.partition("-")
        limits: list[Detail] = [int(first, 16), int(last or first, 16)]
        return self._match(match, {name: limits}, name if operator.endswith("!=") else "")


def _number(fields: Mapping[str, Detail], name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def _network(value: bytes, mask: bytes) -> str:
    return network_text(str(ipaddress.ip_address(value)), str(ipaddress.ip_address(mask)))


def _limit(fields: Mapping[str, Detail]) -> Expression:
    unit = _UNITS.get(_number(fields, "unit"), f"{fields.get('unit')} seconds")
    rate = f"{fields.get('rate')}/{unit}"
    return Expression(name="xt:limit", fields={"rate": rate, "burst": fields.get("burst", 0)})


def _log(fields: Mapping[str, Detail]) -> Expression:
    """NFLOG, where it names a group, else LOG."""
    if "group" not in fields:
        level, flags = _number(fields, "level"), _number(fields, "flags")
        words: dict[str, Detail] = {"level": level, "flags": flags, "prefix": fields.get("prefix", ""), "target": True}
        return Expression(name="xt:LOG", fields=words)
    made: dict[str, Detail] = {"group": fields["group"], "prefix": fields.get("prefix", ""), "target": True}
    if "threshold" in fields:
        made["threshold"] = fields["threshold"]
    if "snaplen" in fields:
        made["size"] = fields["snaplen"]
    return Expression(name="xt:NFLOG", fields=made)
