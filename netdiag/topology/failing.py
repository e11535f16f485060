"""A connection that fails, with everything that is asked about it when its cause is looked for."""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.observations import Contact, Failed
from netdiag.engine.container import Container
from netdiag.linux.process import Process
from netdiag.linux.socket import Listener, Protocol
from netdiag.topology.counted import Deciding
from netdiag.topology.docker_proxies import NAME, parse_proxy
from netdiag.topology.graph import NetworkView, PlaceKind, Published, Topology
from netdiag.topology.hops import HopKind, Path
from netdiag.topology.inventory import LinkId
from netdiag.topology.terrain import Place, Terrain, family_of

EVERYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """Something that would help: `text` in the imperative, `change` does it to a topology (None: cannot be done there).

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
@dataclass(frozen=True, kw_only=True)
class Failing:
    """One failing connection.

    `path` is the way as it was foretold; `seen` what a client really got, None where nobody tried; `deciding` what
    counters tell, None where they were not read; `foretold` what the model of the deployment says.
    """

    topology: Topology
    path: Path
    seen: Contact | None = None
    deciding: Deciding | None = None
    foretold: Failed | None = None

    @cached_property
    def terrain(self) -> Terrain:
        """The namespaces with their indexes."""
        return Terrain(self.topology.inventory)

    @cached_property
    def host(self) -> int | None:
        """The docker host's namespace."""
        place = self.topology.named(self.topology.host) if self.topology.host else None
        return place.netns if place is not None else None

    @cached_property
    def source(self) -> Place | None:
        """The client's namespace."""
        return self.terrain.place(self.path.source)

    @cached_property
    def translated(self) -> bool:
        """Whether a rule leads the packet to another address."""
        return any(
            hop.kind is HopKind.NAT
            and not hop.details.get("answer")
            and any("dnat" in rule.text.lower() or "redirect" in rule.text.lower() for rule in hop.rules)
            for hop in self.path.hops
        )

    def called(self, netns: int | None) -> str:
        """What people call a namespace."""
        place = self.topology.place(netns) if netns is not None else None
        if place is not None:
            return place.name
        facts = self.topology.inventory.namespaces.get(netns or 0)
        return facts.netns.names[0] if facts is not None and facts.netns.names else f"net:[{netns}]"

    def container(self, netns: int | None) -> Container | None:
        """The container that owns a namespace, the host's not counted."""
        place = self.topology.place(netns) if netns is not None else None
        if place is None or place.kind is not PlaceKind.CONTAINER or not place.containers:
            return None
        return self.topology.containers.get(place.containers[0])

    def place_of(self, container: Container) -> int | None:
        """The namespace of a container."""
        return next((one.netns for one in self.topology.places if container.id in one.containers), None)

    def views(self, netns: int | None) -> tuple[NetworkView, ...]:
        """The networks that the container of a namespace is on."""
        container = self.container(netns)
        return () if container is None else self.views_of(container)

    def views_of(self, container: Container) -> tuple[NetworkView, ...]:
        """The networks that a container is on."""
        ids = {endpoint.network_id for endpoint in container.networks}
        names = {endpoint.network for endpoint in container.networks if not endpoint.network_id}
        return tuple(v for v in self.topology.networks if v.network.id in ids or v.network.name in names)

    def view_of(self, address: str) -> NetworkView | None:
        """The network of the engine that an address belongs to."""
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

    def view_by_bridge(self, name: str) -> NetworkView | None:
        """The network whose bridge has a name."""
        return next((view for view in self.topology.networks if view.network.bridge_name == name), None)

    def owner(self, address: str) -> tuple[Place, LinkId] | None:
        """Who has an address: the namespace and the device, whatever its state.

        Every engine of a machine gives the same addresses, so who hangs together with the client comes first.
        """
        bare = address.partition("%")[0]
        if bare.startswith("127."):
            return None
        found: list[tuple[Place, LinkId]] = []
        for netns in sorted(self.topology.inventory.namespaces):
            place = self.terrain.place(netns)
            own = place.own.get(bare) if place is not None else None
            if place is not None and own is not None:
                found.append((place, LinkId(netns=netns, ifindex=own.ifindex)))
        return min(found, key=lambda one: self._distance(one[0].inode), default=None)

    def _distance(self, netns: int) -> tuple[bool, bool]:
        """What makes it unlikely that a namespace is meant."""
        return netns not in self._connected, netns != self.host and self.container(netns) is None

    @cached_property
    def _connected(self) -> frozenset[int]:
        """The namespaces that devices lead to from the client's, over any number of others."""
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

    def of_host(self, address: str) -> bool:
        """Whether an address is the docker host's own."""
        place = self.terrain.place(self.host) if self.host is not None else None
        return place is not None and address in place.own

    def listeners(self, place: Place, port: int) -> list[Listener]:
        """TCP sockets on a port."""
        return [one for one in place.facts.listeners if one.port == port and one.protocol is Protocol.TCP]

    @cached_property
    def published(self) -> tuple[Published, ...]:
        """Who publishes the port that is dialled, in force first."""
        return tuple(p for p in self.topology.published if p.published == self.path.port and p.protocol == "tcp")

    @cached_property
    def entered(self) -> Published | None:
        """The published port by which the connection goes into a container, None for one that does not."""
        if not (self.translated or self.proxy is not None):
            return None
        family = family_of(self.path.address)
        fitting = [p for p in self.published if p.in_force and p.host_ip in (*EVERYWHERE, self.path.address)]
        return min(fitting, key=lambda p: family_of(p.host_ip) != family, default=None)

    @cached_property
    def proxy(self) -> Process | None:
        """The docker-proxy that takes the connection on the docker host."""
        if not any(hop.kind is HopKind.PROXY for hop in self.path.hops):
            return None
        return next(self.proxies(), None)

    def proxies(self) -> Iterator[Process]:
        """Those that serve the port that is dialled."""
        for process in self.topology.inventory.processes.values():
            if process.comm == NAME and process.netns in (self.host, None):
                parsed = parse_proxy(process)
                if parsed is not None and parsed.host_port == self.path.port:
                    yield process
