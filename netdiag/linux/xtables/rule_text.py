"""A rule of iptables as iptables-save prints it, without table and counters."""

import ipaddress
from collections.abc import Callable, Mapping, Sequence

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.structs import prefix_length

Fields = Mapping[str, Detail]

_CONDITIONS = (("source", "-s"), ("destination", "-d"), ("in", "-i"), ("out", "-o"), ("protocol", "-p"))
# XT_CT_NOTRACK and XT_CT_NOTRACK_ALIAS
_NOTRACK = 3
_VERDICTS = {"accept": "ACCEPT", "drop": "DROP", "return": "RETURN", "queue": "QUEUE"}


def entry_text(chain: str, expressions: Sequence[Expression], *, family: str) -> str:
    """The rule; what is not understood is named with its bytes, as far as they are known."""
    words = [f"-A {chain}"]
    for expression in expressions:
        words += [_text(expression, family)]
    return " ".join(word for word in words if word)


def _text(expression: Expression, family: str) -> str:
    name = expression.name
    if name == "ip":
        return _entry(expression.fields)
    if name == "verdict":
        return _verdict(expression.fields)
    if name == "counter":
        return ""
    if not name.startswith("xt:"):
        return f"[{name}]"
    short = name.removeprefix("xt:")
    if short == "CT" and expression.fields.get("flags") == _NOTRACK:
        return "-j NOTRACK"
    if expression.fields.get("target"):
        options = target_text(short, expression.fields, family) if expression.understood else _bytes(expression)
        return f"-j {short} {options}".rstrip()
    if short == "conntrack" and expression.fields.get("alias"):
        short = "state"
    options = match_text(short, expression.fields, family) if expression.understood else _bytes(expression)
    return f"-m {short} {options}".rstrip()


def _entry(fields: Fields) -> str:
    words = []
    negated = fields.get("not")
    names = negated if isinstance(negated, list) else []
    for name, option in _CONDITIONS:
        if name in fields:
            words += ["!"] if name in names else []
            words.append(f"{option} {fields[name]}")
    if fields.get("fragment"):
        words.append("! -f" if "fragment" in names else "-f")
    return " ".join(words)


def _verdict(fields: Fields) -> str:
    word, chain = str(fields.get("verdict", "")), str(fields.get("chain", ""))
    if word == "goto":
        return f"-g {chain}"
    return f"-j {chain if word == 'jump' else _VERDICTS.get(word, f'[{word}]')}"


def _bytes(expression: Expression) -> str:
    return f"[revision {expression.fields.get('revision')}: {expression.fields.get('hex')}]"


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
    writer = _MATCHES.get(name)
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


_LIMIT_BURST = 5
_RECENT = ((2, "--set"), (1, "--rcheck"), (4, "--update"), (8, "--remove"))
_RPFILTER = ((1, "--loose"), (2, "--validmark"), (4, "--accept-local"), (8, "--invert"))


def _limit(fields: Fields, family: str) -> list[str]:
    words = [f"--limit {fields.get('rate') or rate(integer(fields, 'average'))}"]
    burst = integer(fields, "burst")
    return [*words, f"--limit-burst {burst}"] if burst != _LIMIT_BURST else words


def _owner(fields: Fields, family: str) -> list[str]:
    words = [f"{negation(fields, 'socket')}--socket-exists"] if "socket" in fields else []
    for name, word in (("uid", "--uid-owner"), ("gid", "--gid-owner")):
        if name in fields:
            words.append(option(fields, name, word, port_range(fields[name], "-")))
    return words


def _length(fields: Fields, family: str) -> list[str]:
    return [option(fields, "length", "--length", port_range(fields.get("length")))]


def _mac(fields: Fields, family: str) -> list[str]:
    return [option(fields, "source", "--mac-source", str(fields.get("source")))]


def _statistic(fields: Fields, family: str) -> list[str]:
    if fields.get("mode") == "random":
        probability = integer(fields, "probability") / 0x80000000
        return [f"--mode random {negation(fields, 'mode')}--probability {probability:.11f}"]
    every = f"--every {integer(fields, 'every') + 1}"
    return [f"--mode nth {negation(fields, 'mode')}{every} --packet {fields.get('packet')}"]


def _rpfilter(fields: Fields, family: str) -> list[str]:
    return [word for bit, word in _RPFILTER if integer(fields, "flags") & bit]


def _helper(fields: Fields, family: str) -> list[str]:
    return [option(fields, "helper", "--helper", quoted(str(fields.get("helper"))))]


def _dscp(fields: Fields, family: str) -> list[str]:
    return [option(fields, "dscp", "--dscp", f"0x{integer(fields, 'dscp'):02x}")]


def _tos(fields: Fields, family: str) -> list[str]:
    return [option(fields, "tos", "--tos", f"0x{integer(fields, 'tos'):02x}/0x{integer(fields, 'mask'):02x}")]


def _ttl(fields: Fields, family: str) -> list[str]:
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


def _tcpmss(fields: Fields, family: str) -> list[str]:
    return [option(fields, "mss", "--mss", port_range(fields.get("mss")))]


