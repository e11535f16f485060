"""Statements of a rule in the words of nft: what is done rather than asked."""

from collections.abc import Mapping, Sequence

from netdiag.linux.rtnetlink import Detail

Fields = Mapping[str, Detail]

_UNITS = {1: "second", 60: "minute", 3600: "hour", 86400: "day", 604800: "week"}
_LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug", "audit")
_DEFAULT_LEVEL, _DEFAULT_BURST = 4, 5
_LOG_FLAGS = ((4, "ip options"), (8, "skuid"), (32, "ether"))
_LOG_ALL = 0x2F
_RANGE_FLAGS = ((4, "random"), (16, "fully-random"), (8, "persistent"))
_OVER = 1
# What a plain "reject" sends in tables of each family.
_PLAIN_REJECTS = {"ip": ("icmp", 3), "ip6": ("icmp", 4)}


def number(fields: Fields, name: str) -> int:
    """A number among the fields."""
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def limit(fields: Fields) -> str:
    """limit rate over 10/second burst 5 packets."""
    over = "over " if number(fields, "flags") & _OVER else ""
    unit = _UNITS.get(number(fields, "unit"), f"{fields.get('unit')} seconds")
    rate, burst = number(fields, "rate"), number(fields, "burst")
    if fields.get("type") == "bytes":
        words = f"limit rate {over}{amount(rate)}/{unit}"
        return f"{words} burst {amount(burst)}" if burst else words
    words = f"limit rate {over}{rate}/{unit}"
    return f"{words} burst {burst} packets" if burst not in (0, _DEFAULT_BURST) else words


def amount(count: int) -> str:
    """A number of bytes in the largest unit that divides it."""
    for unit, size in (("mbytes", 1 << 20), ("kbytes", 1 << 10)):
        if count and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} bytes"


def quota(fields: Fields) -> str:
    """quota over 10 mbytes."""
    return f"quota {'over ' if number(fields, 'flags') & _OVER else ''}{amount(number(fields, 'bytes'))}"


def connection_limit(fields: Fields) -> str:
    """ct count over 20."""
    return f"ct count {'over ' if number(fields, 'flags') & _OVER else ''}{fields.get('count')}"


def log(fields: Fields) -> str:
    """log prefix "x" group 5."""
    words = ["log"]
    if fields.get("prefix"):
        words.append(f'prefix "{fields["prefix"]}"')
    if "group" in fields:
        words.append(f"group {fields['group']}")
        words += [f"snaplen {fields['snaplen']}"] if fields.get("snaplen") else []
        words += [f"queue-threshold {fields['threshold']}"] if fields.get("threshold") else []
        return " ".join(words)
    level = number(fields, "level") if "level" in fields else _DEFAULT_LEVEL
    if level != _DEFAULT_LEVEL:
        words.append(f"level {_LEVELS[level] if level < len(_LEVELS) else level}")
    return " ".join([*words, *_log_flags(number(fields, "flags"))])


def _log_flags(flags: int) -> list[str]:
    if flags & _LOG_ALL == _LOG_ALL:
        return ["flags all"]
    words = []
    tcp = [word for bit, word in ((1, "sequence"), (2, "options")) if flags & bit]
    if tcp:
        words.append(f"flags tcp {','.join(tcp)}")
    return words + [f"flags {word}" for bit, word in _LOG_FLAGS if flags & bit]


def reject(fields: Fields, family: str) -> str:
    """reject with icmp host-unreachable; what the family would send anyway is not said."""
    kind, code = str(fields.get("type")), number(fields, "code")
    plain = _PLAIN_REJECTS.get(family, ("icmpx", 1))
    return "reject" if (kind, code) == plain else f"reject with {fields.get('kind')}"


def range_flags(fields: Fields) -> str:
    """random,persistent."""
    return ",".join(word for bit, word in _RANGE_FLAGS if number(fields, "range_flags") & bit)


def target(address: str, last_address: str, port: str, last_port: str, *, brackets: bool) -> str:
    """10.0.0.5-10.0.0.9:80-90."""
    words = address if address == last_address or not last_address else f"{address}-{last_address}"
    if port and brackets and address:
        words = f"[{address}]" if address == last_address or not last_address else f"[{address}]-[{last_address}]"
    if port:
        words += f":{port}" if port == last_port or not last_port else f":{port}-{last_port}"
    return words


def queue(fields: Fields) -> str:
    """queue flags bypass to 3-5."""
    first, total, flags = number(fields, "num"), number(fields, "total"), number(fields, "flags")
    words = ",".join(word for bit, word in ((1, "bypass"), (2, "fanout")) if flags & bit)
    last = f"-{first + total - 1}" if total > 1 else ""
    return f"queue flags {words} to {first}{last}" if words else f"queue to {first}{last}"


def object_reference(fields: Fields) -> str:
    """counter name "x"."""
    kind = str(fields.get("type"))
    word = f"{kind} set" if kind in ("ct helper", "ct timeout", "ct expectation") else f"{kind} name"
    return f'{word} "{fields.get("name")}"'


def synproxy(fields: Fields) -> str:
    """synproxy mss 1460 wscale 7 timestamp."""
    flags = number(fields, "flags")
    words = ["synproxy"]
    words += [f"mss {fields.get('mss')}"] if flags & 1 else []
    words += [f"wscale {fields.get('wscale')}"] if flags & 2 else []
    words += ["timestamp"] if flags & 8 else []
    return " ".join([*words, *(["sack-perm"] if flags & 4 else [])])


def inner_statements(found: Sequence[Detail]) -> str:
    """What a dynset does beside its element."""
    words = []
    for one in found:
        if isinstance(one, list) and len(one) == 2 and isinstance(one[1], dict):
            name, fields = str(one[0]), one[1]
            writer = {"limit": limit, "quota": quota, "connlimit": connection_limit}.get(name)
            words.append(writer(fields) if writer else name)
    return " ".join(words)
