"""A topology with what hangs where at hand, for those who draw it: ends of cables, ports of a bridge, names.

Nothing is decided here; everything a renderer asks for by name or by device is found without a search.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from netdiag.linux.rtnetlink import BridgeVlan, Detail, InterfaceAddress, Link
from netdiag.render.screen import Line, Screen, Style
from netdiag.render.wording import plural
from netdiag.topology.graph import CableKind, KafkaListener, NetworkView, Place, PlaceKind, Published, Topology
from netdiag.topology.inventory import Coverage, Inventory, LinkId, NamespaceFacts, measure_coverage

PAIRS = (CableKind.VETH, CableKind.NETKIT)
_LINK_SCOPE = 253
_ORDER = {kind: number for number, kind in enumerate(PlaceKind)}


class Lookup:
    """One topology, indexed once."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.places = {place.netns: place for place in topology.places}
        self.published = {published.key: published for published in topology.published}
        self.links_by_id = {
            LinkId(netns=netns, ifindex=link.ifindex): link
            for netns, facts in topology.inventory.namespaces.items()
            for link in facts.links
        }
        self._addresses: defaultdict[LinkId, list[InterfaceAddress]] = defaultdict(list)
        for netns, facts in topology.inventory.namespaces.items():
            for address in facts.addresses:
                self._addresses[LinkId(netns=netns, ifindex=address.ifindex)].append(address)
        self._peers: dict[LinkId, LinkId] = {}
        self._masters: dict[LinkId, LinkId] = {}
        self._ports: defaultdict[LinkId, list[LinkId]] = defaultdict(list)
        self._parents: dict[LinkId, LinkId] = {}
        self._index_cables()
        self._hubs = {where.netns for where in self._ports}
        self._networks = {
            view.bridge: view for view in topology.networks if view.bridge is not None and not view.network.parent
        }
        self._kafka: defaultdict[str, list[KafkaListener]] = defaultdict(list)
        for listener in topology.listeners:
            self._kafka[listener.container].append(listener)
        self._exits: defaultdict[str, list[Published]] = defaultdict(list)
        for published in topology.published:
            self._exits[published.container].append(published)

    def _index_cables(self) -> None:
        for cable in self.topology.cables:
            if cable.kind in PAIRS:
                self._peers[cable.a], self._peers[cable.b] = cable.b, cable.a
            elif cable.kind is CableKind.PORT:
                self._masters[cable.a] = cable.b
                self._ports[cable.b].append(cable.a)
            else:
                self._parents[cable.a] = cable.b

    def facts(self, netns: int) -> NamespaceFacts | None:
        """What is in a namespace."""
        return self.topology.inventory.namespaces.get(netns)

    def link(self, where: LinkId) -> Link | None:
        """The device at that place."""
        return self.links_by_id.get(where)

    def links(self, netns: int) -> list[tuple[LinkId, Link]]:
        """The devices of a namespace, in the kernel's order."""
        facts = self.facts(netns)
        return [(LinkId(netns=netns, ifindex=link.ifindex), link) for link in (facts.links if facts else ())]

    def addresses(self, where: LinkId) -> list[str]:
        """The addresses of a device with their prefix lengths, but those that every device gives itself."""
        found = self._addresses.get(where, [])
        return [f"{each.address}/{each.prefix_length}" for each in found if each.scope != _LINK_SCOPE]

    def peer(self, where: LinkId) -> LinkId | None:
        """The other end of a pair."""
        return self._peers.get(where)

    def master(self, where: LinkId) -> LinkId | None:
        """The bridge, bond or VRF that a device is a port of."""
        return self._masters.get(where)

    def ports(self, where: LinkId) -> list[LinkId]:
        """The ports of a bridge, bond or VRF."""
        return self._ports.get(where, [])

    def parent(self, where: LinkId) -> LinkId | None:
        """What a vlan or macvlan stands on."""
        return self._parents.get(where)

    def network(self, where: LinkId) -> NetworkView | None:
        """The engine's network that a bridge is."""
        return self._networks.get(where)

    def kafka(self, containers: Iterable[str]) -> list[KafkaListener]:
        """The Kafka listeners of these containers."""
        return [listener for container in containers for listener in self._kafka.get(container, ())]

    def exits(self, containers: Iterable[str]) -> list[Published]:
        """The published ports of these containers."""
        return [published for container in containers for published in self._exits.get(container, ())]

    def name(self, netns: int) -> str:
        """What people call a namespace."""
        place = self.places.get(netns)
        return place.name if place else f"net:[{netns}]"

    def ifname(self, where: LinkId) -> str:
        """The name of a device, its number where it is not seen."""
        link = self.link(where)
        return link.ifname if link else f"#{where.ifindex}"

    def device_name(self, netns: int, ifindex: int) -> str:
        """The name of a device of a namespace."""
        return self.ifname(LinkId(netns=netns, ifindex=ifindex))

    def container_name(self, container: str) -> str:
        """The name of a container, its id where the engine has none."""
        known = self.topology.containers.get(container)
        return known.name if known and known.name else container[:12]

    def comm(self, pid: int) -> str:
        """The program of a process, "" where it is not known."""
        process = self.topology.inventory.processes.get(pid)
        return process.comm if process else ""

    def in_order(self) -> list[Place]:
        """The docker host or this machine first, then where bridges are, then containers, named ones and the rest."""
        return sorted(self.topology.places, key=lambda place: (self._rank(place), _ORDER[place.kind], place.name))

    def _rank(self, place: Place) -> int:
        inventory = self.topology.inventory
        if self.topology.host and place.name == self.topology.host:
            return 0
        return 1 if place.netns in (inventory.root, inventory.own) else 2 if place.netns in self._hubs else 3


