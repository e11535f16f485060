"""Targets of iptables: struct to fields, and fields to the options that iptables-save prints.

Bytes are not to be trusted. Sources: linux/netfilter/xt_*.h, linux/netfilter/nf_nat.h, linux/netfilter_ipv4/ipt_*.h,
linux/netfilter_ipv6/ip6t_*.h.
"""

import ipaddress
from collections.abc import Callable, Mapping

from netdiag.linux.rtnetlink import Detail
from netdiag.linux.xtables.structs import (
    Blob,
    Decoded,
    Extension,
    Fields,
    integer,
    listed,
    port_range,
    prefix_length,
    quoted,
)

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


def decode_target(name: str, revision: int, blob: Blob) -> Decoded | None:
    """The fields of a target, None for one that is not known."""
    target = _TARGETS.get(name)
    return target.decode(blob, revision) if target else None


def target_text(name: str, fields: Fields, family: str) -> str:
    """The options after "-j NAME"."""
    target = _TARGETS.get(name)
    return " ".join(word for word in target.text(fields, family) if word) if target else ""


def _range(blob: Blob, revision: int) -> Decoded:
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


def _old_range(blob: Blob, revision: int) -> Decoded | None:
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


def _flags(flags: int) -> Decoded:
    words = {"random": _RANDOM, "persistent": _PERSISTENT, "random_fully": _FULLY}
    return {word: True for word, bit in words.items() if flags & bit}


def _nat(blob: Blob, revision: int) -> Decoded | None:
    if revision == 0 and blob.version == 4:
        return _old_range(blob, revision)
    return _range(blob, revision)


def _netmap(blob: Blob, revision: int) -> Decoded | None:
    fields = _nat(blob, revision)
    if fields is None or "first" not in fields:
        return None
    first, last = (ipaddress.ip_address(str(fields[name])) for name in ("first", "last"))
    size = len(first.packed)
    mask = (~(int(first) ^ int(last)) & ((1 << 8 * size) - 1)).to_bytes(size, "big")
    length = prefix_length(mask)
    return {"network": f"{first}/{ipaddress.ip_address(mask) if length is None else length}"}


def _reject(blob: Blob, revision: int) -> Decoded:
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


def _log(blob: Blob, revision: int) -> Decoded:
    return {"level": blob.u8(0), "flags": blob.u8(1), "prefix": blob.name(2, 30)}


def _set_mark(blob: Blob, revision: int) -> Decoded | None:
    return {"mark": blob.u32(0), "mask": blob.u32(4)} if revision == 2 else None


def _connmark(blob: Blob, revision: int) -> Decoded | None:
    if revision not in (1, 2):
        return None
    fields: Decoded = {"mark": blob.u32(0), "mask": blob.u32(4), "nfmask": blob.u32(8)}
    mode = blob.u8(12)
    if revision == 2:
        mode = blob.u8(14)
        if blob.u8(13):
            fields |= {"shift": blob.u8(13), "left": blob.u8(12) == 0}
    fields["mode"] = {0: "set", 1: "save", 2: "restore"}.get(mode, str(mode))
    return fields


def _nflog(blob: Blob, revision: int) -> Decoded:
    fields: Decoded = {"group": blob.u16(4), "threshold": blob.u16(6), "prefix": blob.name(12, 64)}
    if blob.u16(8) & 1:
        fields["size"] = blob.u32(0)
    elif blob.u32(0):
        fields["range"] = blob.u32(0)
    return fields


def _nfqueue(blob: Blob, revision: int) -> Decoded:
    return {
        "first": blob.u16(0),
        "count": blob.u16(2) if revision >= 1 else 1,
        "flags": blob.u16(4) if revision >= 2 else 0,
    }


def _ct(blob: Blob, revision: int) -> Decoded | None:
    if revision == 0 and len(blob.data) < 32:
        return None
    fields: Decoded = {
        "flags": blob.u16(0),
        "zone": blob.u16(2),
        "events": blob.u32(4),
        "expectations": blob.u32(8),
        "helper": blob.name(12, 16),
    }
    if revision >= 1:
        fields["timeout"] = blob.name(28, 32)
    return fields


