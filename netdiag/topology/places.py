"""The namespaces of an inventory under the names people know, and what a join looks up about links and containers."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from netdiag.engine.container import Container
from netdiag.linux.rtnetlink import Link
from netdiag.topology.graph import Place, PlaceKind, Unmatched
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts

HOST = "host"
MACHINE = "this machine"
# Kinds that come in pairs. For any other kind IFLA_LINK is the device below it.
PAIRED = ("veth", "netkit")


# Without slots, so that each index is computed once.
@dataclass(frozen=True, kw_only=True)
class JoinIndex:
    """An inventory with the engine's containers by id; `docker_host` is a namespace, None for an engine elsewhere.

    Containers of an engine elsewhere are in no namespace here: their pids mean nothing on this kernel.
    """

    inventory: Inventory
    containers: Mapping[str, Container]
    docker_host: int | None

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """A place for every namespace: the host, containers by name, named namespaces, processes, and the rest."""
        inside = self._containers_by_namespace()
        places = [self._place(facts, inside.get(inode, ())) for inode, facts in self.inventory.namespaces.items()]
        order = list(PlaceKind)
        return _unique(sorted(places, key=lambda place: (order.index(place.kind), place.name, place.netns)))

    @cached_property
    def links(self) -> Mapping[LinkId, Link]:
        """Every link by where it is."""
        return {
            LinkId(netns=inode, ifindex=link.ifindex): link
            for inode, facts in self.inventory.namespaces.items()
            for link in facts.links
        }

    @cached_property
    def ends(self) -> Mapping[LinkId, LinkId]:
        """The other end of each veth or netkit device, and the device below each macvlan, vlan and the like."""
        return {at: end for at, link in self.links.items() if (end := self._end(at, link)) is not None}

    @cached_property
    def peers(self) -> Mapping[LinkId, LinkId]:
        """From each end of a pair to the other, for pairs whose ends name each other."""
        return {at: end for at, end in self.ends.items() if self.links[at].kind in PAIRED and self.ends.get(end) == at}

    @cached_property
    def by_address(self) -> Mapping[tuple[int, str], LinkId]:
        """The link that has an address in a namespace."""
        return {
            (inode, address.address): LinkId(netns=inode, ifindex=address.ifindex)
            for inode, facts in self.inventory.namespaces.items()
            for address in facts.addresses
        }

    @cached_property
    def netns_of(self) -> Mapping[str, int]:
        """The namespace of each running container that can be seen, by container id."""
        if self.docker_host is None:
            return {}
        found = {c.id: inode for c in self.containers.values() if (inode := self._netns(c)) is not None}
        for container in self.containers.values():
            # Its own process may be unreadable; that of the container whose network it shares shows the namespace.
            owner = owner_of(container, self.containers)
            if container.id not in found and container.state.has_process and owner is not None and owner in found:
                found[container.id] = found[owner]
        return found

    @cached_property
    def host_facts(self) -> NamespaceFacts | None:
        """The docker host's namespace, if it could be entered."""
        return self.entered(self.docker_host)

    @cached_property
    def shows_host_rules(self) -> bool:
        """Whether every packet filter rule of the docker host could be read."""
        return self.host_facts is not None and not self.host_facts.ruleset.unread

    def entered(self, netns: int | None) -> NamespaceFacts | None:
        """The facts of a namespace that could be entered."""
        facts = None if netns is None else self.inventory.namespaces.get(netns)
        return facts if facts is not None and facts.entered else None

    def place_name(self, netns: int) -> str:
        """The name of a namespace."""
        return self._place_names.get(netns, f"net:[{netns}]")

    def link_name(self, at: LinkId) -> str:
        """A link with its place: "veth0 of host"."""
        link = self.links.get(at)
        name = f"device {at.ifindex}" if link is None else link.ifname
        return f"{name} of {self.place_name(at.netns)}"

    @cached_property
    def _place_names(self) -> Mapping[int, str]:
        return {place.netns: place.name for place in self.places}

    def _end(self, at: LinkId, link: Link) -> LinkId | None:
        end = self.inventory.namespaces[at.netns].ends.get(at.ifindex)
        if end is None and link.link is not None and link.link_netnsid is None:
            end = LinkId(netns=at.netns, ifindex=link.link)
        return None if end == at else end

    def _netns(self, container: Container) -> int | None:
        if not container.state.has_process:
            return None
        if container.network_mode == "host":
            return self.docker_host
        pid = container.state.pid
        process = self.inventory.processes.get(pid)
        if process is not None and process.container_id not in ("", container.id):
            # The pid was reused since the engine reported it.
            return None
        if process is not None and process.netns is not None:
            return process.netns
        return self._by_pid.get(pid, self._by_container.get(container.id))

    @cached_property
    def _by_pid(self) -> Mapping[int, int]:
        return {pid: inode for inode, facts in self.inventory.namespaces.items() for pid in facts.netns.pids}

    @cached_property
    def _by_container(self) -> Mapping[str, int]:
        processes = self.inventory.processes.values()
        return {p.container_id: p.netns for p in processes if p.container_id and p.netns is not None}

    def _containers_by_namespace(self) -> Mapping[int, tuple[Container, ...]]:
        """The containers in each namespace, the one that it was created for first."""
        found: dict[int, list[Container]] = {}
        for identifier, inode in self.netns_of.items():
            found.setdefault(inode, []).append(self.containers[identifier])

        def order(container: Container) -> tuple[bool, str]:
            return (owner_of(container, self.containers) is not None, container.name)

        return {inode: tuple(sorted(containers, key=order)) for inode, containers in found.items()}

    def _place(self, facts: NamespaceFacts, containers: tuple[Container, ...]) -> Place:
        kind, name, label = self._kind_and_names(facts, containers)
        return Place(
            netns=facts.netns.inode,
            kind=kind,
            name=name,
            label=label,
            containers=tuple(c.id for c in containers),
            services=tuple(dict.fromkeys(c.service for c in containers if c.service)),
        )

    def _kind_and_names(self, facts: NamespaceFacts, containers: tuple[Container, ...]) -> tuple[PlaceKind, str, str]:
        inode, inventory = facts.netns.inode, self.inventory
        # Where this machine's first process lives; without an engine here, that is what people call the host.
        machine = inventory.own if inventory.root is None else inventory.root
        if inode == (machine if self.docker_host is None else self.docker_host):
            label = "docker host" if self.docker_host is not None else inventory.hostname or HOST
            return PlaceKind.HOST, HOST, label
        if containers:
            name = containers[0].name or containers[0].short_id
            return PlaceKind.CONTAINER, name, containers[0].service or name
        if inode == machine:
            return PlaceKind.MACHINE, MACHINE, inventory.hostname or MACHINE
        if facts.netns.names:
            name = min(facts.netns.names)
            return PlaceKind.NAMED, name, name
        pid = min(facts.netns.pids, default=None)
        if pid is not None:
            process = inventory.processes.get(pid)
            comm = process.comm if process is not None else ""
            return PlaceKind.PROCESS, f"pid {pid} ({comm})" if comm else f"pid {pid}", comm or f"pid {pid}"
        return PlaceKind.UNOWNED, f"net:[{inode}]", "unowned"


