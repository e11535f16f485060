"""The switches of the namespace that the calling thread is in: over rtnetlink, and the rest from /proc/sys/net.

Three files are read, and two more where there is a bridge; everything else comes with the devices.
"""

import os
from collections.abc import Iterable

from netdiag.errors import NetdiagError
from netdiag.io.kernel.channel import Channel
from netdiag.linux.interface_settings import decode_shared_switches, request_shared_switches
from netdiag.linux.kernel_settings import KernelSettings

_NET = "/proc/sys/net/"
_ALL = "all"


def read_settings(
    channel: Channel, devices: Iterable[tuple[str, int, int]] = (), *, bridges: bool, net: str = _NET
) -> KernelSettings:
    """`devices` are names with their rp_filter and route_localnet; `net` is the folder to read from."""
    listed = tuple(devices)
    forward, rp_filter = _shared(channel, 4)
    forward6, _ = _shared(channel, 6)
    route_localnet = _number(net, "ipv4/conf/all/route_localnet")
    return KernelSettings(
        ip_forward=_switch(forward),
        ipv6_forwarding=_switch(forward6),
        ipv6_disabled=_switch(_number(net, "ipv6/conf/all/disable_ipv6")),
        bridge_nf_call_iptables=_switch(_number(net, "bridge/bridge-nf-call-iptables")) if bridges else None,
        bridge_nf_call_ip6tables=_switch(_number(net, "bridge/bridge-nf-call-ip6tables")) if bridges else None,
        rp_filter=(
            *(((_ALL, rp_filter),) if rp_filter is not None else ()),
            *((name, value) for name, value, _ in listed),
        ),
        route_localnet=(
            *(((_ALL, route_localnet),) if route_localnet is not None else ()),
            *((name, value) for name, _, value in listed),
        ),
        local_port_range=_range(net, "ipv4/ip_local_port_range"),
    )


def _shared(channel: Channel, family: int) -> tuple[int | None, int | None]:
    try:
        return decode_shared_switches(channel.ask(request_shared_switches(family))[1])
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
