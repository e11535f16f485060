"""Targets of iptables: struct to fields.

Sources: linux/netfilter/xt_*.h, linux/netfilter/nf_nat.h, linux/netfilter_ipv4/ipt_REJECT.h and their IPv6 twins.
"""

import ipaddress
from collections.abc import Callable, Mapping

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.structs import Blob, prefix_length

Fields = dict[str, Detail]

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
    decoder = _DECODERS.get(name)
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


def _mark(blob: Blob, revision: int) -> Fields | None:
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


def _tcpmss(blob: Blob, revision: int) -> Fields:
    return {"mss": blob.u16(0)}


def _byte(name: str) -> Callable[[Blob, int], Fields]:
    return lambda blob, revision: {name: blob.u8(0)}


def _tos(blob: Blob, revision: int) -> Fields | None:
    return {"tos": blob.u8(0), "mask": blob.u8(1)} if revision == 1 else None


def _ttl(blob: Blob, revision: int) -> Fields:
    return {"mode": blob.u8(0), "ttl": blob.u8(1)}


def _classify(blob: Blob, revision: int) -> Fields:
    return {"priority": blob.u32(0)}


def _tproxy(blob: Blob, revision: int) -> Fields:
    mask, value = blob.u32(0), blob.u32(4)
    if revision == 0:
        return {"mask": mask, "mark": value, "address": blob.address(8), "port": blob.port(12)}
    return {"mask": mask, "mark": value, "address": blob.address(8), "port": blob.port(24)}


def _nothing(blob: Blob, revision: int) -> Fields:
    return {}


_DECODERS: Mapping[str, Callable[[Blob, int], Fields | None]] = {
    "DNAT": _nat,
    "SNAT": _nat,
    "MASQUERADE": _nat,
    "REDIRECT": _nat,
    "NETMAP": _netmap,
    "REJECT": _reject,
    "LOG": _log,
    "MARK": _mark,
    "CONNMARK": _connmark,
    "NFLOG": _nflog,
    "NFQUEUE": _nfqueue,
    "CT": _ct,
    "TCPMSS": _tcpmss,
    "CHECKSUM": _byte("operation"),
    "DSCP": _byte("dscp"),
    "TOS": _tos,
    "TTL": _ttl,
    "HL": _ttl,
    "CLASSIFY": _classify,
    "TPROXY": _tproxy,
    "NOTRACK": _nothing,
    "TRACE": _nothing,
}
