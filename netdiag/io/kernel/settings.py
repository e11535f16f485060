"""The switches under /proc/sys/net of the namespace that the calling thread is in.

What belongs to a device comes with the device over rtnetlink; files are read for the rest only.
"""

import os
from collections.abc import Iterable

from netdiag.linux.kernel_settings import KernelSettings

_NET = "/proc/sys/net/"


def read_settings(devices: Iterable[tuple[str, int, int]] = (), net: str = _NET) -> KernelSettings:
    """`devices` are names with their rp_filter and route_localnet; `net` is the folder to read from."""
    listed = tuple(devices)
    shared = [(name, _number(net, f"ipv4/conf/{name}/rp_filter")) for name in ("all", "default")]
    local = [(name, _number(net, f"ipv4/conf/{name}/route_localnet")) for name in ("all", "default")]
    bridged = os.path.isdir(f"{net}bridge")
    return KernelSettings(
        ip_forward=_switch(net, "ipv4/ip_forward"),
        ipv6_forwarding=_switch(net, "ipv6/conf/all/forwarding"),
        ipv6_disabled=_switch(net, "ipv6/conf/all/disable_ipv6"),
        bridge_nf_call_iptables=_switch(net, "bridge/bridge-nf-call-iptables") if bridged else None,
        bridge_nf_call_ip6tables=_switch(net, "bridge/bridge-nf-call-ip6tables") if bridged else None,
        rp_filter=(
            *((name, value) for name, value in shared if value is not None),
            *((name, rp_filter) for name, rp_filter, _ in listed),
        ),
        route_localnet=(
            *((name, value) for name, value in local if value is not None),
            *((name, route_localnet) for name, _, route_localnet in listed),
        ),
        local_port_range=_range(net, "ipv4/ip_local_port_range"),
    )


def _switch(net: str, name: str) -> bool | None:
    value = _number(net, name)
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
