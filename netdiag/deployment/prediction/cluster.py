"""What a broker would answer: who is registered in its cluster, and whether it has heard of them."""

from collections import Counter
from collections.abc import Sequence

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import Failed, NodeEndpoint, Unknown
from netdiag.deployment.prediction.client_namespace import MemberAddress, resolve
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images import redpanda
from netdiag.kafka.listeners import ListenerEntry, is_loopback, parse_zookeeper_connect

_VOTERS = "controller.quorum.voters"


def cluster_of(deployment: Deployment, broker: Broker) -> tuple[Broker, ...]:
    """The brokers that share this one's quorum or ZooKeeper, itself included.

    Projects made from one template have the same settings, and so have the brokers that a library for tests starts:
    they are one cluster only where the addresses of the quorum lead all of them to the same containers.
    """
    key = cluster_key(broker)
    alike = tuple(other for other in deployment.all_brokers if cluster_key(other) == key)
    if len({other.member.project for other in alike}) == 1 and broker.member.started_by is None:
        return alike
    quorum = quorum_members(deployment, broker)
    return tuple(other for other in alike if other is broker or quorum_members(deployment, other) == quorum)


def is_foreign(deployment: Deployment, broker: Broker) -> bool:
    """Whether no broker of its cluster is asked about."""
    asked = {one.name for one in deployment.brokers}
    return broker.name not in asked and all(other.name not in asked for other in cluster_of(deployment, broker))


def cluster_key(broker: Broker) -> tuple[Mode, str, str | None]:
    """What the brokers of one cluster have in common."""
    return (broker.config.mode, broker.config.quorum, broker.config.cluster_id)


def quorum_members(deployment: Deployment, broker: Broker) -> frozenset[str]:
    """The members that the addresses of a broker's quorum, ZooKeeper or seeds lead it to.

    Of several that answer to a name, those are meant that belong to its own project. An address that leads to no member
    stands for itself.
    """
    config, own = broker.config, broker.member
    found: set[str] = set()
    for node_id, host in _quorum_hosts(broker):
        if is_loopback(host) or (config.is_controller and node_id is not None and node_id == config.node_id):
            found.add(deployment.owner_names.get(own.name, own.name))
            continue
        called = [m for a in own.attachments for m in deployment.members_by_network_name.get((a.network, host), ())]
        if own in called:
            called = [own]
        mine = [m for m in called if m.project == own.project] or called
        found |= {m.name for m in mine} or {host}
    return frozenset(found)


def _quorum_hosts(broker: Broker) -> tuple[tuple[int | None, str], ...]:
    config = broker.config
    match config.mode:
        case Mode.KRAFT if config.voters:
            return tuple((node_id, host) for node_id, host, _ in config.voters)
        case Mode.KRAFT:
            servers = config.value("controller.quorum.bootstrap.servers") or ""
            return tuple((None, server.strip().rpartition(":")[0]) for server in servers.split(",") if server.strip())
        case Mode.ZOOKEEPER:
            return tuple((None, host) for host, _ in parse_zookeeper_connect(config.value("zookeeper.connect") or ""))
        case Mode.REDPANDA:
            return tuple((None, host) for host in redpanda.hosts(config.value(redpanda.SEEDS)))
        case Mode.UNDECIDED:
            return ()


def advertised_host(broker: Broker, entry: ListenerEntry) -> str | None:
    """The host clients are told; an empty one becomes the container's hostname, None where that is unknown."""
    if entry.endpoint.host:
        return entry.endpoint.host
    return broker.member.hostnames[0] if broker.member.hostnames else None


def named_brokers(deployment: Deployment, broker: Broker, listener: str) -> tuple[NodeEndpoint, ...] | Unknown:
    """The brokers that an informed `broker` names to a client on `listener`, by node id."""
    named: list[NodeEndpoint] = []
    for other in cluster_of(deployment, broker):
        if not other.config.is_broker or not deployment.is_running(other.member):
            continue
        if other.config.is_unknown("advertised.listeners"):
            return Unknown(because=f"netdiag does not know what {other.name} advertises")
        for entry in _advertised_to(broker, other, listener):
            host = advertised_host(other, entry)
            node_id = other.config.node_id
            if host is None or node_id is None:
                return Unknown(because=f"{other.name} decides at run time what it advertises on {listener}")
            named.append(NodeEndpoint(node_id=node_id, host=host, port=entry.endpoint.port))
    return tuple(sorted(named, key=lambda endpoint: endpoint.node_id))


def _advertised_to(broker: Broker, other: Broker, listener: str) -> tuple[ListenerEntry, ...]:
    """The endpoints of `other` that `broker` tells a client on `listener`: those of that name.

    Redpanda guesses for a node without one, by the port of its own endpoint, else by the order; without an endpoint
    of its own it tells nothing of such a node, itself included (`guess_peer_listener`, 22.1 and newer).
    """
    advertised = other.config.advertised_listeners
    same = tuple(entry for entry in advertised if entry.endpoint.listener == listener)
    if same or broker.config.mode is not Mode.REDPANDA:
        return same
    own = next((e for e in broker.config.advertised_listeners if e.endpoint.listener == listener), None)
    if own is None:
        return ()
    same_port = tuple(entry for entry in advertised if entry.endpoint.port == own.endpoint.port)
    return (same_port or advertised)[:1]


