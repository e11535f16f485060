"""Matches of iptables: struct to fields, and fields to the options that iptables-save prints.

A name in "not" is negated; ranges are lists of two. Of matches that netdiag only prints the one field is "options".
Bytes are not to be trusted. Sources: linux/netfilter/xt_*.h, linux/netfilter_ipv4/ipt_*.h and its twin for IPv6.
"""

import ipaddress
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.structs import (
    BadBlob,
    Blob,
    Decoded,
    Extension,
    Fields,
    integer,
    listed,
    negation,
    option,
    pair,
    port_range,
    prefix_length,
    quoted,
    rate,
)

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
_TCP_FLAGS = (("FIN", 1), ("SYN", 2), ("RST", 4), ("PSH", 8), ("ACK", 16), ("URG", 32))
_ADDRESS_TYPES = (
    *("UNSPEC", "UNICAST", "LOCAL", "BROADCAST", "ANYCAST", "MULTICAST", "BLACKHOLE", "UNREACHABLE", "PROHIBIT"),
    *("THROW", "NAT", "XRESOLVE"),
)
_ALL_BITS = 0xFFFFFFFF
_LIMIT_BURST = 5
_RECENT = ((2, "--set"), (1, "--rcheck"), (4, "--update"), (8, "--remove"))
_RPFILTER = ((1, "--loose"), (2, "--validmark"), (4, "--accept-local"), (8, "--invert"))


def decode_match(name: str, revision: int, blob: Blob) -> Decoded | None:
    """The fields of a match, None for one that is not known."""
    match = _MATCHES.get(name)
    return match.decode(blob, revision) if match else _decode_options(name, revision, blob)


def match_text(name: str, fields: Fields, family: str) -> str:
    """The options after "-m NAME"."""
    if "options" in fields:
        return str(fields["options"])
    match = _MATCHES.get(name)
    return " ".join(word for word in match.text(fields, family) if word) if match else ""


def _ports(fields: Decoded, blob: Blob, inverted: int) -> None:
    negated: list[Detail] = []
    for name, at, bit in (("source_ports", 0, 1), ("destination_ports", 4, 2)):
        limits: list[Detail] = [blob.u16(at), blob.u16(at + 2)]
        if limits != _ALL or inverted & bit:
            fields[name] = limits
        if inverted & bit:
            negated.append(name)
    if negated:
        fields["not"] = negated


def _tcp(blob: Blob, revision: int) -> Decoded:
    fields: Decoded = {}
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


def _udp(blob: Blob, revision: int) -> Decoded:
    fields: Decoded = {}
    _ports(fields, blob, blob.u8(8))
    return fields


def _multiport(blob: Blob, revision: int) -> Decoded | None:
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
    fields: Decoded = {"which": which, "ports": ranges}
    if blob.u8(47):
        fields["not"] = ["ports"]
    return fields


def _addrtype(blob: Blob, revision: int) -> Decoded:
    fields: Decoded = {"source": blob.u16(0), "destination": blob.u16(2)}
    inverted = blob.u32(4) if revision else bool(blob.u32(4)) | bool(blob.u32(8)) << 1
    negated: list[Detail] = [name for name, bit in (("source", 1), ("destination", 2)) if inverted & bit]
    if negated:
        fields["not"] = negated
    if inverted & 4:
        fields["limit_in"] = True
    if inverted & 8:
        fields["limit_out"] = True
    return fields


def _conntrack(blob: Blob, revision: int) -> Decoded | None:
    if revision not in (1, 2, 3):
        return None
    ports = [blob.u16(138 + 2 * at) if revision == 3 else blob.port(138 + 2 * at) for at in range(4)]
    flags, inverted = blob.u16(146), blob.u16(148)
    states, status = (blob.u8(150), blob.u8(151)) if revision == 1 else (blob.u16(150), blob.u16(152))
    fields: Decoded = {}
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


