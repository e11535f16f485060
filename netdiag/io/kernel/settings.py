"""The switches of the namespace that the calling thread is in: over rtnetlink, and the rest from /proc/sys/net.

Files are read only where packets may be sent on or turned aside, for they cost more than everything else: the kernel
finds them the slower, the more namespaces there are. Everything else comes with the devices.
"""

import os
from collections.abc import Sequence

from netdiag.errors import NetdiagError
from netdiag.io.kernel.channel import Channel
from netdiag.linux.netlink.links import LinkSettings, decode_netconf, request_netconf
from netdiag.linux.rtnetlink import KernelSettings

_NET = "/proc/sys/net/"
_ALL = "all"


def read_settings(
    channel: Channel, devices: Sequence[tuple[str, LinkSettings]] = (), *, files: bool, net: str = _NET
) -> KernelSettings:
    """`devices` are names with their switches; `files` is whether to read those, too; `net` is their folder."""
    forward, rp_filter = _shared(channel, 4)
    forward6, _ = _shared(channel, 6)
    route_localnet = _number(net, "ipv4/conf/all/route_localnet") if files else None
    shared = ((_ALL, rp_filter), *((name, switches.rp_filter) for name, switches in devices))
    local = ((_ALL, route_localnet), *((name, switches.route_localnet) for name, switches in devices))
    disabled = [one.ipv6_disabled for _, one in devices if one.ipv6_disabled is not None]
    return KernelSettings(
        ip_forward=_switch(forward),
        ipv6_forwarding=_switch(forward6),
        ipv6_disabled=all(disabled) if disabled else None,
        bridge_nf_call_iptables=_switch(_number(net, "bridge/bridge-nf-call-iptables")) if files else None,
        bridge_nf_call_ip6tables=_switch(_number(net, "bridge/bridge-nf-call-ip6tables")) if files else None,
        rp_filter=tuple((name, value) for name, value in shared if value is not None),
        route_localnet=tuple((name, value) for name, value in local if value is not None),
        local_port_range=_range(net, "ipv4/ip_local_port_range") if files else None,
    )


def _shared(channel: Channel, family: int) -> tuple[int | None, int | None]:
    try:
        return decode_netconf(channel.ask(request_netconf(family))[1])
    except NetdiagError:
        # IPv6 that was never loaded has no switches
        return None, None


def _switch(value: int | None) -> bool | None:
    return None if value is None else value != 0


def _number(net: str, name: str) -> int | None:
    try:
        return int(_read(net + name))
    except (OSError, ValueError):
        return None


def _range(net: str, name: str) -> tuple[int, int] | None:
    try:
        first, last = _read(net + name).split()
        return int(first), int(last)
    except (OSError, ValueError):
        return None


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 64)
    finally:
        os.close(descriptor)