def _connlimit(fields: Fields, family: str) -> list[str]:
    flags = integer(fields, "flags")
    word = "--connlimit-upto" if flags & 1 else "--connlimit-above"
    mask = prefix_length(bytes.fromhex(str(fields.get("mask", ""))))
    side = "--connlimit-daddr" if flags & 2 else "--connlimit-saddr"
    return [f"{word} {fields.get('limit')}", f"--connlimit-mask {mask}", side]


def _recent(fields: Fields, family: str) -> list[str]:
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


def _quota(fields: Fields, family: str) -> list[str]:
    return [option(fields, "quota", "--quota", str(fields.get("quota")))]


_MATCHES: Mapping[str, Callable[[Fields, str], list[str]]] = {
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
    "limit": _limit,
    "owner": _owner,
    "length": _length,
    "mac": _mac,
    "statistic": _statistic,
    "rpfilter": _rpfilter,
    "helper": _helper,
    "dscp": _dscp,
    "tos": _tos,
    "ttl": _ttl,
    "hl": _ttl,
    "tcpmss": _tcpmss,
    "connlimit": _connlimit,
    "recent": _recent,
    "quota": _quota,
}


_LOG_LEVEL = 4
_LOG_FLAGS = (
    (1, "--log-tcp-sequence"),
    (2, "--log-tcp-options"),
    (4, "--log-ip-options"),
    (8, "--log-uid"),
    (32, "--log-macdecode"),
)
_CLAMP = 0xFFFF
_EVENTS = ((1, "new"), (2, "related"), (4, "destroy"), (8, "reply"), (16, "assured"), (32, "protoinfo"), (64, "helper"))


def target_text(name: str, fields: Fields, family: str) -> str:
    """The options after "-j NAME"."""
    writer = _TARGETS.get(name)
    return " ".join(word for word in writer(fields, family) if word) if writer else ""


def _translation(fields: Fields, family: str, word: str) -> list[str]:
    first, last = str(fields.get("first", "")), str(fields.get("last", ""))
    ports = listed(fields, "ports")
    bracketed = family == "ip6" and bool(ports)
    value = f"[{first}]" if bracketed and first else first
    if last != first:
        value += f"-[{last}]" if bracketed else f"-{last}"
    if ports:
        value += f":{port_range([*ports[:2]], '-')}"
        value += f"/{ports[2]}" if len(ports) > 2 else ""
    return [f"{word} {value}".rstrip(), *_flags(fields)]


def _flags(fields: Fields) -> list[str]:
    words = (("random", "--random"), ("random_fully", "--random-fully"), ("persistent", "--persistent"))
    return [word for name, word in words if fields.get(name)]


def _dnat(fields: Fields, family: str) -> list[str]:
    return _translation(fields, family, "--to-destination")


def _snat(fields: Fields, family: str) -> list[str]:
    return _translation(fields, family, "--to-source")


def _to_ports(fields: Fields, family: str) -> list[str]:
    ports = listed(fields, "ports")
    return [f"--to-ports {port_range([*ports[:2]], '-')}" if ports else "", *_flags(fields)]


def _netmap(fields: Fields, family: str) -> list[str]:
    return [f"--to {str(fields.get('network')).removesuffix('/32').removesuffix('/128')}"]


def _reject(fields: Fields, family: str) -> list[str]:
    return [f"--reject-with {fields.get('with')}"]


def _log(fields: Fields, family: str) -> list[str]:
    words = [f"--log-prefix {quoted(str(fields['prefix']))}"] if fields.get("prefix") else []
    level = integer(fields, "level")
    words += [f"--log-level {level}"] if level != _LOG_LEVEL else []
    return words + [word for bit, word in _LOG_FLAGS if integer(fields, "flags") & bit]


def _set_mark(fields: Fields, family: str) -> list[str]:
    return [f"--set-xmark 0x{integer(fields, 'mark'):x}/0x{integer(fields, 'mask'):x}"]


def _connmark(fields: Fields, family: str) -> list[str]:
    mark, mask, nfmask = (integer(fields, name) for name in ("mark", "mask", "nfmask"))
    match fields.get("mode"):
        case "set":
            return [f"--set-xmark 0x{mark:x}/0x{mask:x}"]
        case "save":
            return [f"--save-mark --nfmask 0x{nfmask:x} --ctmask 0x{mask:x}"]
        case _:
            return [f"--restore-mark --nfmask 0x{nfmask:x} --ctmask 0x{mask:x}"]


def _nflog(fields: Fields, family: str) -> list[str]:
    words = [f"--nflog-prefix {quoted(str(fields['prefix']))}"] if fields.get("prefix") else []
    words += [f"--nflog-group {fields['group']}"] if fields.get("group") else []
    words += [f"--nflog-size {fields['size']}"] if "size" in fields else []
    words += [f"--nflog-range {fields['range']}"] if "range" in fields else []
    threshold = integer(fields, "threshold")
    return [*words, f"--nflog-threshold {threshold}"] if threshold else words