def unseen_containers(index: JoinIndex) -> Iterator[Unmatched]:
    """The running containers whose namespace is not in the inventory."""
    if index.docker_host is None:
        return
    for container in index.containers.values():
        if container.state.has_process and container.id not in index.netns_of:
            process = f"its process {container.state.pid}"
            # A complete inventory would hold the namespace of a process that still runs.
            gone = index.inventory.complete
            because = (
                f"{process} has exited in the meantime"
                if gone
                else f"the network namespace of {process} is not visible"
            )
            yield Unmatched(subject=container_name(container), because=because)


def owner_of(container: Container, containers: Mapping[str, Container]) -> str | None:
    """The id of the container whose network another one shares; None for one with a network of its own."""
    word, _, rest = container.network_mode.partition(":")
    if word != "container" or not rest:
        return None
    return next((c.id for c in containers.values() if rest in (c.id, c.name)), None)


def container_name(container: Container) -> str:
    """A container in a sentence: "container web"."""
    return f"container {container.name or container.short_id}"


def canonical_address(address: str) -> str:
    """An address as the kernel's decoders write it; text that is no address is returned as it is."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address


def _unique(places: Iterable[Place]) -> tuple[Place, ...]:
    """No name twice: of two places with one name, the later one gets its kind in front."""
    taken: set[str] = set()
    found = []
    for place in places:
        candidates = (place.name, f"{place.kind.value}:{place.name}", f"{place.name} net:[{place.netns}]")
        name = next((candidate for candidate in candidates if candidate not in taken), f"net:[{place.netns}]")
        taken.add(name)
        found.append(replace(place, name=name))
    return tuple(found)
