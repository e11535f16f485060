"""Matches and targets of iptables, evaluated for one packet.

The fields are those that `netdiag.linux.xtables` decodes: "not" names the conditions that are negated.
Sources: linux/netfilter/x_tables.h and the xt_*.h and ipt_*.h beside it.
"""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from netdiag.linux.filtering.nf_tables import Step, address_type
from netdiag.linux.filtering.packet import (
    Decision,
    Evaluation,
    Packet,
    Target,
    Ternary,
    both,
    equal,
    header_bytes,
    masked,
    masquerade,
    negated,
    network_map,
    redirect,
    translate,
    transport_header,
)
from netdiag.linux.ruleset import Expression, protocol_number

Fields = Mapping[str, object]

_HARMLESS = frozenset(
    ("LOG", "NFLOG", "ULOG", "TRACE", "AUDIT", "TCPMSS", "CHECKSUM", "CLASSIFY", "DSCP", "TOS", "TTL")
) | {"HL", "SET", "LED", "RATEEST", "IDLETIMER", "ECN", "TCPOPTSTRIP", "HMARK", "TEE", "SECMARK", "CONNSECMARK"}


def step(expression: Expression, evaluation: Evaluation) -> Step:
    """Evaluate a match ("xt:tcp"), a target ("xt:DNAT") or the conditions of an iptables entry ("ip")."""
    name = expression.name.removeprefix("xt:")
    if name in _HARMLESS or name == "comment":
        return True
    handler = _HANDLERS.get(name)
    if handler is None:
        return Decision(word="unknown", because=f"target {name} is not known") if name.isupper() else None
    if not expression.understood:
        return None
    return handler(expression.fields, evaluation)


def _inverted(fields: Fields, name: str) -> bool:
    words = fields.get("not")
    return name in words if isinstance(words, list | tuple) else bool(words)


def _number(fields: Fields, name: str, default: int = 0) -> int:
    value = fields.get(name, default)
    return value if isinstance(value, int) else default


def _entry(fields: Fields, evaluation: Evaluation) -> Step:
    packet = evaluation.packet
    answer: Ternary = True
    for name, address in (("source", packet.source), ("destination", packet.destination)):
        if name in fields:
            answer = both(answer, negated(in_network(address, str(fields[name])), _inverted(fields, name)))
    for name, link in (("in", packet.in_link), ("out", packet.out_link)):
        if name in fields:
            answer = both(answer, negated(named(link, str(fields[name])), _inverted(fields, name)))
    if "protocol" in fields:
        answer = both(answer, negated(_same_protocol(packet, str(fields["protocol"])), _inverted(fields, "protocol")))
    if "fragment" in fields:
        answer = both(answer, _inverted(fields, "fragment"))
    return answer


@lru_cache(maxsize=4096)
def in_network(address: str, network: str) -> Ternary:
    """Whether an address is in a network with a prefix length or a mask, which may have holes."""
    prefix, _, mask = network.partition("/")
    try:
        value, start = ipaddress.ip_address(address), ipaddress.ip_address(prefix)
        if not mask or mask.isdecimal():
            return value in ipaddress.ip_network(network, strict=False)
        bits = int(ipaddress.ip_address(mask))
    except ValueError:
        return None
    return value.version == start.version and int(value) & bits == int(start) & bits


def named(link: str, pattern: str) -> bool:
    """Whether a device name matches; "eth+" matches all names that begin with "eth"."""
    return link.startswith(pattern[:-1]) if pattern.endswith("+") else link == pattern


def _same_protocol(packet: Packet, wanted: str) -> Ternary:
    number, other = protocol_number(packet.protocol), protocol_number(wanted)
    return None if number is None or other is None else other in (0, number)


def between(port: int | None, limits: object) -> Ternary:
    """Whether a port is in the range [first, last]."""
    if not isinstance(limits, list | tuple) or len(limits) != 2:
        return None
    first, last = limits
    if first == 0 and last == 0xFFFF:
        return True
    return None if port is None else first <= port <= last


def _ports(fields: Fields, evaluation: Evaluation) -> Step:
    packet = evaluation.packet
    answer: Ternary = True
    for name, port in (("source_ports", packet.source_port), ("destination_ports", packet.destination_port)):
        if name in fields:
            answer = both(answer, negated(between(port, fields[name]), _inverted(fields, name)))
    return answer


def _tcp(fields: Fields, evaluation: Evaluation) -> Step:
    answer = _ports(fields, evaluation)
    if isinstance(answer, Decision):
        return answer
    if "flags_mask" in fields:
        flags = header_bytes(transport_header(evaluation.packet), 13, 1)
        mask, wanted = bytes([_number(fields, "flags_mask")]), bytes([_number(fields, "flags_compare")])
        answer = both(answer, negated(equal(masked(flags, mask, b"\0"), wanted), _inverted(fields, "flags")))
    return both(answer, None if "option" in fields else True)


