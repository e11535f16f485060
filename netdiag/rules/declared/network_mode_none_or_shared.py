"""The network mode of a broker conflicts with its ports, hostname or listeners.

Why: With network_mode none, no client reaches the broker, whatever it publishes (a warning). With the network of
another container, the engine refuses published ports and a hostname. Two brokers in one network namespace, shared or
the docker host's, cannot bind the same port.

Bad:
    services:
      vpn:
        image: example/vpn:1
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        network_mode: service:vpn
        ports:
          - 9092:9092  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092

Good:
    services:
      vpn:
        image: example/vpn:1
        ports:
          - 9092:9092
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        network_mode: service:vpn
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092

Seen: conflicting options: port publishing and the container type network mode
    Socket server failed to bind to 0.0.0.0:9092: Address already in use.

Sources: moby, runconfig/hostconfig_unix.go; docs.docker.com, none and container network drivers.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode, State
from netdiag.deployment.prediction.client_namespace import network_owner
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, is_wildcard

ID = "network-mode-none-or-shared"
SEVERITY = Severity.ERROR
_HOST = "the docker host"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose ports have no effect or are refused, and for every port bound twice."""
    for broker in deployment.configured:
        member = broker.member
        if member.state is not State.DECLARED:
            continue
        if member.mode is NetworkMode.NONE and member.published:
            yield _alone(broker)
        elif member.mode is NetworkMode.SHARED and (member.published or member.hostnames):
            yield _refused(broker)
    yield from _bound_twice(deployment)


def _alone(broker: Broker) -> Finding:
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        message=f"{broker.name} publishes a port, but has no network",
        location=broker.member.published[0].where,
        why="with network_mode none a container has only loopback, and the engine publishes no ports",
        hint="remove network_mode",
        service=broker.name,
    )


def _refused(broker: Broker) -> Finding:
    member = broker.member
    what = "publishes a port" if member.published else "has a hostname"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} {what}, but uses the network of {member.shares_with}, which the engine refuses",
        location=member.published[0].where if member.published else member.where,
        why="ports and hostname belong to the container that owns the network namespace",
        hint=f"move them to {member.shares_with}",
        service=broker.name,
    )


def _bound_twice(deployment: Deployment) -> Iterator[Finding]:
    first: dict[tuple[str, int], list[tuple[Broker, ListenerEntry]]] = {}
    for broker in deployment.configured:
        owner = network_owner(deployment, broker.member)
        if broker.member.mode not in (NetworkMode.SHARED, NetworkMode.HOST) and not _is_shared(deployment, broker):
            continue
        place = _HOST if owner.mode is NetworkMode.HOST else owner.name
        for entry in broker.config.listeners if broker.member.state is State.DECLARED else ():
            taken = first.setdefault((place, entry.endpoint.port), [])
            clash = next(((b, e) for b, e in taken if b is not broker and _clash(e, entry)), None)
            if clash:
                yield _taken(broker, entry, *clash, place)
            taken.append((broker, entry))


def _is_shared(deployment: Deployment, broker: Broker) -> bool:
    return broker.name in deployment.owner_names.values()


def _clash(one: ListenerEntry, other: ListenerEntry) -> bool:
    hosts = (one.endpoint.host, other.endpoint.host)
    return one.endpoint.port != 0 and (any(map(is_wildcard, hosts)) or hosts[0] == hosts[1])


def _taken(broker: Broker, entry: ListenerEntry, other: Broker, taken: ListenerEntry, place: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} binds port {entry.endpoint.port} in the network of {place}, but {other.name} already "
        f"binds it",
        location=broker.place("listeners", entry.start, entry.end),
        related=(
            Related(location=other.place("listeners", taken.start, taken.end), message=f"{other.name} binds it here"),
        ),
        why="only one process can bind a port in a network namespace",
        hint=f"bind {entry.endpoint.listener} to another port, and advertise that port",
        service=broker.name,
        listener=entry.endpoint.listener,
    )
