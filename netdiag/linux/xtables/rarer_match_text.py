"""Options of the rarer matches in the words of iptables-save."""

import ipaddress
from collections.abc import Callable, Mapping

from netdiag.linux.xtables.blob import prefix_length
from netdiag.linux.xtables.options import Fields, integer, negation, option, port_range, quoted, rate

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


RARER: Mapping[str, Callable[[Fields, str], list[str]]] = {
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
