"""A broker publishes a port on which it has no listener.

Why: The docker host accepts the connection and then closes it, because nothing listens in the container. Ports that a
variable of the broker explains (JMX, a metrics agent, an HTTP endpoint) or that are common for these are not reported;
published-port-wrong-listener reports advertised ports.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092", "39092:39092"]  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092", "19101:19101"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_JMX_PORT: 19101
          KAFKA_JMX_HOSTNAME: localhost
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol configuration

Sources: compose-spec, ports; docker-proxy accepts before it finds that nothing listens behind it.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode, PublishedPort, State
from netdiag.deployment.prediction.client_namespace import network_owner
from netdiag.deployment.prediction.listener_access import is_likely_other_port, other_ports, published_to_wrong_port
from netdiag.findings import Finding, Location, Related, Severity

ID = "published-port-without-listener"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every `ports` entry of a broker that leads to no listener."""
    for broker in deployment.serving:
        if not _shows_its_ports(deployment, broker):
            continue
        advertised = broker.config.advertised_listeners
        astray = [port for entry in advertised if (port := published_to_wrong_port(deployment, broker, entry))]
        entries: dict[Location, list[PublishedPort]] = {}
        for port in broker.member.published:
            entries.setdefault(port.where, []).append(port)
        for ports in entries.values():
            # A range is one entry, and not all of its ports need to be used.
            if not any(port in astray or _leads_somewhere(deployment, broker, port) for port in ports):
                yield _finding(broker, ports[0])


def _shows_its_ports(deployment: Deployment, broker: Broker) -> bool:
    """Whether everything that listens in the broker's network namespace is known."""
    config = broker.config
    if broker.is_configured_by_file or config.is_unknown("listeners") or not config.listeners or not config.is_readable:
        return False
    if broker.member.state is not State.DECLARED:
        # What a running container mounts is not known; live-bound-sockets-differ looks at its sockets.
        return False
    if broker.member.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
        return False
    users = [m for m in deployment.members if network_owner(deployment, m) is broker.member]
    return users == [broker.member]


def _leads_somewhere(deployment: Deployment, broker: Broker, port: PublishedPort) -> bool:
    if port.protocol != "tcp" or (broker.name, port.target) in deployment.listeners_by_port:
        return True
    return is_likely_other_port(broker.member, port.target) or port.target in other_ports(broker)


def _finding(broker: Broker, port: PublishedPort) -> Finding:
    listeners = ", ".join(str(entry.endpoint.port) for entry in broker.config.listeners)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} publishes container port {port.target}, but has no listener on it",
        location=port.where,
        related=(Related(location=broker.place("listeners"), message=f"listens on {listeners}"),),
        why="the docker host accepts a connection, then closes it because nothing listens in the container",
        hint="publish the port of a listener, or remove the entry",
        service=broker.name,
    )
