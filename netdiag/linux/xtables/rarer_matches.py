"""Matches of iptables that say nothing certain about a connection's first packet: struct to fields, for their text.

Sources: linux/netfilter/xt_*.h, linux/netfilter_ipv4/ipt_ttl.h.
"""

from collections.abc import Callable, Mapping

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.blob import Blob

Fields = dict[str, Detail]


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


RARER: Mapping[str, Callable[[Blob, int], Fields | None]] = {
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
