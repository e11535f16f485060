"""A broker or its client uses the docker host's network.

Why: In host network mode, Docker's DNS is not available and `ports` are discarded. A container on a bridge network
cannot resolve the name of a service in host mode (an error if a client needs it), and a client in host mode cannot
resolve service names unless the docker host's hosts file has them (a warning). Discarded ports are a warning if no
listener binds the published port, and a note otherwise.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        network_mode: host
        environment:
          KAFKA_ZOOKEEPER_CONNECT: localhost:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        network_mode: host
        environment:
          KAFKA_ZOOKEEPER_CONNECT: localhost:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092
      app:
        image: example/app:1
        network_mode: host
        environment:
          KAFKA_BROKERS: localhost:9092

Seen: Couldn't resolve server kafka:9092; WARNING: Published ports are discarded when using host network mode

Sources: docs.docker.com, host network driver; compose-spec, network_mode.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, UnresolvedName, attempts, severity_of, why_unresolved
from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode, PublishedPort
from netdiag.deployment.prediction.client_namespace import network_owner
from netdiag.findings import Finding, Related, Severity

ID = "host-network-mode"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every name that host mode makes unresolvable, and for every broker whose ports it discards."""
    for attempt in attempts(deployment):
        if why_unresolved(deployment, attempt) is UnresolvedName.HOST_MODE:
            yield _nameless(deployment, attempt)
    for broker in deployment.brokers:
        if broker.member.mode is NetworkMode.HOST and broker.member.published:
            yield _discarded(broker)


def _nameless(deployment: Deployment, attempt: Attempt) -> Finding:
    client, host = attempt.member, attempt.address.host
    in_host = network_owner(deployment, client).mode is NetworkMode.HOST
    who = client.name if in_host else f'the container called "{host}"'
    return Finding(
        rule=ID,
        severity=Severity.WARNING if in_host else severity_of(deployment, attempt),
        message=f'{client.name} bootstraps from "{host}", which it cannot resolve: {who} uses the docker host\'s '
        f"network",
        location=attempt.where,
        why="Docker's DNS serves only user-defined networks; the docker host does not resolve container names",
        hint="remove network_mode, so that both are on the project's network"
        if not in_host
        else "use localhost and a published port, or remove network_mode",
        service=client.name,
    )


def _discarded(broker: Broker) -> Finding:
    own = {entry.endpoint.port for entry in broker.config.listeners}
    lost = next((port for port in broker.member.published if port.published not in own), None)
    port: PublishedPort = lost or broker.member.published[0]
    wrong = lost is not None and port.target in own and port.published is not None
    return Finding(
        rule=ID,
        severity=Severity.WARNING if wrong else Severity.NOTE,
        message=f"{broker.name} uses the docker host's network, where published ports are discarded",
        location=port.where,
        related=(Related(location=broker.place("listeners"), message="these are already ports of the docker host"),),
        why="in host mode a listener binds its port on the docker host directly",
        hint=f"use port {port.target} and remove ports" if wrong else "remove ports",
        service=broker.name,
    )
