"""Options of matches in the words of iptables-save."""

from collections.abc import Callable, Mapping

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.options import Fields, integer, listed, negation, option, pair, port_range, quoted
from netdiag.linux.xtables.rarer_match_text import RARER

_TCP_FLAGS = (("FIN", 1), ("SYN", 2), ("RST", 4), ("PSH", 8), ("ACK", 16), ("URG", 32))
_ADDRESS_TYPES = (
    *("UNSPEC", "UNICAST", "LOCAL", "BROADCAST", "ANYCAST", "MULTICAST", "BLACKHOLE", "UNREACHABLE", "PROHIBIT"),
    *("THROW", "NAT", "XRESOLVE"),
)
_ALL_BITS = 0xFFFFFFFF


def match_text(name: str, fields: Fields, family: str) -> str:
    """The options after "-m NAME"."""
    if "options" in fields:
        return str(fields["options"])
    writer = _WRITERS.get(name) or RARER.get(name)
    return " ".join(word for word in writer(fields, family) if word) if writer else ""


def _ports(fields: Fields, family: str) -> list[str]:
    words = []
    for name, word in (("source_ports", "--sport"), ("destination_ports", "--dport")):
        if name in fields:
            words.append(option(fields, name, word, port_range(fields[name])))
    return words


def _tcp(fields: Fields, family: str) -> list[str]:
    words = _ports(fields, family)
    if "option" in fields:
        words.append(option(fields, "option", "--tcp-option", str(fields["option"])))
    if "flags_mask" in fields:
        flags = f"{tcp_flags(integer(fields, 'flags_mask'))} {tcp_flags(integer(fields, 'flags_compare'))}"
        words.append(option(fields, "flags", "--tcp-flags", flags))
    return words


def tcp_flags(bits: int) -> str:
    """Flags of TCP by name."""
    return ",".join(word for word, bit in _TCP_FLAGS if bits & bit) or "NONE"


def _multiport(fields: Fields, family: str) -> list[str]:
    word = {"sources": "--sports", "destinations": "--dports"}.get(str(fields.get("which")), "--ports")
    return [option(fields, "ports", word, ",".join(port_range(one) for one in listed(fields, "ports")))]


def _addrtype(fields: Fields, family: str) -> list[str]:
    words = []
    for name, word in (("source", "--src-type"), ("destination", "--dst-type")):
        bits = integer(fields, name)
        if bits:
            kinds = ",".join(kind for at, kind in enumerate(_ADDRESS_TYPES) if bits >> at & 1)
            words.append(option(fields, name, word, kinds))
    words += ["--limit-iface-in"] if fields.get("limit_in") else []
    words += ["--limit-iface-out"] if fields.get("limit_out") else []
    return words


def _conntrack(fields: Fields, family: str) -> list[str]:
    words = []
    if "states" in fields:
        word = "--state" if fields.get("alias") else "--ctstate"
        words.append(option(fields, "states", word, ",".join(map(str, listed(fields, "states")))))
    if "protocol" in fields:
        words.append(option(fields, "protocol", "--ctproto", str(fields["protocol"])))
    for name, word in (
        ("original_source", "--ctorigsrc"),
        ("original_destination", "--ctorigdst"),
        ("reply_source", "--ctreplsrc"),
        ("reply_destination", "--ctrepldst"),
    ):
        if name in fields:
            words.append(option(fields, name, word, _bare(str(fields[name]))))
    for name, word in (
        ("original_source_ports", "--ctorigsrcport"),
        ("original_destination_ports", "--ctorigdstport"),
        ("reply_source_ports", "--ctreplsrcport"),
        ("reply_destination_ports", "--ctrepldstport"),
    ):
        if name in fields:
            words.append(option(fields, name, word, port_range(fields[name])))
    if "status" in fields:
        words.append(option(fields, "status", "--ctstatus", ",".join(map(str, listed(fields, "status"))) or "NONE"))
    if "expires" in fields:
        words.append(option(fields, "expires", "--ctexpire", port_range(fields["expires"])))
    if "direction" in fields:
        words.append(f"--ctdir {fields['direction']}")
    return words


def _bare(network: str) -> str:
    """A host without its prefix length, all addresses as such."""
    address, _, length = network.partition("/")
    return address if length in ("32", "128") else network


def _state(fields: Fields, family: str) -> list[str]:
    return _conntrack({**fields, "alias": True}, family)


def _comment(fields: Fields, family: str) -> list[str]:
    return [f"--comment {quoted(str(fields.get('comment', '')))}"]


def _mark(fields: Fields, family: str) -> list[str]:
    return [option(fields, "mark", "--mark", masked(integer(fields, "mark"), integer(fields, "mask")))]


def masked(number: int, mask: int) -> str:
    """A mark with its mask, which is left out if it is all ones."""
    return f"0x{number:x}" if mask == _ALL_BITS else f"0x{number:x}/0x{mask:x}"


def _physdev(fields: Fields, family: str) -> list[str]:
    words = []
    for name, word in (
        ("is_in", "--physdev-is-in"),
        ("in", "--physdev-in"),
        ("is_out", "--physdev-is-out"),
        ("out", "--physdev-out"),
        ("is_bridged", "--physdev-is-bridged"),
    ):
        if name in fields:
            words.append(option(fields, name, word, "" if fields[name] is True else str(fields[name])))
    return words


def _icmp(fields: Fields, family: str) -> list[str]:
    kind, first, last = (integer(fields, name) for name in ("type", "first_code", "last_code"))
    value = "any" if kind == 255 else str(kind)
    if kind != 255 and (first, last) != (0, 255):
        value += f"/{first}" if first == last else f"/{first}-{last}"
    return [option(fields, "type", "--icmp-type", value)]


def _icmp6(fields: Fields, family: str) -> list[str]:
    return [word.replace("--icmp-type", "--icmpv6-type") for word in _icmp(fields, family)]


def _iprange(fields: Fields, family: str) -> list[str]:
    words = []
    for name, word in (("source", "--src-range"), ("destination", "--dst-range")):
        if name in fields:
            first, last = pair(fields[name])
            words.append(option(fields, name, word, f"{first}-{last}"))
    return words


def _pkttype(fields: Fields, family: str) -> list[str]:
    return [f"{negation(fields, 'type')}--pkt-type {fields.get('type')}"]


_WRITERS: Mapping[str, Callable[[Mapping[str, Detail], str], list[str]]] = {
    "tcp": _tcp,
    "udp": _ports,
    "udplite": _ports,
    "multiport": _multiport,
    "addrtype": _addrtype,
    "conntrack": _conntrack,
    "state": _state,
    "comment": _comment,
    "mark": _mark,
    "connmark": _mark,
    "physdev": _physdev,
    "icmp": _icmp,
    "icmp6": _icmp6,
    "iprange": _iprange,
    "pkttype": _pkttype,
}