def _set_mss(blob: Blob, revision: int) -> Decoded:
    return {"mss": blob.u16(0)}


def _byte(name: str) -> Callable[[Blob, int], Decoded]:
    return lambda blob, revision: {name: blob.u8(0)}


def _set_tos(blob: Blob, revision: int) -> Decoded | None:
    return {"tos": blob.u8(0), "mask": blob.u8(1)} if revision == 1 else None


def _classify(blob: Blob, revision: int) -> Decoded:
    return {"priority": blob.u32(0)}


def _tproxy(blob: Blob, revision: int) -> Decoded:
    mask, value = blob.u32(0), blob.u32(4)
    if revision == 0:
        return {"mask": mask, "mark": value, "address": blob.address(8), "port": blob.port(12)}
    return {"mask": mask, "mark": value, "address": blob.address(8), "port": blob.port(24)}


def _nothing(blob: Blob, revision: int) -> Decoded:
    return {}


def _translation_text(fields: Fields, family: str, word: str) -> list[str]:
    first, last = str(fields.get("first", "")), str(fields.get("last", ""))
    ports = listed(fields, "ports")
    bracketed = family == "ip6" and bool(ports)
    value = f"[{first}]" if bracketed and first else first
    if last != first:
        value += f"-[{last}]" if bracketed else f"-{last}"
    if ports:
        value += f":{port_range([*ports[:2]], '-')}"
        value += f"/{ports[2]}" if len(ports) > 2 else ""
    return [f"{word} {value}".rstrip(), *_flags_text(fields)]


def _flags_text(fields: Fields) -> list[str]:
    words = (("random", "--random"), ("random_fully", "--random-fully"), ("persistent", "--persistent"))
    return [word for name, word in words if fields.get(name)]


def _dnat_text(fields: Fields, family: str) -> list[str]:
    return _translation_text(fields, family, "--to-destination")


def _snat_text(fields: Fields, family: str) -> list[str]:
    return _translation_text(fields, family, "--to-source")


def _to_ports_text(fields: Fields, family: str) -> list[str]:
    ports = listed(fields, "ports")
    return [f"--to-ports {port_range([*ports[:2]], '-')}" if ports else "", *_flags_text(fields)]


def _netmap_text(fields: Fields, family: str) -> list[str]:
    return [f"--to {str(fields.get('network')).removesuffix('/32').removesuffix('/128')}"]


def _reject_text(fields: Fields, family: str) -> list[str]:
    return [f"--reject-with {fields.get('with')}"]


def _log_text(fields: Fields, family: str) -> list[str]:
    words = [f"--log-prefix {quoted(str(fields['prefix']))}"] if fields.get("prefix") else []
    level = integer(fields, "level")
    words += [f"--log-level {level}"] if level != _LOG_LEVEL else []
    return words + [word for bit, word in _LOG_FLAGS if integer(fields, "flags") & bit]


def _set_mark_text(fields: Fields, family: str) -> list[str]:
    return [f"--set-xmark 0x{integer(fields, 'mark'):x}/0x{integer(fields, 'mask'):x}"]


def _connmark_text(fields: Fields, family: str) -> list[str]:
    mark, mask, nfmask = (integer(fields, name) for name in ("mark", "mask", "nfmask"))
    match fields.get("mode"):
        case "set":
            return [f"--set-xmark 0x{mark:x}/0x{mask:x}"]
        case "save":
            return [f"--save-mark --nfmask 0x{nfmask:x} --ctmask 0x{mask:x}"]
        case _:
            return [f"--restore-mark --nfmask 0x{nfmask:x} --ctmask 0x{mask:x}"]


