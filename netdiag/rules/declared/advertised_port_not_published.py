"""A listener for the docker host has no published port.

Why: The listener advertises an address of the docker host, and a connection to that address enters the container only
through a published port.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["29092:29092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092  # <- here
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Connect to ipv4#127.0.0.1:9092 failed: Connection refused

Sources: compose-spec, ports; a container port that is not published is not reachable through the host.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import accepting_listener, attempts, clients_entering, health_check_attempts
from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode
from netdiag.deployment.prediction.client_namespace import network_owner
from netdiag.deployment.prediction.listener_access import (
    has_relay_on_host,
    is_host_address,
    is_likely_other_port,
    listener_of,
    other_brokers,
    published_for,
    sends_all_to_loopback,
)
from netdiag.deployment.prediction.sockets import Reach, binding
from netdiag.deployment.repairs import publish
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, is_loopback

ID = "advertised-port-not-published"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every host-facing advertised endpoint without a published port.

    A warning where the broker publishes no port for clients; a note where only a client in the broker's own network
    namespace uses the listener then, or another file may publish the port, and where another listener serves the docker
    host. Nothing where a broker that is alone in its cluster uses the listener to reach itself, beside a published one.
    """
    # The first broker that advertises an address keeps it.
    owners: dict[tuple[str, int], Broker] = {}
    for broker in deployment.serving:
        for entry in broker.config.advertised_listeners:
            owners.setdefault((entry.endpoint.host, entry.endpoint.port), broker)
        if broker.member.mode is not NetworkMode.NETWORKS:
            continue
        own = {e.endpoint.port for e in broker.config.broker_listeners}
        published = [
            p for p in broker.member.published if p.target in own or not is_likely_other_port(broker.member, p.target)
        ]
        own_way = _own_way(deployment, broker)
        for entry in broker.config.advertised_listeners:
            bound = listener_of(broker, entry.endpoint.listener)
            if bound is None or published_for(broker, bound) or not _is_for_host(deployment, entry.endpoint.host):
                continue
            if binding(deployment, broker, bound).reach is Reach.LOOPBACK or _published_elsewhere(broker, entry):
                continue
            if has_relay_on_host(deployment, entry.endpoint.port):
                continue
            if sends_all_to_loopback(deployment, broker) and clients_entering(
                deployment, broker, bound.endpoint.listener
            ):
                # A listener for containers that advertises localhost: its port is not the problem.
                continue
            edits = publish(deployment, broker.member, entry.endpoint.port, bound.endpoint.port)
            may_be_meant = not published and (deployment.missing_services or _is_used_inside(deployment, broker, bound))
            if may_be_meant or _serves_host(deployment, broker):
                severity = Severity.NOTE
            else:
                severity = SEVERITY if published else Severity.WARNING
            hint = f'publish "{entry.endpoint.port}:{bound.endpoint.port}"'
            if owners[entry.endpoint.host, entry.endpoint.port] is not broker:
                # `duplicate-advertised-endpoint`
                edits, hint = (), f"give {broker.name} a port of its own, and publish that port"
            if entry.endpoint.listener != own_way:
                yield _finding(broker, entry, bound, severity, hint, edits)


def _own_way(deployment: Deployment, broker: Broker) -> str | None:
    """The listener that only the broker itself uses: it is alone in its cluster, and has another one for clients.

    That one is published; where nothing is, the clients are containers.
    """
    name = broker.config.inter_broker_listener
    rest = [entry for entry in broker.config.broker_listeners if entry.endpoint.listener != name]
    told = [entry for entry in broker.config.advertised_listeners if entry.endpoint.listener != name]
    inside = not broker.member.published and any(not _is_for_host(deployment, entry.endpoint.host) for entry in told)
    serves = inside or any(published_for(broker, entry) for entry in rest)
    return name if serves and not other_brokers(deployment, broker) else None


def _serves_host(deployment: Deployment, broker: Broker) -> bool:
    """Whether a published listener sends clients of the docker host back to its own port."""
    return any(
        p.published == entry.endpoint.port
        for entry in broker.config.advertised_listeners
        if is_host_address(deployment, entry.endpoint.host)
        and (bound := listener_of(broker, entry.endpoint.listener)) is not None
        for p in published_for(broker, bound)
    )


def _is_used_inside(deployment: Deployment, broker: Broker, bound: ListenerEntry) -> bool:
    """Whether a client or a health check enters through the listener, and so gets back to it at the loopback address.

    A client elsewhere that enters through it is `dependent-bootstrap-external-listener`.
    """
    users = (*attempts(deployment), *health_check_attempts(deployment))
    return any(
        (end := accepting_listener(deployment, a.vantage, a.address.host, a.address.port)) is not None
        and end.broker is broker
        and end.entry == bound
        and network_owner(deployment, a.member) is network_owner(deployment, broker.member)
        for a in users
    )


def _is_for_host(deployment: Deployment, host: str) -> bool:
    return is_loopback(host) or host in deployment.host_addresses or host == "host.docker.internal"


def _published_elsewhere(broker: Broker, entry: ListenerEntry) -> bool:
    """Whether the advertised port number leads to another listener, which is a defect of its own."""
    return any(p.published == entry.endpoint.port for p in broker.member.published)


def _finding(
    broker: Broker,
    entry: ListenerEntry,
    bound: ListenerEntry,
    severity: Severity,
    hint: str,
    edits: tuple[Edit, ...],
) -> Finding:
    endpoint = entry.endpoint
    return Finding(
        rule=ID,
        severity=severity,
        message=f'listener {endpoint.listener} of {broker.name} sends clients to "{endpoint.host}:{endpoint.port}", '
        f"but container port {bound.endpoint.port} is not published",
        location=broker.place("advertised.listeners", entry.start, entry.end),
        related=tuple(
            Related(location=p.where, message=f"publishes container port {p.target}, not {bound.endpoint.port}")
            for p in broker.member.published[:1]
        ),
        why="clients outside Docker's networks reach a container only through its published ports",
        hint=hint,
        service=broker.name,
        listener=endpoint.listener,
        edits=edits,
    )