def _state(blob: Blob, revision: int) -> Decoded:
    bits = blob.u32(0)
    numbers = {**_STATE_BITS, "UNTRACKED": 64}
    return {"states": [word for word in _STATES[:5] if bits & numbers[word]]}


def _comment(blob: Blob, revision: int) -> Decoded:
    return {"comment": blob.name(0, 256)}


def _mark(blob: Blob, revision: int) -> Decoded | None:
    if revision != 1:
        return None
    fields: Decoded = {"mark": blob.u32(0), "mask": blob.u32(4)}
    if blob.u8(8):
        fields["not"] = ["mark"]
    return fields


def _physdev(blob: Blob, revision: int) -> Decoded:
    fields: Decoded = {}
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


def _icmp(blob: Blob, revision: int) -> Decoded:
    fields: Decoded = {"type": blob.u8(0), "first_code": blob.u8(1), "last_code": blob.u8(2)}
    if blob.u8(3) & 1:
        fields["not"] = ["type"]
    return fields


def _iprange(blob: Blob, revision: int) -> Decoded | None:
    if revision != 1:
        return None
    flags = blob.u8(64)
    fields: Decoded = {}
    negated: list[Detail] = []
    for name, at, bit in (("source", 0, 1), ("destination", 32, 2)):
        if flags & bit:
            fields[name] = [blob.address(at), blob.address(at + 16)]
            negated += [name] if flags & bit << 4 else []
    if negated:
        fields["not"] = negated
    return fields


def _pkttype(blob: Blob, revision: int) -> Decoded:
    words = {0: "unicast", 1: "broadcast", 2: "multicast"}
    number = blob.u32(0)
    fields: Decoded = {"type": words.get(number, str(number))}
    if blob.u32(4):
        fields["not"] = ["type"]
    return fields


def _limit(blob: Blob, revision: int) -> Decoded:
    return {"average": blob.u32(0), "burst": blob.u32(4)}


def _owner(blob: Blob, revision: int) -> Decoded | None:
    if revision != 1:
        return None
    match, inverted = blob.u8(16), blob.u8(17)
    fields: Decoded = {}
    if match & 1:
        fields["uid"] = [blob.u32(0), blob.u32(4)]
    if match & 2:
        fields["gid"] = [blob.u32(8), blob.u32(12)]
    if match & 4:
        fields["socket"] = True
    negated: list[Detail] = [name for name, bit in (("uid", 1), ("gid", 2), ("socket", 4)) if inverted & bit]
    if negated:
        fields["not"] = negated
    return fields


def _length(blob: Blob, revision: int) -> Decoded:
    return _negated({"length": [blob.u16(0), blob.u16(2)]}, "length", blob.u8(4))


def _mac(blob: Blob, revision: int) -> Decoded:
    address = ":".join(f"{blob.u8(at):02x}" for at in range(6))
    return _negated({"source": address}, "source", blob.u32(8))


def _statistic(blob: Blob, revision: int) -> Decoded | None:
    mode, flags = blob.u16(0), blob.u16(2)
    if mode == 0:
        return _negated({"mode": "random", "probability": blob.u32(4)}, "mode", flags & 1)
    if mode == 1:
        return _negated({"mode": "nth", "every": blob.u32(4), "packet": blob.u32(8)}, "mode", flags & 1)
    return None


def _rpfilter(blob: Blob, revision: int) -> Decoded:
    return {"flags": blob.u8(0)}


def _helper(blob: Blob, revision: int) -> Decoded:
    return _negated({"helper": blob.name(4, 30)}, "helper", blob.u32(0))


def _dscp(blob: Blob, revision: int) -> Decoded:
    return _negated({"dscp": blob.u8(0)}, "dscp", blob.u8(1))


def _tos(blob: Blob, revision: int) -> Decoded | None:
    if revision != 1:
        return None
    return _negated({"mask": blob.u8(0), "tos": blob.u8(1)}, "tos", blob.u8(2))


def _ttl(blob: Blob, revision: int) -> Decoded:
    return {"mode": blob.u8(0), "ttl": blob.u8(1)}