def _nflog_text(fields: Fields, family: str) -> list[str]:
    words = [f"--nflog-prefix {quoted(str(fields['prefix']))}"] if fields.get("prefix") else []
    words += [f"--nflog-group {fields['group']}"] if fields.get("group") else []
    words += [f"--nflog-size {fields['size']}"] if "size" in fields else []
    words += [f"--nflog-range {fields['range']}"] if "range" in fields else []
    threshold = integer(fields, "threshold")
    return [*words, f"--nflog-threshold {threshold}"] if threshold else words


def _nfqueue_text(fields: Fields, family: str) -> list[str]:
    first, count, flags = (integer(fields, name) for name in ("first", "count", "flags"))
    words = [f"--queue-balance {first}:{first + count - 1}" if count > 1 else f"--queue-num {first}"]
    words += ["--queue-bypass"] if flags & 1 else []
    return words + (["--queue-cpu-fanout"] if flags & 2 else [])


def _ct_text(fields: Fields, family: str) -> list[str]:
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


def _set_mss_text(fields: Fields, family: str) -> list[str]:
    mss = integer(fields, "mss")
    return ["--clamp-mss-to-pmtu" if mss == _CLAMP else f"--set-mss {mss}"]


def _checksum_text(fields: Fields, family: str) -> list[str]:
    return ["--checksum-fill"] if integer(fields, "operation") & 1 else []


def _set_dscp_text(fields: Fields, family: str) -> list[str]:
    return [f"--set-dscp 0x{integer(fields, 'dscp'):02x}"]


def _set_tos_text(fields: Fields, family: str) -> list[str]:
    return [f"--set-tos 0x{integer(fields, 'tos'):02x}/0x{integer(fields, 'mask'):02x}"]


def _set_ttl_text(fields: Fields, family: str) -> list[str]:
    word = "--hl" if family == "ip6" else "--ttl"
    return [f"{word}-{({0: 'set', 1: 'inc', 2: 'dec'}).get(integer(fields, 'mode'), 'set')} {fields.get('ttl')}"]


def _classify_text(fields: Fields, family: str) -> list[str]:
    priority = integer(fields, "priority")
    return [f"--set-class {priority >> 16:04x}:{priority & 0xFFFF:04x}"]


def _tproxy_text(fields: Fields, family: str) -> list[str]:
    mark = f"0x{integer(fields, 'mark'):x}/0x{integer(fields, 'mask'):x}"
    return [f"--on-port {fields.get('port')} --on-ip {fields.get('address')} --tproxy-mark {mark}"]


def _ttl(blob: Blob, revision: int) -> Decoded:
    return {"mode": blob.u8(0), "ttl": blob.u8(1)}


def _no_options(fields: Fields, family: str) -> list[str]:
    return []


_TARGETS: Mapping[str, Extension] = {
    "DNAT": Extension(_nat, _dnat_text),
    "SNAT": Extension(_nat, _snat_text),
    "MASQUERADE": Extension(_nat, _to_ports_text),
    "REDIRECT": Extension(_nat, _to_ports_text),
    "NETMAP": Extension(_netmap, _netmap_text),
    "REJECT": Extension(_reject, _reject_text),
    "LOG": Extension(_log, _log_text),
    "MARK": Extension(_set_mark, _set_mark_text),
    "CONNMARK": Extension(_connmark, _connmark_text),
    "NFLOG": Extension(_nflog, _nflog_text),
    "NFQUEUE": Extension(_nfqueue, _nfqueue_text),
    "CT": Extension(_ct, _ct_text),
    "TCPMSS": Extension(_set_mss, _set_mss_text),
    "CHECKSUM": Extension(_byte("operation"), _checksum_text),
    "DSCP": Extension(_byte("dscp"), _set_dscp_text),
    "TOS": Extension(_set_tos, _set_tos_text),
    "TTL": Extension(_ttl, _set_ttl_text),
    "HL": Extension(_ttl, _set_ttl_text),
    "CLASSIFY": Extension(_classify, _classify_text),
    "TPROXY": Extension(_tproxy, _tproxy_text),
    "NOTRACK": Extension(_nothing, _no_options),
    "TRACE": Extension(_nothing, _no_options),
}