def _nfqueue(fields: Fields, family: str) -> list[str]:
    first, count, flags = (integer(fields, name) for name in ("first", "count", "flags"))
    words = [f"--queue-balance {first}:{first + count - 1}" if count > 1 else f"--queue-num {first}"]
    words += ["--queue-bypass"] if flags & 1 else []
    return words + (["--queue-cpu-fanout"] if flags & 2 else [])


def _ct(fields: Fields, family: str) -> list[str]:
    flags = integer(fields, "flags")
    if flags & 1:
        return ["--notrack"]
    words = [f"--helper {fields['helper']}"] if fields.get("helper") else []
    events = integer(fields, "events")
    words += [f"--ctevents {','.join(word for bit, word in _EVENTS if events & bit)}"] if events else []
    words += [f"--timeout {fields['timeout']}"] if fields.get("timeout") else []
    if fields.get("zone"):
        side = {4: "-orig", 8: "-reply"}.get(flags & 12, "")
        words.append(f"--zone{side} {fields['zone']}")
    return words


def _set_mss(fields: Fields, family: str) -> list[str]:
    mss = integer(fields, "mss")
    return ["--clamp-mss-to-pmtu" if mss == _CLAMP else f"--set-mss {mss}"]


def _checksum(fields: Fields, family: str) -> list[str]:
    return ["--checksum-fill"] if integer(fields, "operation") & 1 else []


def _set_dscp(fields: Fields, family: str) -> list[str]:
    return [f"--set-dscp 0x{integer(fields, 'dscp'):02x}"]


def _set_tos(fields: Fields, family: str) -> list[str]:
    return [f"--set-tos 0x{integer(fields, 'tos'):02x}/0x{integer(fields, 'mask'):02x}"]


def _set_ttl(fields: Fields, family: str) -> list[str]:
    word = "--hl" if family == "ip6" else "--ttl"
    return [f"{word}-{({0: 'set', 1: 'inc', 2: 'dec'}).get(integer(fields, 'mode'), 'set')} {fields.get('ttl')}"]


def _classify(fields: Fields, family: str) -> list[str]:
    priority = integer(fields, "priority")
    return [f"--set-class {priority >> 16:04x}:{priority & 0xFFFF:04x}"]


def _tproxy(fields: Fields, family: str) -> list[str]:
    mark = f"0x{integer(fields, 'mark'):x}/0x{integer(fields, 'mask'):x}"
    return [f"--on-port {fields.get('port')} --on-ip {fields.get('address')} --tproxy-mark {mark}"]


_TARGETS: Mapping[str, Callable[[Fields, str], list[str]]] = {
    "DNAT": _dnat,
    "SNAT": _snat,
    "MASQUERADE": _to_ports,
    "REDIRECT": _to_ports,
    "NETMAP": _netmap,
    "REJECT": _reject,
    "LOG": _log,
    "MARK": _set_mark,
    "CONNMARK": _connmark,
    "NFLOG": _nflog,
    "NFQUEUE": _nfqueue,
    "CT": _ct,
    "TCPMSS": _set_mss,
    "CHECKSUM": _checksum,
    "DSCP": _set_dscp,
    "TOS": _set_tos,
    "TTL": _set_ttl,
    "HL": _set_ttl,
    "CLASSIFY": _classify,
    "TPROXY": _tproxy,
}


_SCALE = 10_000
_PERIODS = ((1, "sec"), (60, "min"), (3600, "hour"), (86400, "day"))
_BARE = frozenset("_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def option(fields: Fields, name: str, word: str, value: str) -> str:
    """An option with its value, negated if the fields say so."""
    return f"{negation(fields, name)}{word} {value}".rstrip(" ")


def negation(fields: Fields, name: str) -> str:
    """The "! " before a negated option."""
    words = fields.get("not")
    return "! " if isinstance(words, list) and name in words else ""


def integer(fields: Fields, name: str) -> int:
    """A number among the fields."""
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def listed(fields: Fields, name: str) -> list[Detail]:
    """A list among the fields."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def pair(value: Detail) -> tuple[str, str]:
    """The first and the last of a range."""
    return (str(value[0]), str(value[1])) if isinstance(value, list) and len(value) > 1 else (str(value), str(value))


def port_range(value: Detail, separator: str = ":") -> str:
    """One number, or two with a separator between them."""
    first, last = pair(value)
    return first if first == last else f"{first}{separator}{last}"


def quoted(text: str) -> str:
    """A string, in quotation marks unless it holds only letters, digits, "_" and "-"."""
    if text and _BARE.issuperset(text):
        return text
    return '"' + "".join(f"\\{letter}" if letter in "\"\\'" else letter for letter in text) + '"'


def rate(average: int, scale: int = _SCALE) -> str:
    """A rate ("5/min") from the average distance between two packets, in parts of a second.

    It uses the shortest period in which the number is accurate: the remainder is less than the number.
    """
    period = max(average, 1)
    found = _PERIODS[-1]
    for seconds, word in reversed(_PERIODS):
        count, left = divmod(seconds * scale, period)
        if word != "day" and (period > seconds * scale or count < left):
            break
        found = seconds, word
    return f"{found[0] * scale // period}/{found[1]}"