def stable_id(*names: str) -> str:
    """An identifier that is the same for the same names, whatever stands in them."""
    return "n" + hashlib.sha256("\x00".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def device_id(lookup: Lookup, where: LinkId) -> str:
    """One of a device, by its name and its place."""
    return stable_id("device", lookup.name(where.netns), lookup.ifname(where))


_ORDINARY_MTU = 1500
# linux/if_arp.h: types of devices that have no kind of their own.
_TYPES = {1: "physical", 772: "loopback", 512: "ppp", 776: "sit", 768: "ipip", 778: "gre", 65534: "without link layer"}
# The details of a kind that people ask for, by the names of ip -d -j link.
_DETAILS: dict[str, tuple[tuple[str, str], ...]] = {
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
    for name, words in _DETAILS.get(link.kind, ()):
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


def counterpart_parts(lookup: Lookup, where: LinkId, link: Link) -> Iterator[tuple[str, Style]]:
    """What a device stands on, who holds it, or that its other end cannot be seen."""
    parent = lookup.parent(where)
    if parent is not None:
        elsewhere = "" if parent.netns == where.netns else f" in {lookup.name(parent.netns)}"
        yield f"on {lookup.ifname(parent)}{elsewhere}", Style.PLAIN
    if link.kind == "tun":
        pids = lookup.topology.inventory.tun_owners.get(where, ())
        yield (
            (f"held by {pids_text(lookup, pids)}", Style.PLAIN) if pids else ("held by no visible process", Style.HALF)
        )
    if link.kind in ("veth", "netkit") and lookup.peer(where) is None:
        yield "its peer is not in a visible namespace", Style.HALF


def traffic_parts(lookup: Lookup, where: LinkId) -> Iterator[tuple[str, Style]]:
    """What a capture shows of Kafka on it."""
    traffic = lookup.topology.traffic.get(where)
    if traffic is not None:
        requests, connections = plural(traffic.requests, "request"), plural(traffic.connections, "connection")
        yield f"Kafka: {requests} on {connections}", Style.NOTE
        if traffic.failed:
            yield f"{traffic.failed} of them failed", Style.BAD


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


def styled_lines(parts: Iterator[tuple[str, Style]], screen: Screen) -> tuple[Line, ...]:
    """Words with their styles as parts of a branch."""
    return tuple((screen.run(text, style),) for text, style in parts)


def _word(details: Mapping[str, Detail], name: str) -> str:
    value = details.get(name)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else ""


# More reasons than this are counted, not told.
_REASONS_SHOWN = 3


def coverage_line(inventory: Inventory) -> str:
    """The counts that people ask for, then what could not be read, with the reasons."""
    coverage = measure_coverage(inventory)
    parts = [
        plural(coverage.namespaces, "namespace"),
        plural(coverage.links, "link"),
        plural(coverage.listeners, "listener"),
        plural(coverage.filter_rules, "packet filter rule"),
        *_not_read(inventory, coverage),
    ]
    line = ", ".join(parts)
    return line if coverage.complete else f"partial, because privileges are missing: {line}"


def coverage_value(inventory: Inventory) -> dict[str, Any]:
    """The same for programs."""
    coverage = measure_coverage(inventory)
    return {
        "line": coverage_line(inventory),
        "complete": coverage.complete,
        "namespaces": coverage.namespaces,
        "closed": coverage.closed,
        "links": coverage.links,
        "addresses": coverage.addresses,
        "routes": coverage.routes,
        "listeners": coverage.listeners,
        "filter_rules": coverage.filter_rules,
        "unread_processes": _counted(coverage.unread_processes),
        "unread_facts": _counted(coverage.unread_facts),
        "unread_filters": _counted(_filters(inventory)),
    }


def _not_read(inventory: Inventory, coverage: Coverage) -> list[str]:
    parts = [f"{plural(coverage.closed, 'namespace')} not inspected"] if coverage.closed else []
    nouns = (("process", "processes"), ("other fact", "other facts"), ("packet filter", "packet filters"))
    for (one, many), reasons in zip(
        nouns, (coverage.unread_processes, coverage.unread_facts, _filters(inventory)), strict=True
    ):
        count = sum(times for _, times in reasons)
        if count:
            parts.append(f"{count} {one if count == 1 else many} unreadable ({_reasons(reasons)})")
    return parts


def _reasons(reasons: Sequence[tuple[str, int]]) -> str:
    told = "; ".join(reason for reason, _ in reasons[:_REASONS_SHOWN])
    return f"{told}; and {len(reasons) - _REASONS_SHOWN} other reasons" if len(reasons) > _REASONS_SHOWN else told


def _filters(inventory: Inventory) -> tuple[tuple[str, int], ...]:
    counted = Counter(reason for facts in inventory.namespaces.values() for reason in facts.ruleset.unread)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _counted(reasons: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    return [{"because": reason, "count": count} for reason, count in reasons]
