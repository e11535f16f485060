"""A topology with what hangs where at hand, for those who draw it: ends of cables, ports of a bridge, names.

Nothing is decided here; everything a renderer asks for by name or by device is found without a search.
"""

from collections import defaultdict
from collections.abc import Iterable

from netdiag.linux.address import InterfaceAddress
from netdiag.linux.link import Link
from netdiag.topology.graph import CableKind, KafkaListener, NetworkView, Place, PlaceKind, Published, Topology
from netdiag.topology.inventory import LinkId, NamespaceFacts

PAIRS = (CableKind.VETH, CableKind.NETKIT)
_LINK_SCOPE = 253
_ORDER = {kind: number for number, kind in enumerate(PlaceKind)}


class Lookup:
    """One topology, indexed once."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.places = {place.netns: place for place in topology.places}
        self.published = {published.key: published for published in topology.published}
        self._links = {
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
        return self._links.get(where)

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
