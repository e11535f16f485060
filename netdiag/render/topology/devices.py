"""A network device in a few words: its state where that is not the ordinary one, and what its kind adds."""

from collections.abc import Iterator, Mapping

from netdiag.linux.link import Detail, Link
from netdiag.linux.neighbour import BridgeVlan
from netdiag.render.screen import Line, Screen, Style
from netdiag.render.topology.lookup import Lookup
from netdiag.render.wording import plural
from netdiag.topology.inventory import LinkId

_ORDINARY_MTU = 1500
# linux/if_arp.h: types of devices that have no kind of their own.
_TYPES = {1: "physical", 772: "loopback", 512: "ppp", 776: "sit", 768: "ipip", 778: "gre", 65534: "without link layer"}
# The details of a kind that people ask for, by the names of ip -d -j link.
_TOLD: dict[str, tuple[tuple[str, str], ...]] = {
    "vlan": (("id", "id {}"), ("protocol", "{}")),
    "vxlan": (("id", "id {}"), ("local", "from {}"), ("remote", "to {}"), ("group", "group {}"), ("port", "port {}")),
    "geneve": (("id", "id {}"), ("remote", "to {}"), ("port", "port {}")),
    "bond": (("mode", "{}"), ("active_slave", "{} is active")),
    "macvlan": (("mode", "{} mode"),),
    "macvtap": (("mode", "{} mode"),),
    "ipvlan": (("mode", "{} mode"),),
    "vrf": (("table", "table {}"),),
    "gre": (("local", "from {}"), ("remote", "to {}")),
    "ipip": (("local", "from {}"), ("remote", "to {}")),
    "netkit": (("mode", "{}"),),
}


def kind_text(link: Link) -> str:
    """What a device is, in a word."""
    if link.kind == "tun":
        kind = link.details.get("type")
        return kind if isinstance(kind, str) and kind else "tun"
    return link.kind or _TYPES.get(link.type, f"type {link.type}")


def state_parts(link: Link) -> Iterator[tuple[str, Style]]:
    """What is not as usual: off, no line, no frames let through, another MTU."""
    if not link.up:
        yield "down", Style.BAD
    elif not link.carrier:
        yield "no carrier", Style.HALF
    state = link.port.get("state")
    if link.port_kind == "bridge" and isinstance(state, str) and state != "forwarding" and link.up:
        yield state, Style.HALF
    for flag in ("hairpin", "isolated"):
        if link.port.get(flag) is True:
            yield flag, Style.PLAIN
    if link.mtu != _ORDINARY_MTU and not link.loopback:
        yield f"mtu {link.mtu}", Style.PLAIN


def bridge_parts(link: Link) -> Iterator[tuple[str, Style]]:
    """What a bridge does beyond switching."""
    if link.details.get("stp_state"):
        yield "STP on", Style.PLAIN
    if link.details.get("vlan_filtering"):
        yield "filters VLANs", Style.PLAIN


def detail_parts(link: Link) -> Iterator[tuple[str, Style]]:
    """What its kind adds."""
    for name, words in _TOLD.get(link.kind, ()):
        told = _word(link.details, name)
        if told:
            yield words.format(told), Style.PLAIN


def vlan_text(vlans: tuple[BridgeVlan, ...], where: LinkId) -> str:
    """The VLANs of a port of a filtering bridge: "vlan 10 untagged, 20-30"."""
    told = [
        (f"{vlan.vlan}" if vlan.vlan == vlan.vlan_end else f"{vlan.vlan}-{vlan.vlan_end}")
        + (" untagged" if any("untagged" in flag.lower() for flag in vlan.flags) else "")
        for vlan in vlans
        if vlan.ifindex == where.ifindex
    ]
    return f"vlan {', '.join(told)}" if told else ""


def standing_parts(lookup: Lookup, where: LinkId, link: Link) -> Iterator[tuple[str, Style]]:
    """What a device stands on, who holds it, or that its other end cannot be seen."""
    parent = lookup.parent(where)
    if parent is not None:
        elsewhere = "" if parent.netns == where.netns else f" in {lookup.name(parent.netns)}"
        yield f"on {lookup.ifname(parent)}{elsewhere}", Style.PLAIN
    if link.kind == "tun":
        pids = lookup.topology.inventory.tun_owners.get(where, ())
        yield (f"held by {pids_text(lookup, pids)}", Style.PLAIN) if pids else ("held by nobody seen", Style.HALF)
    if link.kind in ("veth", "netkit") and lookup.peer(where) is None:
        yield "its other end is in no namespace that is seen", Style.HALF


def traffic_parts(lookup: Lookup, where: LinkId) -> Iterator[tuple[str, Style]]:
    """What a capture shows of Kafka on it."""
    traffic = lookup.topology.traffic.get(where)
    if traffic is not None:
        requests, connections = plural(traffic.requests, "request"), plural(traffic.connections, "connection")
        yield f"Kafka: {requests} on {connections}", Style.NOTE
        if traffic.failed:
            yield f"{traffic.failed} of them never came about", Style.BAD


def pids_text(lookup: Lookup, pids: tuple[int, ...]) -> str:
    """Processes by program: "java (101)", "nginx (12, 13, 14 and 5 more)"."""
    programs: dict[str, list[int]] = {}
    for pid in pids:
        programs.setdefault(lookup.comm(pid) or "process", []).append(pid)
    told: list[str] = []
    for program, own in programs.items():
        more = f" and {len(own) - 3} more" if len(own) > 3 else ""
        told.append(f"{program} ({', '.join(map(str, own[:3]))}{more})")
    return ", ".join(told)


def lines_of(parts: Iterator[tuple[str, Style]], screen: Screen) -> tuple[Line, ...]:
    """Words with their styles as parts of a branch."""
    return tuple((screen.run(text, style),) for text, style in parts)


def _word(details: Mapping[str, Detail], name: str) -> str:
    value = details.get(name)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else ""