def _tcpmss(blob: Blob, revision: int) -> Decoded:
    return _negated({"mss": [blob.u16(0), blob.u16(2)]}, "mss", blob.u8(4))


def _connlimit(blob: Blob, revision: int) -> Decoded | None:
    if revision != 1:
        return None
    return {"mask": blob.data[: 4 if blob.version == 4 else 16].hex(), "limit": blob.u32(16), "flags": blob.u32(20)}


def _recent(blob: Blob, revision: int) -> Decoded:
    fields: Decoded = {
        "seconds": blob.u32(0),
        "hits": blob.u32(4),
        "check": blob.u8(8),
        "name": blob.name(10, 200),
        "side": blob.u8(210),
    }
    if revision == 1:
        fields["mask"] = blob.address(212)
    return _negated(fields, "check", blob.u8(9))


def _quota(blob: Blob, revision: int) -> Decoded:
    return _negated({"quota": blob.u64(8)}, "quota", blob.u32(0) & 1)


def _negated(fields: Decoded, name: str, inverted: int) -> Decoded:
    return {**fields, "not": [name]} if inverted else fields


def _ports_text(fields: Fields, family: str) -> list[str]:
    words = []
    for name, word in (("source_ports", "--sport"), ("destination_ports", "--dport")):
        if name in fields:
            words.append(option(fields, name, word, port_range(fields[name])))
    return words


def _tcp_text(fields: Fields, family: str) -> list[str]:
    words = _ports_text(fields, family)
    if "option" in fields:
        words.append(option(fields, "option", "--tcp-option", str(fields["option"])))
    if "flags_mask" in fields:
        flags = f"{tcp_flags(integer(fields, 'flags_mask'))} {tcp_flags(integer(fields, 'flags_compare'))}"
        words.append(option(fields, "flags", "--tcp-flags", flags))
    return words


def tcp_flags(bits: int) -> str:
    """Flags of TCP by name."""
    return ",".join(word for word, bit in _TCP_FLAGS if bits & bit) or "NONE"


def _multiport_text(fields: Fields, family: str) -> list[str]:
    word = {"sources": "--sports", "destinations": "--dports"}.get(str(fields.get("which")), "--ports")
    return [option(fields, "ports", word, ",".join(port_range(one) for one in listed(fields, "ports")))]


def _addrtype_text(fields: Fields, family: str) -> list[str]:
    words = []
    for name, word in (("source", "--src-type"), ("destination", "--dst-type")):
        bits = integer(fields, name)
        if bits:
            kinds = ",".join(kind for at, kind in enumerate(_ADDRESS_TYPES) if bits >> at & 1)
            words.append(option(fields, name, word, kinds))
    words += ["--limit-iface-in"] if fields.get("limit_in") else []
    words += ["--limit-iface-out"] if fields.get("limit_out") else []
    return words


def _conntrack_text(fields: Fields, family: str) -> list[str]:
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


def _state_text(fields: Fields, family: str) -> list[str]:
    return _conntrack_text({**fields, "alias": True}, family)


def _comment_text(fields: Fields, family: str) -> list[str]:
    return [f"--comment {quoted(str(fields.get('comment', '')))}"]


def _mark_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "mark", "--mark", masked(integer(fields, "mark"), integer(fields, "mask")))]


def masked(number: int, mask: int) -> str:
    """A mark with its mask, which is left out if it is all ones."""
    return f"0x{number:x}" if mask == _ALL_BITS else f"0x{number:x}/0x{mask:x}"


def _physdev_text(fields: Fields, family: str) -> list[str]:
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


def _icmp_text(fields: Fields, family: str) -> list[str]:
    kind, first, last = (integer(fields, name) for name in ("type", "first_code", "last_code"))
    value = "any" if kind == 255 else str(kind)
    if kind != 255 and (first, last) != (0, 255):
        value += f"/{first}" if first == last else f"/{first}-{last}"
    return [option(fields, "type", "--icmp-type", value)]


