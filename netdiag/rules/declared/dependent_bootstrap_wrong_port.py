"""A client uses a port on which the broker has no listener.

Why: Containers reach one another on container ports. A published port that maps to another container port exists only
on the docker host. dependent-bootstrap-control-port reports the ports of controllers, JMX and ZooKeeper; other rules
report listeners bound to the wrong address.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9094:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9094
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9094  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9094:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9094
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:29092

Seen: Connection to node -1 (kafka/172.18.0.3:9094) could not be established. Node may not be available.

Sources: compose-spec, ports: HOST:CONTAINER; other containers use the second.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, attempts, severity_of, target_member, usable_address, waiting_attempts
from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode
from netdiag.deployment.model.verdict import Address
from netdiag.deployment.prediction.client_namespace import network_owner
from netdiag.deployment.prediction.listener_access import control_port, is_likely_other_port
from netdiag.deployment.repairs import point_client
from netdiag.findings import Finding, Related, Severity

ID = "dependent-bootstrap-wrong-port"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker address, to bootstrap from or to wait for, whose port has no listener."""
    for attempt in (*attempts(deployment), *waiting_attempts(deployment)):
        member = target_member(deployment, attempt)
        broker = deployment.broker(member.name) if member else None
        if member is None or broker is None or broker not in deployment.serving or not broker.config.is_readable:
            continue
        if broker.is_configured_by_file or broker.config.is_unknown("listeners"):
            continue
        if not broker.config.listeners or _shares(deployment, broker):
            continue
        if (member.name, attempt.address.port) in deployment.listeners_by_port:
            continue
        if attempt.client.waits and is_likely_other_port(member, attempt.address.port):
            continue
        if control_port(deployment, member, attempt.address.port) is None:
            yield _finding(deployment, attempt, broker)


def _shares(deployment: Deployment, broker: Broker) -> bool:
    """Whether others open ports in the broker's namespace, or it uses a namespace that is not its own."""
    sharing = any(
        network_owner(deployment, member) is broker.member and member is not broker.member
        for member in deployment.members
    )
    return sharing or broker.member.mode is not NetworkMode.NETWORKS


def _finding(deployment: Deployment, attempt: Attempt, broker: Broker) -> Finding:
    address = attempt.address
    published = next((p for p in broker.member.published if p.published == address.port and p.protocol == "tcp"), None)
    better = usable_address(deployment, attempt, (broker,))
    does = "waits for" if attempt.client.waits else "bootstraps from"
    why = "containers reach one another on container ports, which the listeners of a broker bind"
    if published is not None:
        why = (
            f"{address.port} is a port of the docker host, published for container port {published.target}; containers "
            "use container ports"
        )
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f'{attempt.member.name} {does} "{address}", but {broker.name} has no listener on that port',
        location=attempt.where,
        related=(
            Related(location=broker.place("listeners"), message=f"{broker.name} listens on {_ports(broker)}"),
            *([Related(location=published.where, message="only for clients outside Docker")] if published else []),
        ),
        why=why,
        hint=_hint(attempt, better),
        service=attempt.member.name,
        edits=point_client(deployment, attempt, (broker,)),
    )


def _hint(attempt: Attempt, better: Address | None) -> str:
    if better is None:
        return "use the port of a listener"
    return f"wait for {better}" if attempt.client.waits else f"set {attempt.client.setting} to {better}"


def _ports(broker: Broker) -> str:
    return ", ".join(str(entry.endpoint.port) for entry in broker.config.broker_listeners)
