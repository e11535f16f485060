"""The switches of a network namespace under /proc/sys/net that decide who reaches whom."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSettings:
    """None is a switch that this kernel does not have (bridge_nf_* without br_netfilter), or that was not read.

    `ipv6_disabled` is whether IPv6 is off on every device. `route_localnet` and `rp_filter` are by interface name,
    "all" among them. bridge_nf_*, `local_port_range` and "all" of `route_localnet` are read in the own namespace, and
    where there is a bridge or a packet filter; elsewhere nothing depends on them. Sources:
    Documentation/networking/ip-sysctl.rst, net/bridge/br_netfilter_hooks.c.
    """

    ip_forward: bool | None = None
    ipv6_forwarding: bool | None = None
    ipv6_disabled: bool | None = None
    bridge_nf_call_iptables: bool | None = None
    bridge_nf_call_ip6tables: bool | None = None
    route_localnet: tuple[tuple[str, int], ...] = ()
    rp_filter: tuple[tuple[str, int], ...] = ()
    local_port_range: tuple[int, int] | None = None
