"""Options of targets in the words of iptables-save."""

from collections.abc import Callable, Mapping

from netdiag.linux.xtables.options import Fields, integer, listed, port_range, quoted

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
    writer = _WRITERS.get(name)
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


def _ports(fields: Fields, family: str) -> list[str]:
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


def _mark(fields: Fields, family: str) -> list[str]:
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


def _tcpmss(fields: Fields, family: str) -> list[str]:
    mss = integer(fields, "mss")
    return ["--clamp-mss-to-pmtu" if mss == _CLAMP else f"--set-mss {mss}"]


def _checksum(fields: Fields, family: str) -> list[str]:
    return ["--checksum-fill"] if integer(fields, "operation") & 1 else []


def _dscp(fields: Fields, family: str) -> list[str]:
    return [f"--set-dscp 0x{integer(fields, 'dscp'):02x}"]


def _tos(fields: Fields, family: str) -> list[str]:
    return [f"--set-tos 0x{integer(fields, 'tos'):02x}/0x{integer(fields, 'mask'):02x}"]


def _ttl(fields: Fields, family: str) -> list[str]:
    word = "--hl" if family == "ip6" else "--ttl"
    return [f"{word}-{({0: 'set', 1: 'inc', 2: 'dec'}).get(integer(fields, 'mode'), 'set')} {fields.get('ttl')}"]


def _classify(fields: Fields, family: str) -> list[str]:
    priority = integer(fields, "priority")
    return [f"--set-class {priority >> 16:04x}:{priority & 0xFFFF:04x}"]


def _tproxy(fields: Fields, family: str) -> list[str]:
    mark = f"0x{integer(fields, 'mark'):x}/0x{integer(fields, 'mask'):x}"
    return [f"--on-port {fields.get('port')} --on-ip {fields.get('address')} --tproxy-mark {mark}"]


_WRITERS: Mapping[str, Callable[[Fields, str], list[str]]] = {
    "DNAT": _dnat,
    "SNAT": _snat,
    "MASQUERADE": _ports,
    "REDIRECT": _ports,
    "NETMAP": _netmap,
    "REJECT": _reject,
    "LOG": _log,
    "MARK": _mark,
    "CONNMARK": _connmark,
    "NFLOG": _nflog,
    "NFQUEUE": _nfqueue,
    "CT": _ct,
    "TCPMSS": _tcpmss,
    "CHECKSUM": _checksum,
    "DSCP": _dscp,
    "TOS": _tos,
    "TTL": _ttl,
    "HL": _ttl,
    "CLASSIFY": _classify,
    "TPROXY": _tproxy,
}