def is_informed(deployment: Deployment, broker: Broker) -> bool | Unknown:
    """Whether cluster metadata gets to a broker.

    ZooKeeper: the controller, one of the brokers, connects to each broker's inter-broker endpoint and sends it
    (itself included). KRaft: the broker fetches it from the quorum's controller endpoints.
    """
    match broker.config.mode:
        case Mode.ZOOKEEPER:
            return _reached_by_controller(deployment, broker)
        case Mode.KRAFT:
            return _fetches_from_quorum(deployment, broker)
        case Mode.REDPANDA:
            return _joins_by_seeds(deployment, broker)
        case Mode.UNDECIDED if broker.config.is_unknown("process.roles"):
            return Unknown(because=f"netdiag does not know whether {broker.name} uses KRaft or ZooKeeper")
        case Mode.UNDECIDED:
            return Unknown(because=f"no file names controllers or a ZooKeeper for {broker.name}")


def reaches(deployment: Deployment, source: Broker, host: str, port: int) -> Broker | Unknown | None:
    """The broker that a connection from inside `source` to host:port ends at; None when it fails."""
    vantage = broker_vantage(source)
    resolution = resolve(deployment, vantage, host)
    if isinstance(resolution, Unknown):
        return resolution
    if isinstance(resolution, Failed):
        return None
    delivery = connect(deployment, vantage, resolution[0], port)
    if isinstance(delivery, Unknown):
        return delivery
    return delivery.broker if isinstance(delivery, Accepted) else None


def _reached_by_controller(deployment: Deployment, broker: Broker) -> bool | Unknown:
    name = broker.config.inter_broker_listener
    entry = next((e for e in broker.config.advertised_listeners if e.endpoint.listener == name), None)
    if entry is None and broker.config.is_unknown("advertised.listeners"):
        return Unknown(because=f"netdiag does not know what {broker.name} advertises")
    if entry is None and broker.config.is_unknown("inter.broker.listener.name"):
        return Unknown(because=f"netdiag does not know which listener {broker.name} uses between brokers")
    if entry is None and not broker.config.is_readable:
        return Unknown(because=f"netdiag cannot read every listener that {broker.name} advertises")
    if entry is None:
        return Unknown(because=f"{broker.name} does not advertise its inter-broker listener {name}")
    host = advertised_host(broker, entry)
    if host is None:
        return Unknown(because=f"{broker.name} decides at run time which host it advertises on {name}")
    candidates = [b for b in cluster_of(deployment, broker) if deployment.is_running(b.member)]
    if _share_endpoint(candidates):
        return Unknown(because="if several brokers advertise one endpoint, only the first to register stays")
    found = [reaches(deployment, candidate, host, entry.endpoint.port) for candidate in candidates]
    unknown = next((one for one in found if isinstance(one, Unknown)), None)
    if unknown is not None:
        return unknown
    answers = {one is broker for one in found}
    if len(answers) > 1:
        return Unknown(because=f"only some brokers reach {broker.name}, so it depends on which one is the controller")
    return answers == {True}


def _share_endpoint(brokers: Sequence[Broker]) -> bool:
    """Whether two of them advertise the same endpoint, which ZooKeeper brokers do not tolerate."""
    endpoints = [(e.endpoint.host.lower(), e.endpoint.port) for b in brokers for e in b.config.advertised_listeners]
    return any(count > 1 for (host, _), count in Counter(endpoints).items() if host)


def _joins_by_seeds(deployment: Deployment, broker: Broker) -> bool | Unknown:
    """A Redpanda serves nobody before it has joined: it asks its seeds and is called back at its own RPC address."""
    nodes = cluster_of(deployment, broker)
    hosts = redpanda.hosts(broker.config.value(redpanda.SEEDS))
    if len(nodes) == 1 and not hosts:
        return True
    asked = [resolve(deployment, broker_vantage(broker), host) for host in hosts]
    targets = [target for found in asked if isinstance(found, tuple) for target in found]
    names = {target.member for target in targets if isinstance(target, MemberAddress)}
    if hosts and not names & {node.name for node in nodes}:
        return Unknown(because=f"{broker.name} reaches none of its seed servers, so it may never join a cluster")
    alone = next((node for node in nodes if len(nodes) > 1 and is_loopback(_rpc_host(node))), None)
    if alone is not None:
        return Unknown(because=f"{alone.name} advertises its RPC address on loopback, so it may never join")
    alive = sum(deployment.is_running(node.member) for node in nodes)
    if alive * 2 <= len(nodes):
        return Unknown(because=f"only {alive} of {len(nodes)} nodes run, which is not a majority")
    return True


def _rpc_host(broker: Broker) -> str:
    return next(iter(redpanda.hosts(broker.config.value(redpanda.RPC))), "")


def _fetches_from_quorum(deployment: Deployment, broker: Broker) -> bool | Unknown:
    voters = broker.config.voters
    if not voters:
        if broker.config.value("controller.quorum.bootstrap.servers") or broker.config.is_unknown(_VOTERS):
            return Unknown(because=f"netdiag does not know the voters of the quorum of {broker.name}")
        return Unknown(because=f"{broker.name} does not list its quorum as voters")
    reached = 0
    for node_id, host, port in voters:
        if node_id == broker.config.node_id and broker.config.is_controller:
            reached += 1
            continue
        found = reaches(deployment, broker, host, port)
        reached += isinstance(found, Broker) and found.config.node_id == node_id
    if reached * 2 > len(voters):
        return True
    return Unknown(because=f"{broker.name} reaches {reached} of {len(voters)} quorum voters, so it may never register")
