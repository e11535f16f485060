"""Extensions of iptables, matches and targets: struct to fields. A name in "not" is negated; ranges are lists of two.

Bytes are not to be trusted: an extension that is shorter than its struct, or not known, becomes an expression that is
not understood. Of matches that netdiag only prints the one field is "options", as iptables-save writes them. Sources:
linux/netfilter/xt_*.h, linux/netfilter/nf_nat.h, linux/netfilter_ipv4/ipt_*.h, linux/netfilter_ipv6/ip6t_*.h.
"""

import ipaddress
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.ruleset import Expression
from netdiag.linux.xtables.rule_text import port_range, rate
from netdiag.linux.xtables.structs import BadBlob, Blob, prefix_length

_SHOWN = 64


def decode_extension(name: str, revision: int, info: bytes, *, family: str, target: bool) -> Expression:
    """A match or target; `family` is the table's ("ip6" has addresses of 16 bytes)."""
    blob = Blob(info, 6 if family == "ip6" else 4)
    try:
        fields = decode_target(name, revision, blob) if target else decode_match(name, revision, blob)
    except BadBlob:
        fields = None
    if fields is None:
        unknown: dict[str, Detail] = {"revision": revision, "hex": info[:_SHOWN].hex()}
        if target:
            unknown["target"] = True
        return Expression(name=f"xt:{name}", fields=unknown, understood=False)
    if target:
        fields["target"] = True
    return Expression(name=f"xt:{name}", fields=fields)


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
    decoder = _MATCHES.get(name)
    return decoder(blob, revision) if decoder else _decode_options(name, revision, blob)


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


def _limit(blob: Blob, revision: int) -> Fields:
    return {"average": blob.u32(0), "burst": blob.u32(4)}


def _owner(blob: Blob, revision: int) -> Fields | None:
    if revision != 1:
        return None
    match, inverted = blob.u8(16), blob.u8(17)
    fields: Fields = {}
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


def _length(blob: Blob, revision: int) -> Fields:
    return _negated({"length": [blob.u16(0), blob.u16(2)]}, "length", blob.u8(4))


def _mac(blob: Blob, revision: int) -> Fields:
    address = ":".join(f"{blob.u8(at):02x}" for at in range(6))
    return _negated({"source": address}, "source", blob.u32(8))


def _statistic(blob: Blob, revision: int) -> Fields | None:
    mode, flags = blob.u16(0), blob.u16(2)
    if mode == 0:
        return _negated({"mode": "random", "probability": blob.u32(4)}, "mode", flags & 1)
    if mode == 1:
        return _negated({"mode": "nth", "every": blob.u32(4), "packet": blob.u32(8)}, "mode", flags & 1)
    return None


def _rpfilter(blob: Blob, revision: int) -> Fields:
    return {"flags": blob.u8(0)}


def _helper(blob: Blob, revision: int) -> Fields:
    return _negated({"helper": blob.name(4, 30)}, "helper", blob.u32(0))


def _dscp(blob: Blob, revision: int) -> Fields:
    return _negated({"dscp": blob.u8(0)}, "dscp", blob.u8(1))


def _tos(blob: Blob, revision: int) -> Fields | None:
    if revision != 1:
        return None
    return _negated({"mask": blob.u8(0), "tos": blob.u8(1)}, "tos", blob.u8(2))


def _ttl(blob: Blob, revision: int) -> Fields:
    return {"mode": blob.u8(0), "ttl": blob.u8(1)}


def _tcpmss(blob: Blob, revision: int) -> Fields:
    return _negated({"mss": [blob.u16(0), blob.u16(2)]}, "mss", blob.u8(4))


def _connlimit(blob: Blob, revision: int) -> Fields | None:
    if revision != 1:
        return None
    return {"mask": blob.data[: 4 if blob.version == 4 else 16].hex(), "limit": blob.u32(16), "flags": blob.u32(20)}


