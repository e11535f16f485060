"""A client uses a broker's name on the default bridge.

Why: `network_mode: bridge` selects Docker's default bridge, the only bridge network without DNS for container names.
Legacy links work there and are not reported. A published listener that advertises such a name is a warning.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        network_mode: bridge
        environment:
          KAFKA_ZOOKEEPER_CONNECT: 172.17.0.1:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        network_mode: bridge
        environment:
          KAFKA_BROKERS: kafka:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: 172.17.0.1:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Seen: Couldn't resolve server kafka:9092 from bootstrap.servers as DNS resolution failed for kafka

Sources: docs.docker.com, bridge network driver: only user-defined bridges provide automatic DNS resolution.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, UnresolvedName, attempts, severity_of, why_unresolved
from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode
from netdiag.deployment.prediction.listener_access import listener_of, published_for
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import ListenerEntry, listener_in_words

ID = "default-bridge-no-dns"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap or advertised host whose container, or client, is on the default bridge."""
    for attempt in attempts(deployment):
        if why_unresolved(deployment, attempt) is UnresolvedName.DEFAULT_BRIDGE:
            yield _finding(deployment, attempt)
    for broker in deployment.serving:
        if broker.member.mode is NetworkMode.DEFAULT_BRIDGE and broker.member.published:
            linked = {name for member in deployment.all_members for name in member.links}
            for entry in broker.config.advertised_listeners:
                host = entry.endpoint.host
                is_published = published_for(broker, listener_of(broker, entry.endpoint.listener) or entry)
                if is_published and host in deployment.members_by_any_name and host not in linked and "." not in host:
                    yield _nobody_resolves(broker, entry)


def _nobody_resolves(broker: Broker, entry: ListenerEntry) -> Finding:
    host, name = entry.endpoint.host, entry.endpoint.listener
    what = f"{listener_in_words(entry)} of {broker.name}"
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        message=f'{what} sends clients to "{host}", but the default bridge does not resolve container names',
        location=broker.place("advertised.listeners", entry.host_start, entry.host_end),
        why="only user-defined networks resolve container names, and the docker host resolves none",
        hint=f"advertise {name}://localhost:PORT for clients on the docker host, or use a user-defined network",
        service=broker.name,
        listener=name,
    )


def _finding(deployment: Deployment, attempt: Attempt) -> Finding:
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f'{attempt.member.name} bootstraps from "{attempt.address.host}", but the default bridge does not '
        f"resolve container names",
        location=attempt.where,
        why="only user-defined networks resolve container names, and Compose creates one for each project",
        hint="remove network_mode: bridge from the client and from the broker",
        service=attempt.member.name,
    )