def _icmp6_text(fields: Fields, family: str) -> list[str]:
    return [word.replace("--icmp-type", "--icmpv6-type") for word in _icmp_text(fields, family)]


def _iprange_text(fields: Fields, family: str) -> list[str]:
    words = []
    for name, word in (("source", "--src-range"), ("destination", "--dst-range")):
        if name in fields:
            first, last = pair(fields[name])
            words.append(option(fields, name, word, f"{first}-{last}"))
    return words


def _pkttype_text(fields: Fields, family: str) -> list[str]:
    return [f"{negation(fields, 'type')}--pkt-type {fields.get('type')}"]


def _limit_text(fields: Fields, family: str) -> list[str]:
    words = [f"--limit {fields.get('rate') or rate(integer(fields, 'average'))}"]
    burst = integer(fields, "burst")
    return [*words, f"--limit-burst {burst}"] if burst != _LIMIT_BURST else words


def _owner_text(fields: Fields, family: str) -> list[str]:
    words = [f"{negation(fields, 'socket')}--socket-exists"] if "socket" in fields else []
    for name, word in (("uid", "--uid-owner"), ("gid", "--gid-owner")):
        if name in fields:
            words.append(option(fields, name, word, port_range(fields[name], "-")))
    return words


def _length_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "length", "--length", port_range(fields.get("length")))]


def _mac_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "source", "--mac-source", str(fields.get("source")))]


def _statistic_text(fields: Fields, family: str) -> list[str]:
    if fields.get("mode") == "random":
        probability = integer(fields, "probability") / 0x80000000
        return [f"--mode random {negation(fields, 'mode')}--probability {probability:.11f}"]
    every = f"--every {integer(fields, 'every') + 1}"
    return [f"--mode nth {negation(fields, 'mode')}{every} --packet {fields.get('packet')}"]


def _rpfilter_text(fields: Fields, family: str) -> list[str]:
    return [word for bit, word in _RPFILTER if integer(fields, "flags") & bit]


def _helper_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "helper", "--helper", quoted(str(fields.get("helper"))))]


def _dscp_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "dscp", "--dscp", f"0x{integer(fields, 'dscp'):02x}")]


def _tos_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "tos", "--tos", f"0x{integer(fields, 'tos'):02x}/0x{integer(fields, 'mask'):02x}")]


def _ttl_text(fields: Fields, family: str) -> list[str]:
    word = "--hl" if family == "ip6" else "--ttl"
    value = fields.get("ttl")
    match integer(fields, "mode"):
        case 0:
            return [f"{word}-eq {value}"]
        case 1:
            return [f"! {word}-eq {value}"]
        case 2:
            return [f"{word}-lt {value}"]
        case _:
            return [f"{word}-gt {value}"]


def _tcpmss_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "mss", "--mss", port_range(fields.get("mss")))]


def _connlimit_text(fields: Fields, family: str) -> list[str]:
    flags = integer(fields, "flags")
    word = "--connlimit-upto" if flags & 1 else "--connlimit-above"
    mask = prefix_length(bytes.fromhex(str(fields.get("mask", ""))))
    side = "--connlimit-daddr" if flags & 2 else "--connlimit-saddr"
    return [f"{word} {fields.get('limit')}", f"--connlimit-mask {mask}", side]


def _recent_text(fields: Fields, family: str) -> list[str]:
    check = integer(fields, "check")
    words = [f"{negation(fields, 'check')}{word}" for bit, word in _RECENT if check & bit]
    words += [f"--seconds {fields['seconds']}"] if fields.get("seconds") else []
    words += ["--reap"] if check & 32 else []
    words += [f"--hitcount {fields['hits']}"] if fields.get("hits") else []
    words += ["--rttl"] if check & 16 else []
    words += [f"--name {fields['name']}"] if fields.get("name") else []
    if "mask" in fields:
        words.append(f"--mask {ipaddress.ip_address(str(fields['mask']))}")
    return [*words, "--rdest" if integer(fields, "side") else "--rsource"]


