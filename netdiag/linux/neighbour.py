"""Neighbours, bridge forwarding entries and VLANs as rtnetlink(7) tells them (linux/neighbour.h, if_bridge.h)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdiag.linux.link import Detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """What ARP or neighbour discovery has found: `states` are the words of `ip neigh` ("REACHABLE", "FAILED")."""

    ifindex: int
    address: str
    lladdr: str
    states: tuple[str, ...]
    router: bool = False
    proxy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FdbEntry:
    """Behind which port of a bridge or vxlan a hardware address is; `vlan` and `destination` where they apply.

    `ifindex` is the device of the entry, `master` the bridge. `state` and `flags` are the words of `bridge -j fdb`.
    `details` are port, vni, src_vni, nhid and via (a device by index) of vxlan entries that have them.
    """

    ifindex: int
    lladdr: str
    master: int | None = None
    vlan: int | None = None
    destination: str = ""
    state: str = ""
    flags: tuple[str, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeVlan:
    """One VLAN, or a range of them, that a port of a filtering bridge takes part in; `flags` as `bridge -j vlan`."""

    ifindex: int
    vlan: int
    vlan_end: int
    flags: tuple[str, ...] = ()