def _recent(blob: Blob, revision: int) -> Fields:
    fields: Fields = {
        "seconds": blob.u32(0),
        "hits": blob.u32(4),
        "check": blob.u8(8),
        "name": blob.name(10, 200),
        "side": blob.u8(210),
    }
    if revision == 1:
        fields["mask"] = blob.address(212)
    return _negated(fields, "check", blob.u8(9))


def _quota(blob: Blob, revision: int) -> Fields:
    return _negated({"quota": blob.u64(8)}, "quota", blob.u32(0) & 1)


def _negated(fields: Fields, name: str, inverted: int) -> Fields:
    return {**fields, "not": [name]} if inverted else fields


_MATCHES: Mapping[str, Decoder] = {
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


_MAPS_ADDRESSES, _MAPS_PORTS, _RANDOM, _PERSISTENT, _FULLY, _OFFSET = 1, 2, 4, 8, 16, 32
REJECTS = {
    0: "icmp-net-unreachable",
    1: "icmp-host-unreachable",
    2: "icmp-proto-unreachable",
    3: "icmp-port-unreachable",
    5: "icmp-net-prohibited",
    6: "icmp-host-prohibited",
    7: "tcp-reset",
    8: "icmp-admin-prohibited",
}
REJECTS6 = {
    0: "icmp6-no-route",
    1: "icmp6-adm-prohibited",
    3: "icmp6-addr-unreachable",
    4: "icmp6-port-unreachable",
    6: "tcp-reset",
    7: "icmp6-policy-fail",
    8: "icmp6-reject-route",
}


def decode_target(name: str, revision: int, blob: Blob) -> Fields | None:
    """The fields of a target, None for one that is not known."""
    decoder = _TARGETS.get(name)
    return decoder(blob, revision) if decoder else None


def _range(blob: Blob, revision: int) -> Fields:
    """nf_nat_range and nf_nat_range2."""
    flags = blob.u32(0)
    fields = _flags(flags)
    if flags & _MAPS_ADDRESSES:
        fields |= {"first": blob.address(4), "last": blob.address(20)}
    if flags & _MAPS_PORTS:
        ports: list[Detail] = [blob.port(36), blob.port(38)]
        if flags & _OFFSET and len(blob.data) >= 42:
            ports.append(blob.port(40))
        fields["ports"] = ports
    return fields


def _old_range(blob: Blob, revision: int) -> Fields | None:
    """nf_nat_ipv4_multi_range_compat."""
    if blob.u32(0) != 1:
        return None
    flags = blob.u32(4)
    fields = _flags(flags)
    if flags & _MAPS_ADDRESSES:
        fields |= {"first": blob.address(8), "last": blob.address(12)}
    if flags & _MAPS_PORTS:
        fields["ports"] = [blob.port(16), blob.port(18)]
    return fields


def _flags(flags: int) -> Fields:
    words = {"random": _RANDOM, "persistent": _PERSISTENT, "random_fully": _FULLY}
    return {word: True for word, bit in words.items() if flags & bit}


def _nat(blob: Blob, revision: int) -> Fields | None:
    if revision == 0 and blob.version == 4:
        return _old_range(blob, revision)
    return _range(blob, revision)


def _netmap(blob: Blob, revision: int) -> Fields | None:
    fields = _nat(blob, revision)
    if fields is None or "first" not in fields:
        return None
    first, last = (ipaddress.ip_address(str(fields[name])) for name in ("first", "last"))
    size = len(first.packed)
    mask = (~(int(first) ^ int(last)) & ((1 << 8 * size) - 1)).to_bytes(size, "big")
    length = prefix_length(mask)
    return {"network": f"{first}/{ipaddress.ip_address(mask) if length is None else length}"}


def _reject(blob: Blob, revision: int) -> Fields:
    code = blob.u32(0)
    word = (REJECTS if blob.version == 4 else REJECTS6).get(code, str(code))
    return {"with": word, "kind": reject_kind(word)}


def reject_kind(word: str) -> str:
    """In the words of nft, so that all kinds of rules say it the same way."""
    if word == "tcp-reset":
        return "tcp reset"
    if word.startswith("icmp6-"):
        rest = word.removeprefix("icmp6-").replace("adm-", "admin-")
        return f"icmpv6 {rest}"
    return f"icmp {word.removeprefix('icmp-').replace('proto-', 'prot-')}"


def _log(blob: Blob, revision: int) -> Fields:
    return {"level": blob.u8(0), "flags": blob.u8(1), "prefix": blob.name(2, 30)}


def _set_mark(blob: Blob, revision: int) -> Fields | None:
    return {"mark": blob.u32(0), "mask": blob.u32(4)} if revision == 2 else None


def _connmark(blob: Blob, revision: int) -> Fields | None:
    if revision not in (1, 2):
        return None
    fields: Fields = {"mark": blob.u32(0), "mask": blob.u32(4), "nfmask": blob.u32(8)}
    mode = blob.u8(12)
    if revision == 2:
        mode = blob.u8(14)
        if blob.u8(13):
            fields |= {"shift": blob.u8(13), "left": blob.u8(12) == 0}
    fields["mode"] = {0: "set", 1: "save", 2: "restore"}.get(mode, str(mode))
    return fields


def _nflog(blob: Blob, revision: int) -> Fields:
    fields: Fields = {"group": blob.u16(4), "threshold": blob.u16(6), "prefix": blob.name(12, 64)}
    if blob.u16(8) & 1:
        fields["size"] = blob.u32(0)
    elif blob.u32(0):
        fields["range"] = blob.u32(0)
    return fields


def _nfqueue(blob: Blob, revision: int) -> Fields:
    return {
        "first": blob.u16(0),
        "count": blob.u16(2) if revision >= 1 else 1,
        "flags": blob.u16(4) if revision >= 2 else 0,
    }


def _ct(blob: Blob, revision: int) -> Fields | None:
    if revision == 0 and len(blob.data) < 32:
        return None
    fields: Fields = {
        "flags": blob.u16(0),
        "zone": blob.u16(2),
        "events": blob.u32(4),
        "expectations": blob.u32(8),
        "helper": blob.name(12, 16),
    }
    if revision >= 1:
        fields["timeout"] = blob.name(28, 32)
    return fields


def _set_mss(blob: Blob, revision: int) -> Fields:
    return {"mss": blob.u16(0)}


def _byte(name: str) -> Callable[[Blob, int], Fields]:
    return lambda blob, revision: {name: blob.u8(0)}


def _set_tos(blob: Blob, revision: int) -> Fields | None:
    return {"tos": blob.u8(0), "mask": blob.u8(1)} if revision == 1 else None


def _classify(blob: Blob, revision: int) -> Fields:
    return {"priority": blob.u32(0)}


def _tproxy(blob: Blob, revision: int) -> Fields:
    mask, value = blob.u32(0), blob.u32(4)
    if revision == 0:
        return {"mask": mask, "mark": value, "address": blob.address(8), "port": blob.port(12)}
    return {"mask": mask, "mark": value, "address": blob.address(8), "port": blob.port(24)}


def _nothing(blob: Blob, revision: int) -> Fields:
    return {}


_TARGETS: Mapping[str, Callable[[Blob, int], Fields | None]] = {
    "DNAT": _nat,
    "SNAT": _nat,
    "MASQUERADE": _nat,
    "REDIRECT": _nat,
    "NETMAP": _netmap,
    "REJECT": _reject,
    "LOG": _log,
    "MARK": _set_mark,
    "CONNMARK": _connmark,
    "NFLOG": _nflog,
    "NFQUEUE": _nfqueue,
    "CT": _ct,
    "TCPMSS": _set_mss,
    "CHECKSUM": _byte("operation"),
    "DSCP": _byte("dscp"),
    "TOS": _set_tos,
    "TTL": _ttl,
    "HL": _ttl,
    "CLASSIFY": _classify,
    "TPROXY": _tproxy,
    "NOTRACK": _nothing,
    "TRACE": _nothing,
}