def _quota_text(fields: Fields, family: str) -> list[str]:
    return [option(fields, "quota", "--quota", str(fields.get("quota")))]


_MATCHES: Mapping[str, Extension] = {
    "tcp": Extension(_tcp, _tcp_text),
    "udp": Extension(_udp, _ports_text),
    "udplite": Extension(_udp, _ports_text),
    "multiport": Extension(_multiport, _multiport_text),
    "addrtype": Extension(_addrtype, _addrtype_text),
    "conntrack": Extension(_conntrack, _conntrack_text),
    "state": Extension(_state, _state_text),
    "comment": Extension(_comment, _comment_text),
    "mark": Extension(_mark, _mark_text),
    "connmark": Extension(_mark, _mark_text),
    "physdev": Extension(_physdev, _physdev_text),
    "icmp": Extension(_icmp, _icmp_text),
    "icmp6": Extension(_icmp, _icmp6_text),
    "iprange": Extension(_iprange, _iprange_text),
    "pkttype": Extension(_pkttype, _pkttype_text),
    "limit": Extension(_limit, _limit_text),
    "owner": Extension(_owner, _owner_text),
    "length": Extension(_length, _length_text),
    "mac": Extension(_mac, _mac_text),
    "statistic": Extension(_statistic, _statistic_text),
    "rpfilter": Extension(_rpfilter, _rpfilter_text),
    "helper": Extension(_helper, _helper_text),
    "dscp": Extension(_dscp, _dscp_text),
    "tos": Extension(_tos, _tos_text),
    "ttl": Extension(_ttl, _ttl_text),
    "hl": Extension(_ttl, _ttl_text),
    "tcpmss": Extension(_tcpmss, _tcpmss_text),
    "connlimit": Extension(_connlimit, _connlimit_text),
    "recent": Extension(_recent, _recent_text),
    "quota": Extension(_quota, _quota_text),
}


Options = str | None
_ALL32, _ALL64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_HASH_MODES = ((4, "srcip"), (8, "srcport"), (1, "dstip"), (2, "dstport"))
_HASH_INVERT, _HASH_OTHER = 16, 32 | 64
_HASH_SCALE, _GARBAGE_INTERVAL = 1_000_000, 1000
_PERIODS = {"sec": 1000, "min": 60_000, "hour": 3_600_000, "day": 86_400_000}
_U32_TEST, _U32_VALUES, _U32_MOST = 180, 88, 11
_U32_OPERATORS = ("&", "<<", ">>", "@")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_POLICY_ELEMENTS = 304


def _decode_options(name: str, revision: int, blob: Blob) -> dict[str, Detail] | None:
    """The options of a match, None for one that is not known."""
    decoder = _PRINTED_MATCHES.get(name)
    options = decoder(blob, revision) if decoder else None
    return None if options is None else {"options": options}


def _sctp(blob: Blob, revision: int) -> Options:
    flags, inverted = blob.u32(284), blob.u32(288)
    if flags & 4:
        return None
    words = []
    for bit, at, word in ((1, 4, "--sport"), (2, 0, "--dport")):
        if flags & bit:
            words.append(f"{_no(inverted & bit)}{word} {port_range([blob.u16(at), blob.u16(at + 2)])}")
    return " ".join(words)


def _no(inverted: int) -> str:
    return "! " if inverted else ""


def _spi(blob: Blob, revision: int) -> Options:
    first, last = blob.u32(0), blob.u32(4)
    return f"{_no(blob.u8(8) & 1)}--espspi {port_range([first, last])}" if (first, last) != (0, _ALL32) else ""


def _cpu(blob: Blob, revision: int) -> Options:
    return f"{_no(blob.u32(4))}--cpu {blob.u32(0)}"


