"""An inventory with indexes, for predictions that look up the same addresses, routes and links many times."""

import ipaddress
from collections import defaultdict
from collections.abc import Hashable
from functools import lru_cache

from netdiag.linux.rtnetlink import BridgeVlan, FdbEntry, InterfaceAddress, Link, Neighbour, Route, RoutingRule
from netdiag.linux.ruleset import Ruleset
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts

# linux/if_addr.h: not usable until proven unique, or proven not to be.
_TENTATIVE, _DAD_FAILED = 0x40, 0x08

# An address range: address bits, mask, length of the prefix.
Prefix = tuple[int, int, int]


@lru_cache(maxsize=1 << 16)
def address_bits(address: str) -> int:
    """The bits of an address; a zone (%eth0) does not count."""
    return int(ipaddress.ip_address(address.partition("%")[0]))


@lru_cache(maxsize=1 << 14)
def parse_prefix(text: str) -> Prefix:
    """A range as numbers; an address alone is a range of one."""
    network = ipaddress.ip_network(text, strict=False)
    return int(network.network_address), int(network.netmask), network.prefixlen


def in_prefix(address: int, range_: Prefix) -> bool:
    """Whether an address lies in a range of its own family."""
    return address & range_[1] == range_[0]


def family_of(address: str) -> int:
    """4 for an IPv4 address, 6 for an IPv6 one."""
    return 6 if ":" in address else 4


class IndexedNamespace:
    """One namespace with its indexes."""

    def __init__(self, facts: NamespaceFacts) -> None:
        self.facts = facts
        self.inode = facts.netns.inode
        self.links: dict[int, Link] = {link.ifindex: link for link in facts.links}
        self.by_name: dict[str, Link] = {link.ifname: link for link in facts.links}
        self.ports: dict[int, list[Link]] = defaultdict(list)
        for link in facts.links:
            if link.master is not None:
                self.ports[link.master].append(link)
        self.addresses: dict[int, list[InterfaceAddress]] = defaultdict(list)
        self.own: dict[str, InterfaceAddress] = {}
        for address in facts.addresses:
            self.addresses[address.ifindex].append(address)
            if not address.flags & (_TENTATIVE | _DAD_FAILED):
                self.own.setdefault(address.address, address)
        self.neighbours: dict[tuple[int, str], Neighbour] = {(n.ifindex, n.address): n for n in facts.neighbours}
        self.vlans: dict[int, list[BridgeVlan]] = defaultdict(list)
        for vlan in facts.vlans:
            self.vlans[vlan.ifindex].append(vlan)
        self.fdb: dict[tuple[int, str], list[FdbEntry]] = defaultdict(list)
        for entry in facts.fdb:
            if entry.master is not None and "self" not in entry.flags:
                self.fdb[entry.master, entry.lladdr].append(entry)
        self.tables: dict[tuple[int, int], list[Route]] = defaultdict(list)
        for route in facts.routes:
            self.tables[route.family, route.table].append(route)
        for routes in self.tables.values():
            routes.sort(key=lambda r: (-parse_prefix(r.destination)[2], -r.tos, r.priority))
        self.rules: dict[int, list[RoutingRule]] = {
            family: sorted((r for r in facts.rules if r.family == family), key=lambda r: r.priority)
            for family in (4, 6)
        }
        self.ifindexes = {name: link.ifindex for name, link in self.by_name.items()}
        # The hooks that have a chain.
        self.hooked = {chain.hook for table in facts.ruleset.tables for chain in table.chains if chain.hook}
        # The chains before and after address translation at a hook, by hook.
        self.around_translation: dict[str, tuple[Ruleset, Ruleset]] = {}
        self._settings = {
            "rp_filter": dict(facts.settings.rp_filter),
            "route_localnet": dict(facts.settings.route_localnet),
        }

    def setting(self, name: str, link: Link | None) -> int:
        """A sysctl of which the greater value counts, that of the link or that of `all`."""
        values = self._settings[name]
        return max(values.get("all", 0), values.get(link.ifname, 0) if link else 0)

    def forwards(self, family: int) -> bool:
        """Whether it forwards packets."""
        settings = self.facts.settings
        return bool(settings.ip_forward if family == 4 else settings.ipv6_forwarding)

    def filters_bridged(self, family: int, bridge: Link) -> bool:
        """Whether frames that a bridge forwards go through the packet filter for routed packets."""
        settings = self.facts.settings
        switch = settings.bridge_nf_call_iptables if family == 4 else settings.bridge_nf_call_ip6tables
        if switch is None:
            return False
        return switch or bool(bridge.details.get("nf_call_iptables" if family == 4 else "nf_call_ip6tables"))


class IndexedInventory:
    """All namespaces with their indexes, each made when it is first asked for."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self._namespaces: dict[int, IndexedNamespace] = {}
        # Results that later predictions need again; the key says what.
        self.cache: dict[Hashable, object] = {}
        self._children: dict[LinkId, list[LinkId]] | None = None

    def namespace(self, netns: int) -> IndexedNamespace | None:
        """A namespace; None for one that could not be entered."""
        found = self._namespaces.get(netns)
        if found is None:
            facts = self.inventory.namespaces.get(netns)
            if facts is None or not facts.entered:
                return None
            found = self._namespaces[netns] = IndexedNamespace(facts)
        return found

    def link(self, where: LinkId) -> Link | None:
        """The link at that place."""
        namespace = self.namespace(where.netns)
        return None if namespace is None else namespace.links.get(where.ifindex)

    def end(self, where: LinkId) -> LinkId | None:
        """The other end of a link: the peer of a veth, the device below a macvlan."""
        facts = self.inventory.namespaces.get(where.netns)
        return None if facts is None else facts.ends.get(where.ifindex)

    def children(self, where: LinkId) -> list[LinkId]:
        """The vlans, macvlans and ipvlans on top of a link, in any namespace."""
        if self._children is None:
            self._children = defaultdict(list)
            for netns, facts in sorted(self.inventory.namespaces.items()):
                for link in facts.links:
                    if link.kind in ("vlan", "macvlan", "macvtap", "ipvlan", "ipvtap") and link.ifindex in facts.ends:
                        self._children[facts.ends[link.ifindex]].append(LinkId(netns=netns, ifindex=link.ifindex))
        return self._children.get(where, [])