def _multiport(fields: Fields, evaluation: Evaluation) -> Step:
    packet, which, ranges = evaluation.packet, str(fields.get("which")), fields.get("ports")
    found: Ternary = False
    for limits in ranges if isinstance(ranges, list | tuple) else ():
        answers = []
        if which in ("sources", "ports"):
            answers.append(between(packet.source_port, limits))
        if which in ("destinations", "ports"):
            answers.append(between(packet.destination_port, limits))
        found = _either(found, *answers)
    return negated(found, _inverted(fields, "ports"))


def _either(*answers: Ternary) -> Ternary:
    if any(answers):
        return True
    return None if None in answers else False


def _addrtype(fields: Fields, evaluation: Evaluation) -> Step:
    if fields.get("limit_in") or fields.get("limit_out"):
        return None
    answer: Ternary = True
    for name, address in (("source", evaluation.packet.source), ("destination", evaluation.packet.destination)):
        wanted = _number(fields, name)
        if wanted:
            kind = address_type(address, evaluation)
            matches = None if kind is None else bool(wanted >> kind & 1)
            answer = both(answer, negated(matches, _inverted(fields, name)))
    return answer


def _conntrack(fields: Fields, evaluation: Evaluation) -> Step:
    packet = evaluation.packet
    answer: Ternary = True
    if "states" in fields:
        words = fields["states"]
        wanted = {str(word).lower() for word in words} if isinstance(words, list | tuple) else set()
        states = {evaluation.state.value}
        if evaluation.connected:
            states |= {"dnat"} if packet.destination_translated else set()
            states |= {"snat"} if packet.source_translated else set()
        answer = both(answer, negated(bool(states & wanted), _inverted(fields, "states")))
    if not evaluation.connected:
        return both(answer, not (fields.keys() - {"states", "alias", "not"}))
    before = {"original_source": packet.dialled.source, "original_destination": packet.dialled.destination}
    for name, address in before.items():
        if name in fields:
            answer = both(answer, negated(in_network(address, str(fields[name])), _inverted(fields, name)))
    if "original_destination_ports" in fields:
        port = packet.dialled.destination_port
        name = "original_destination_ports"
        answer = both(answer, negated(between(port, fields[name]), _inverted(fields, name)))
    if "protocol" in fields:
        answer = both(answer, negated(_same_protocol(packet, str(fields["protocol"])), _inverted(fields, "protocol")))
    if "direction" in fields:
        answer = both(answer, (fields["direction"] == "REPLY") == packet.reply)
    rest = {"reply_source", "reply_destination", "original_source_ports", "reply_source_ports"}
    rest |= {"reply_destination_ports", "status", "expires"}
    return both(answer, None if rest & fields.keys() else True)


def _state(fields: Fields, evaluation: Evaluation) -> Step:
    return _conntrack(fields, evaluation)


def _marked(mark: int | None, fields: Fields) -> Ternary:
    if mark is None:
        return None
    return negated(mark & _number(fields, "mask", 0xFFFFFFFF) == _number(fields, "mark"), _inverted(fields, "mark"))


def _mark(fields: Fields, evaluation: Evaluation) -> Step:
    return _marked(evaluation.packet.mark, fields)


def _connmark(fields: Fields, evaluation: Evaluation) -> Step:
    return evaluation.connected and _marked(evaluation.packet.connection_mark, fields)


def _physdev(fields: Fields, evaluation: Evaluation) -> Step:
    packet = evaluation.packet
    answer: Ternary = True
    for name, port in (("in", packet.in_port), ("out", packet.out_port)):
        if name in fields:
            answer = both(answer, negated(named(port, str(fields[name])), _inverted(fields, name)))
    for name, holds in (
        ("is_in", bool(packet.in_port)),
        ("is_out", bool(packet.out_port)),
        ("is_bridged", bool(packet.in_port and packet.out_port)),
    ):
        if fields.get(name):
            answer = both(answer, negated(holds, _inverted(fields, name)))
    return answer


def _icmp(fields: Fields, evaluation: Evaluation) -> Step:
    header = transport_header(evaluation.packet)
    if header.known[:2] != b"\xff\xff":
        return None
    kind, code = header.value[0], header.value[1]
    wanted = _number(fields, "type", 255)
    matches = wanted == 255 or (
        wanted == kind and _number(fields, "first_code") <= code <= _number(fields, "last_code", 255)
    )
    return negated(matches, _inverted(fields, "type"))