def _device_group(blob: Blob, revision: int) -> Options:
    flags, words = blob.u32(0), []
    for bit, at, word in ((1, 4, "--src-group"), (4, 12, "--dst-group")):
        if flags & bit:
            mask = blob.u32(at + 4)
            words.append(f"{_no(flags & bit << 1)}{word} 0x{blob.u32(at):x}{f'/0x{mask:x}' if mask != _ALL32 else ''}")
    return " ".join(words)


def _socket(blob: Blob, revision: int) -> Options:
    words = ((1, "--transparent"), (2, "--nowildcard"), (4, "--restore-skmark"))
    return " ".join(word for bit, word in words if blob.u8(0) & bit) if revision else ""


def _connection_bytes(blob: Blob, revision: int) -> Options:
    first, last, what, way = blob.u64(0), blob.u64(8), blob.u8(16), blob.u8(17)
    if what > 2 or way > 2:
        return None
    inverted = first > last
    first, last = min(first, last), max(first, last)
    count = f"{first}" if last == _ALL64 else f"{first}:{last}"
    mode, direction = ("packets", "bytes", "avgpkt")[what], ("original", "reply", "both")[way]
    return f"{_no(inverted)}--connbytes {count} --connbytes-mode {mode} --connbytes-dir {direction}"


def _policy(blob: Blob, revision: int) -> Options:
    flags, count = blob.u16(_POLICY_ELEMENTS), blob.u16(_POLICY_ELEMENTS + 2)
    if count:
        return None
    direction = "in" if flags & 1 else "out"
    return f"--dir {direction} --pol {'none' if flags & 4 else 'ipsec'}{' --strict' if flags & 8 else ''}"


def _u32(blob: Blob, revision: int) -> Options:
    tests = blob.u8(_U32_TEST * _U32_MOST)
    if tests >= _U32_MOST:
        return None
    words = [_u32_test(blob, _U32_TEST * at) for at in range(tests + 1)][: max(tests, 1)]
    return f'{_no(blob.u8(_U32_TEST * _U32_MOST + 1))}--u32 "{"&&".join(words)}"'


def _u32_test(blob: Blob, start: int) -> str:
    numbers, values = blob.u8(start + 176), blob.u8(start + 177)
    if numbers > _U32_MOST or values > _U32_MOST:
        raise BadBlob("a test of more parts than there is room for")
    words = ""
    for at in range(numbers):
        operator = _U32_OPERATORS[blob.u8(start + 8 * at + 4) & 3] if at else ""
        words += f"{operator}0x{blob.u32(start + 8 * at):x}"
    ranges = []
    for at in range(values):
        first, last = (blob.u32(start + _U32_VALUES + 8 * at + more) for more in (0, 4))
        ranges.append(f"0x{first:x}" if first == last else f"0x{first:x}:0x{last:x}")
    return f"{words}={','.join(ranges)}"


def _bpf(blob: Blob, revision: int) -> Options:
    if revision != 1 or blob.u16(0) != 0:
        return None
    count = blob.u16(2)
    if count > 64:
        return None
    steps = [
        f"{blob.u16(8 + 8 * at)} {blob.u8(10 + 8 * at)} {blob.u8(11 + 8 * at)} {blob.u32(12 + 8 * at)}"
        for at in range(count)
    ]
    return f'--bytecode "{",".join([str(count), *steps])}"'


def _string(blob: Blob, revision: int) -> Options:
    first, last, algorithm, length, flags = blob.u16(0), blob.u16(2), blob.name(4, 16), blob.u8(148), blob.u8(149)
    pattern = blob.data[20 : 20 + min(length, 128)]
    plain = all(0x20 <= byte < 0x7F for byte in pattern)
    if plain:
        text = pattern.decode("ascii").replace("\\", "\\\\").replace('"', '\\"')
        words = [f'{_no(flags & 1)}--string "{text}"']
    else:
        words = [f'{_no(flags & 1)}--hex-string "|{pattern.hex()}|"']
    words += [f"--algo {algorithm}"]
    words += [f"--from {first}"] if first else []
    words += [f"--to {last}"] if last != 0xFFFF else []
    return " ".join([*words, *(["--icase"] if flags & 2 else [])])


