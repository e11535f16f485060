"""An extra_hosts entry maps a broker's name to loopback.

Why: extra_hosts takes precedence over Docker's DNS. If it maps a broker's name to 127.0.0.1, which may be right on the
docker host, a container connects to itself.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        extra_hosts: ["kafka:127.0.0.1"]
        environment:
          KAFKA_BROKERS: kafka:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Seen: Connection to node -1 (kafka/127.0.0.1:9092) could not be established.

Sources: compose-spec, extra_hosts; hosts(5), nsswitch.conf(5).
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, attempts, severity_of, why_failing
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.prediction.client_namespace import network_owner
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import is_loopback

ID = "hostname-loopback"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap address that the client's own hosts file maps to the client."""
    for attempt in attempts(deployment):
        host = attempt.address.host
        given = network_owner(deployment, attempt.member).extra_hosts.get(host)
        if given is None or not is_loopback(given) or is_loopback(host):
            continue
        if why_failing(deployment, attempt.vantage, host, attempt.address.port):
            yield _finding(deployment, attempt, given)


def _finding(deployment: Deployment, attempt: Attempt, given: str) -> Finding:
    client, host = attempt.member, attempt.address.host
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f'{client.name} bootstraps from "{host}", which its extra_hosts map to {given}: {client.name} itself',
        location=attempt.where,
        why="a container asks its hosts file before Docker's DNS",
        hint=f"remove {host} from extra_hosts",
        service=client.name,
    )
