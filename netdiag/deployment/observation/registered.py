"""What a cluster has registered, beside what its members declare, what they say now, and what their disks say.

A registry knows nodes by their ids, the engine knows members: `join_registered` puts both together by the id that a
member answers with, or else declares.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from netdiag.deployment.model.deployment import Broker
from netdiag.findings import FileLocation
from netdiag.kafka.listeners import Endpoint, parse_listeners, well_formed
from netdiag.kafka.registry import RegisteredNode, Registry, RegistryKind
from netdiag.kafka.storage import MetaProperties
from netdiag.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InFile:
    """What the Compose file of a member declares now, and where."""

    endpoints: tuple[Endpoint, ...]
    where: FileLocation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidNow:
    """What a broker that answers says of itself; `advertised` None: it does not tell its configuration."""

    node_id: int | None
    cluster_id: str | None
    advertised: tuple[Endpoint, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenNode:
    """A member of the cluster: a broker, a controller, or both.

    `declared` are the advertised endpoints of its container's configuration. `stopped` says why it does not run, ""
    where it does; `silent` why it runs and does not answer; `guarded` why it answers and tells nothing, because
    it asks for TLS or a login. `stored` is the identity in its data directory.
    """

    member: str
    node_id: int | None
    is_broker: bool = True
    is_controller: bool = False
    declared: tuple[Endpoint, ...] = ()
    in_file: InFile | None = None
    now: SaidNow | None = None
    stored: MetaProperties | None = None
    declared_cluster_id: str | None = None
    stopped: str = ""
    silent: str = ""
    guarded: str = ""

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """All that it declares or advertises."""
        in_file = self.in_file.endpoints if self.in_file else ()
        return (*in_file, *self.declared, *((self.now.advertised if self.now else None) or ()))

    @property
    def is_up(self) -> bool:
        """Whether it answers, or as a controller at least runs."""
        return self.now is not None or bool(self.guarded) if self.is_broker else not self.stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """One cluster: what each source has of it, the best one first, and its members. `notes`: what could not be read."""

    name: str
    registries: tuple[Registry, ...] = ()
    nodes: tuple[SeenNode, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def registry(self) -> Registry | None:
        """The one that knows every listener, or else what listeners tell, put together."""
        first = next(iter(self.registries), None)
        if first is None or first.kind is not RegistryKind.LISTENER:
            return first
        return _together(self.listeners)

    @property
    def listeners(self) -> tuple[Registry, ...]:
        """What listeners told."""
        return tuple(one for one in self.registries if one.kind is RegistryKind.LISTENER)

    @property
    def controller_id(self) -> int | None:
        """Who is controller, as far as it is told."""
        told = (one.controller_id for one in self.registries if one.tells_controller)
        return next((one for one in told if one is not None), None)

    @property
    def tells_controller(self) -> bool:
        """Whether anybody tells whether there is a controller."""
        return any(one.tells_controller for one in self.registries)

    @property
    def cluster_id(self) -> str | None:
        """The cluster, as the best source has it."""
        return next((one.cluster_id for one in self.registries if one.cluster_id), None)

    def of_node(self, node_id: int | None) -> tuple[SeenNode, ...]:
        """The members that answer or are configured as this node."""
        return tuple(node for node in self.nodes if node.node_id == node_id and node_id is not None)

    def is_taken(self, node: SeenNode) -> bool:
        """Whether somebody else is registered under the id of a member: alive, and at none of its endpoints."""
        registry = self.registry
        broker = registry.broker(node.node_id) if registry else None
        if registry is None or broker is None or not (node.stopped or node.silent):
            return False
        own = {(end.host, end.port) for end in node.endpoints if end.host and end.port}
        is_alive = registry.kind is RegistryKind.ZOOKEEPER or broker.is_fenced is False
        return is_alive and bool(own) and not any((end.host, end.port) in own for end in broker.endpoints)

    def told(self, node_id: int, listener: str) -> Endpoint | None:
        """Where Metadata sends clients of a listener for a node."""
        for registry in self.listeners:
            node = registry.broker(node_id)
            for endpoint in node.endpoints if node else ():
                if endpoint.listener == listener:
                    return endpoint
        return None


def join_registered(
    brokers: Iterable[Broker],
    registries: Sequence[Registry],
    *,
    now: Mapping[str, SaidNow],
    silent: Mapping[str, str],
    guarded: Mapping[str, str],
    stopped: Mapping[str, str],
    stored: Mapping[str, MetaProperties],
    in_files: Mapping[str, InFile],
    notes: Iterable[str] = (),
    name: str = "",
) -> Registered:
    """Registries and members of one cluster; the mappings are by member name."""
    order = {RegistryKind.ZOOKEEPER: 0, RegistryKind.METADATA_LOG: 1, RegistryKind.LISTENER: 2}
    nodes = (
        _node(
            broker,
            now=now.get(broker.name),
            silent=silent.get(broker.name, ""),
            guarded=guarded.get(broker.name, ""),
            stopped=stopped.get(broker.name, ""),
            stored=stored.get(broker.name),
            in_file=in_files.get(broker.name),
        )
        for broker in brokers
    )
    return Registered(
        name=name,
        registries=tuple(sorted(registries, key=lambda one: order[one.kind])),
        nodes=tuple(nodes),
        notes=tuple(notes),
    )


def advertised_endpoints(broker: Broker) -> tuple[Endpoint, ...]:
    """What a configuration declares; nothing where a file has it. A broker chooses itself what is empty or 0."""
    if broker.is_configured_by_file:
        return ()
    return tuple(entry.endpoint for entry in broker.config.advertised_listeners)


def effective_endpoints(value: str | None, controller_names: Sequence[str]) -> tuple[Endpoint, ...] | None:
    """What a broker says its `advertised.listeners` is, without those of a controller; None where it does not."""
    if not value:
        return None
    found = (entry.endpoint for entry in well_formed(parse_listeners(value)))
    return tuple(endpoint for endpoint in found if endpoint.listener not in controller_names)


def _node(
    broker: Broker,
    *,
    now: SaidNow | None,
    silent: str,
    guarded: str,
    stopped: str,
    stored: MetaProperties | None,
    in_file: InFile | None,
) -> SeenNode:
    config = broker.config
    node_id = now.node_id if now is not None and now.node_id is not None else config.node_id
    if node_id is None or node_id < 0:
        # One that the broker has generated.
        node_id = stored.node_id if stored is not None else None
    return SeenNode(
        member=broker.name,
        node_id=node_id,
        is_broker=config.is_broker,
        is_controller=config.is_controller,
        declared=advertised_endpoints(broker) if config.is_broker else (),
        in_file=in_file,
        now=now,
        stored=stored,
        declared_cluster_id=config.cluster_id,
        stopped=stopped,
        silent=silent,
        guarded=guarded,
    )


def _together(listeners: Sequence[Registry]) -> Registry:
    """The registrations of all listeners that were asked."""
    first = listeners[0]
    told: dict[int, list[RegisteredNode]] = {}
    for registry in listeners:
        for node in registry.brokers:
            told.setdefault(node.node_id, []).append(node)
    nodes = {
        node_id: replace(
            each[0],
            endpoints=tuple(dict.fromkeys(end for node in each for end in node.endpoints)),
            is_fenced=next((node.is_fenced for node in each if node.is_fenced is not None), None),
        )
        for node_id, each in told.items()
    }
    return replace(
        first,
        source="what listeners tell",
        cluster_id=next((one.cluster_id for one in listeners if one.cluster_id), None),
        brokers=tuple(nodes[node_id] for node_id in sorted(nodes)),
    )