def _hash_limit(blob: Blob, revision: int) -> Options:
    if revision != 3:
        return None
    average, burst, mode = blob.u64(256), blob.u64(264), blob.u32(272)
    size, most, collect, expire = (blob.u32(at) for at in (276, 280, 284, 288))
    if mode & _HASH_OTHER or not average:
        return None
    per = rate(average, _HASH_SCALE)
    words = [f"--hashlimit-{'above' if mode & _HASH_INVERT else 'upto'} {per} --hashlimit-burst {burst}"]
    kinds = ",".join(word for bit, word in _HASH_MODES if mode & bit)
    words += [f"--hashlimit-mode {kinds}"] if kinds else []
    words.append(f"--hashlimit-name {blob.name(0, 255)}")
    words += [f"--hashlimit-htable-size {size}"] if size else []
    words += [f"--hashlimit-htable-max {most}"] if most else []
    words += [f"--hashlimit-htable-gcinterval {collect}"] if collect != _GARBAGE_INTERVAL else []
    words += [f"--hashlimit-htable-expire {expire}"] if expire != _PERIODS[per.partition("/")[2]] else []
    whole = 32 if blob.version == 4 else 128
    for at, word in ((296, "src"), (297, "dst")):
        words += [f"--hashlimit-{word}mask {blob.u8(at)}"] if blob.u8(at) != whole else []
    return " ".join(words)


def _time(blob: Blob, revision: int) -> Options:
    start, stop, day_start, day_stop = (blob.u32(at) for at in (0, 4, 8, 12))
    month_days, week_days, flags = blob.u32(16), blob.u8(20), blob.u8(21)
    words = []
    if (day_start, day_stop) != (0, 86_399):
        words.append(f"--timestart {_clock(day_start)} --timestop {_clock(day_stop)}")
    if month_days != 0xFFFFFFFE:
        words.append(f"--monthdays {','.join(str(at) for at in range(1, 32) if month_days >> at & 1)}")
    if week_days != 0xFE:
        words.append(f"--weekdays {','.join(word for at, word in enumerate(_WEEKDAYS, 1) if week_days >> at & 1)}")
    words += [f"--datestart {_date(start)}"] if start else []
    words += [f"--datestop {_date(stop)}"] if stop != _ALL32 else []
    words += ["--kerneltz"] if flags & 1 else []
    return " ".join([*words, *(["--contiguous"] if flags & 2 else [])])


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _date(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def _control_group(blob: Blob, revision: int) -> Options:
    if revision == 0:
        return f"{_no(blob.u32(4))}--cgroup {blob.u32(0)}"
    if revision != 2:
        return None
    if blob.u8(0):
        return f"{_no(blob.u8(2))}--path {blob.name(4, 512)}"
    return f"{_no(blob.u8(3))}--cgroup {blob.u32(4)}"


def _routing(blob: Blob, revision: int) -> Options:
    flags, inverted = blob.u8(16), blob.u8(17)
    if flags & ~3:
        return None
    words = [f"{_no(inverted & 1)}--rt-type {blob.u32(0)}"] if flags & 1 else []
    if flags & 2:
        words.append(f"{_no(inverted & 2)}--rt-segsleft {port_range([blob.u32(4), blob.u32(8)])}")
    return " ".join(words)


_PRINTED_MATCHES: Mapping[str, Callable[[Blob, int], Options]] = {
    "sctp": _sctp,
    "esp": _spi,
    "cpu": _cpu,
    "devgroup": _device_group,
    "socket": _socket,
    "connbytes": _connection_bytes,
    "policy": _policy,
    "u32": _u32,
    "bpf": _bpf,
    "string": _string,
    "hashlimit": _hash_limit,
    "time": _time,
    "cgroup": _control_group,
    "rt": _routing,
}