def _iprange(fields: Fields, evaluation: Evaluation) -> Step:
    answer: Ternary = True
    for name, address in (("source", evaluation.packet.source), ("destination", evaluation.packet.destination)):
        limits = fields.get(name)
        if isinstance(limits, list | tuple) and len(limits) == 2:
            try:
                value = int(ipaddress.ip_address(address))
                inside = int(ipaddress.ip_address(str(limits[0]))) <= value <= int(ipaddress.ip_address(str(limits[1])))
            except ValueError:
                return None
            answer = both(answer, negated(inside, _inverted(fields, name)))
    return answer


def _pkttype(fields: Fields, evaluation: Evaluation) -> Step:
    known = bool(evaluation.packet.in_link) and evaluation.packet.in_link != "lo"
    return negated(fields.get("type") == "unicast", _inverted(fields, "type")) if known else None


def _translated(fields: Fields, evaluation: Evaluation, *, destination: bool) -> Step:
    limits = fields.get("ports")
    ports = limits if isinstance(limits, list | tuple) and len(limits) >= 2 else (0, 0)
    first = str(fields.get("first", ""))
    target = Target(
        destination=destination,
        first=first,
        last=str(fields.get("last", first)),
        first_port=int(ports[0]),
        last_port=int(ports[1]),
    )
    return translate(evaluation, target)


def _dnat(fields: Fields, evaluation: Evaluation) -> Step:
    return _translated(fields, evaluation, destination=True)


def _snat(fields: Fields, evaluation: Evaluation) -> Step:
    return _translated(fields, evaluation, destination=False)


def _masquerade(fields: Fields, evaluation: Evaluation) -> Step:
    return masquerade(evaluation)


def _redirect(fields: Fields, evaluation: Evaluation) -> Step:
    limits = fields.get("ports")
    first, last = limits if isinstance(limits, list | tuple) and len(limits) == 2 else (0, 0)
    return redirect(evaluation, int(first), int(last))


def _netmap(fields: Fields, evaluation: Evaluation) -> Step:
    destination = evaluation.hook in ("prerouting", "output")
    return network_map(evaluation, str(fields.get("network", "")), destination=destination)


def _reject(fields: Fields, evaluation: Evaluation) -> Step:
    return Decision(word="reject", kind=str(fields.get("kind", "")))


def _connection_target(fields: Fields, evaluation: Evaluation) -> Step:
    if _number(fields, "flags") & 1 or "flags" not in fields:
        evaluation.leave_untracked()
    return True


def _set_mark(fields: Fields, evaluation: Evaluation) -> Step:
    mark, mask = evaluation.packet.mark, _number(fields, "mask", 0xFFFFFFFF)
    if mark is not None or mask == 0xFFFFFFFF:
        evaluation.packet = replace(
            evaluation.packet, mark=((mark or 0) & ~mask & 0xFFFFFFFF) ^ _number(fields, "mark")
        )
    return True


def _set_connmark(fields: Fields, evaluation: Evaluation) -> Step:
    packet = evaluation.packet
    before, mask = packet.connection_mark, _number(fields, "mask", 0xFFFFFFFF)
    match fields.get("mode"):
        case "set" if before is not None or mask == 0xFFFFFFFF:
            after = ((before or 0) & ~mask & 0xFFFFFFFF) ^ _number(fields, "mark")
            evaluation.packet = replace(packet, connection_mark=after)
        case "restore" if mask == 0xFFFFFFFF:
            evaluation.packet = replace(packet, mark=before)
        case "save" if mask == 0xFFFFFFFF:
            evaluation.packet = replace(packet, connection_mark=packet.mark)
        case "restore":
            evaluation.packet = replace(packet, mark=None)
        case _:
            evaluation.packet = replace(packet, connection_mark=None)
    return True


_HANDLERS: Mapping[str, Callable[[Fields, Evaluation], Step]] = {
    "ip": _entry,
    "tcp": _tcp,
    "udp": _ports,
    "udplite": _ports,
    "multiport": _multiport,
    "addrtype": _addrtype,
    "conntrack": _conntrack,
    "state": _state,
    "mark": _mark,
    "connmark": _connmark,
    "physdev": _physdev,
    "icmp": _icmp,
    "icmp6": _icmp,
    "iprange": _iprange,
    "pkttype": _pkttype,
    "DNAT": _dnat,
    "SNAT": _snat,
    "MASQUERADE": _masquerade,
    "REDIRECT": _redirect,
    "NETMAP": _netmap,
    "REJECT": _reject,
    "MARK": _set_mark,
    "CT": _connection_target,
    "NOTRACK": _connection_target,
    "CONNMARK": _set_connmark,
}
