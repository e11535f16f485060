"""Matches of iptables of which only the text is wanted: struct to options as iptables-save writes them.

The one field is "options". Sources: linux/netfilter/xt_*.h, linux/netfilter_ipv6/ip6t_rt.h.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.blob import BadBlob, Blob
from netdiag.linux.xtables.options import port_range, rate

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


def decode_uncommon(name: str, revision: int, blob: Blob) -> dict[str, Detail] | None:
    """The options of a match, None for one that is not known."""
    decoder = _DECODERS.get(name)
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


_DECODERS: Mapping[str, Callable[[Blob, int], Options]] = {
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
