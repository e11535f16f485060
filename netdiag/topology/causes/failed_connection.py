"""A failed connection, what is looked up to find its causes, and what an explanation of it consists of."""

import dataclasses
import ipaddress
from collections.abc import Callable, Iterator
from functools import cached_property

from netdiag.deployment.model.verdict import Contact, Failed, Mechanism
from netdiag.engine.container import Container
from netdiag.linux.procfs import Process
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.graph import HopKind, NetworkView, Path, PlaceKind, Published, Topology
from netdiag.topology.inventory import IndexedInventory, IndexedNamespace, LinkId, family_of
from netdiag.topology.path.attempts import CounterEvidence
from netdiag.topology.published_ports import ANY_ADDRESS, PROXY_COMMAND, parse_proxy
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Something that would help: `text` in the imperative, `change` does it to a topology (None: cannot be simulated).

    `destination` and `port` are what a client dials then, "" and 0 for what it dials now.
    """

    text: str
    change: Callable[[Topology], Topology] | None = None
    destination: str = ""
    port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A mechanism that would explain the failure, what speaks for it, and what would help."""

    mechanism: Mechanism
    because: str
    evidence: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()


# Without slots, so that what is asked often is worked out once.
@dataclasses.dataclass(frozen=True, kw_only=True)
class FailedConnection:
    """One failed connection.

    `path` is the predicted path. `seen` is what a client really got, None where nobody tried; `deciding` what rule
    counters say, None where they were not read; `predicted` what the model of the deployment predicts.
    """

    topology: Topology
    path: Path
    seen: Contact | None = None
    deciding: CounterEvidence | None = None
    predicted: Failed | None = None

    @cached_property
    def index(self) -> IndexedInventory:
        """The namespaces with their indexes."""
        return IndexedInventory(self.topology.inventory)

    @cached_property
    def host(self) -> int | None:
        """The docker host's namespace."""
        place = self.topology.named(self.topology.host) if self.topology.host else None
        return place.netns if place is not None else None

    @cached_property
    def host_namespace(self) -> IndexedNamespace | None:
        """The docker host's namespace with its indexes."""
        return self.index.namespace(self.host) if self.host is not None else None

    @cached_property
    def source(self) -> IndexedNamespace | None:
        """The client's namespace."""
        return self.index.namespace(self.path.source)

    @cached_property
    def is_translated(self) -> bool:
        """Whether a NAT rule changes the destination of the first packet."""
        return any(
            hop.kind is HopKind.NAT
            and not hop.details.get("answer")
            and any("dnat" in rule.text.lower() or "redirect" in rule.text.lower() for rule in hop.rules)
            for hop in self.path.hops
        )

    def place_name(self, netns: int | None) -> str:
        """What people call a namespace."""
        place = self.topology.place(netns) if netns is not None else None
        if place is not None:
            return place.name
        facts = self.topology.inventory.namespaces.get(netns or 0)
        return facts.netns.names[0] if facts is not None and facts.netns.names else f"net:[{netns}]"

    @cached_property
    def client_name(self) -> str:
        """What people call the client's namespace."""
        return self.place_name(self.path.source)

    def container(self, netns: int | None) -> Container | None:
        """The container that a namespace belongs to; None for the host's."""
        place = self.topology.place(netns) if netns is not None else None
        if place is None or place.kind is not PlaceKind.CONTAINER or not place.containers:
            return None
        return self.topology.containers.get(place.containers[0])

    def netns_of(self, container: Container) -> int | None:
        """The namespace of a container."""
        return next((one.netns for one in self.topology.places if container.id in one.containers), None)

    def networks_at(self, netns: int | None) -> tuple[NetworkView, ...]:
        """The networks that the container of a namespace is on."""
        container = self.container(netns)
        return () if container is None else self.container_networks(container)

    def container_networks(self, container: Container) -> tuple[NetworkView, ...]:
        """The networks that a container is on."""
        ids = {endpoint.network_id for endpoint in container.networks}
        names = {endpoint.network for endpoint in container.networks if not endpoint.network_id}
        return tuple(v for v in self.topology.networks if v.network.id in ids or v.network.name in names)

    def network_of_address(self, address: str) -> NetworkView | None:
        """The engine's network that an address belongs to."""
        try:
            wanted = ipaddress.ip_address(address.partition("%")[0])
            return next(
                (
                    view
                    for view in self.topology.networks
                    if any(wanted in ipaddress.ip_network(subnet, strict=False) for subnet in view.network.subnets)
                ),
                None,
            )
        except ValueError:
            return None

    def network_by_bridge(self, name: str) -> NetworkView | None:
        """The network whose bridge has a name."""
        return next((view for view in self.topology.networks if view.network.bridge_name == name), None)

    def owner(self, address: str) -> tuple[IndexedNamespace, LinkId] | None:
        """The namespace and the link that have an address, whatever the state of the link.

        Several engines of a machine assign the same addresses, so a namespace connected with the client's comes first.
        """
        bare = address.partition("%")[0]
        if bare.startswith("127."):
            return None
        found: list[tuple[IndexedNamespace, LinkId]] = []
        for netns in sorted(self.topology.inventory.namespaces):
            namespace = self.index.namespace(netns)
            own = namespace.own.get(bare) if namespace is not None else None
            if namespace is not None and own is not None:
                found.append((namespace, LinkId(netns=netns, ifindex=own.ifindex)))
        return min(found, key=lambda one: self._distance(one[0].inode), default=None)

    def _distance(self, netns: int) -> tuple[bool, bool]:
        """Less where a namespace is more likely meant."""
        return netns not in self._connected, netns != self.host and self.container(netns) is None

    @cached_property
    def _connected(self) -> frozenset[int]:
        """The namespaces that links lead to from the client's, through any number of others."""
        beside: dict[int, set[int]] = {}
        for netns, facts in self.topology.inventory.namespaces.items():
            for end in facts.ends.values():
                beside.setdefault(netns, set()).add(end.netns)
                beside.setdefault(end.netns, set()).add(netns)
        found, left = {self.path.source}, [self.path.source]
        while left:
            new = beside.get(left.pop(), set()) - found
            found |= new
            left += new
        return frozenset(found)

    def is_host_address(self, address: str) -> bool:
        """Whether an address is the docker host's own."""
        return self.host_namespace is not None and address in self.host_namespace.own

    def listeners(self, namespace: IndexedNamespace, port: int) -> list[Listener]:
        """The listening TCP sockets of a namespace on a port."""
        return [one for one in namespace.facts.listeners if one.port == port and one.protocol is Protocol.TCP]

    @cached_property
    def published(self) -> tuple[Published, ...]:
        """The published ports of the number that is dialled, those in force first."""
        return tuple(p for p in self.topology.published if p.published == self.path.port and p.protocol == "tcp")

    @cached_property
    def entered_by(self) -> Published | None:
        """The published port by which the connection goes into a container, None for one that does not."""
        if not (self.is_translated or self.proxy is not None):
            return None
        family = family_of(self.path.address)
        fitting = [p for p in self.published if p.in_force and p.host_ip in (*ANY_ADDRESS, self.path.address)]
        return min(fitting, key=lambda p: family_of(p.host_ip) != family, default=None)

    @cached_property
    def proxy(self) -> Process | None:
        """The docker-proxy that takes the connection on the docker host."""
        if not any(hop.kind is HopKind.PROXY for hop in self.path.hops):
            return None
        return next(self.proxies(), None)

    def proxies(self) -> Iterator[Process]:
        """The docker-proxies that listen on the port that is dialled."""
        for process in self.topology.inventory.processes.values():
            if process.comm == PROXY_COMMAND and process.netns in (self.host, None):
                parsed = parse_proxy(process)
                if parsed is not None and parsed.host_port == self.path.port:
                    yield process
