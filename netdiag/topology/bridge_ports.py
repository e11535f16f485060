"""What a port of a bridge lets in and out: its state, VLANs, isolation, hairpin; and behind which port somebody is.

Sources: net/bridge/br_input.c, br_forward.c (should_deliver), br_vlan.c, br_fdb.c.
"""

from dataclasses import dataclass

from netdiag.linux.link import Link
from netdiag.topology.terrain import Place

_FORWARDING = ("forwarding", 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What is sent: to a hardware address, or to all (`lladdr` ""); `address` is the target's at the layer above."""

    lladdr: str
    source: str
    address: str
    vlan: int | None = None


def filtering(bridge: Link) -> bool:
    """Whether the bridge keeps VLANs apart."""
    return bool(bridge.details.get("vlan_filtering"))


def membership(place: Place, ifindex: int, vlan: int) -> tuple[str, ...] | None:
    """The flags of a port in a VLAN, None where it is not in it."""
    return next((v.flags for v in place.vlans[ifindex] if v.vlan <= vlan <= max(v.vlan, v.vlan_end)), None)


def pvid(place: Place, ifindex: int) -> int | None:
    """The VLAN of frames without a tag, None where they are not taken."""
    return next((v.vlan for v in place.vlans[ifindex] if "PVID" in v.flags), None)


def entry_refused(place: Place, bridge: Link, port: Link, frame: Frame) -> str:
    """Why a frame may not come in by a port; "" where it may."""
    if port.port.get("state", "forwarding") not in _FORWARDING:
        return f"port {port.ifname} of bridge {bridge.ifname} is {port.port.get('state')}, not forwarding"
    if not bridge.up:
        return f"bridge {bridge.ifname} is down"
    if filtering(bridge):
        vlan = frame.vlan or pvid(place, port.ifindex)
        if vlan is None:
            return f"port {port.ifname} takes no frames without a VLAN tag"
        if membership(place, port.ifindex, vlan) is None:
            return f"port {port.ifname} is not in VLAN {vlan}"
    if port.port.get("locked") and not place.fdb.get((bridge.ifindex, frame.source)):
        return f"port {port.ifname} is locked, and {frame.source} is not known there"
    return ""


def exit_refused(place: Place, bridge: Link, entered: Link | None, port: Link, frame: Frame) -> str:
    """Why a frame may not leave by a port; "" where it may. `entered` is the port it came by."""
    if port.port.get("state", "forwarding") not in _FORWARDING:
        return f"port {port.ifname} of bridge {bridge.ifname} is {port.port.get('state')}, not forwarding"
    if entered is not None and entered.ifindex == port.ifindex and not port.port.get("hairpin"):
        return f"port {port.ifname} does not send back what came in by it (hairpin is off)"
    if entered is not None and entered.port.get("isolated") and port.port.get("isolated"):
        return f"ports {entered.ifname} and {port.ifname} of bridge {bridge.ifname} are isolated from each other"
    if filtering(bridge) and (frame.vlan is None or membership(place, port.ifindex, frame.vlan) is None):
        return f"port {port.ifname} is not in VLAN {frame.vlan}"
    return ""


def learnt(place: Place, bridge: Link, frame: Frame) -> int | None:
    """The port behind which the bridge knows the hardware address."""
    entries = place.fdb.get((bridge.ifindex, frame.lladdr), ())
    fitting = [e for e in entries if not filtering(bridge) or e.vlan is None or e.vlan == frame.vlan]
    return fitting[0].ifindex if fitting else None


def floods(port: Link, frame: Frame) -> bool:
    """Whether frames for nobody in particular leave by a port; unset means yes."""
    return port.port.get("flood" if frame.lladdr else "bcast_flood") is not False
