"""A client bootstraps from a host name that no container has.

Why: Docker resolves the names of the containers on a client's networks. A name with a dot may be known to another DNS
server, any name to an external network, and a service that others depend on but no file defines may be in another file,
so these are not reported; nor are files without a broker. networks-not-shared reports a container that is on another
network.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka-broker:9092  # <- here

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

Seen: Couldn't resolve server kafka-broker:9092 from bootstrap.servers as DNS resolution failed for kafka-broker

Sources: Docker's embedded DNS; compose-spec, aliases, container_name, hostname, links, extra_hosts.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, UnresolvedName, attempts, severity_of, usable_address, why_unresolved
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.repairs import point_client
from netdiag.findings import Finding, Severity

ID = "dependent-bootstrap-unknown-host"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap host that no container has, in files that define a broker."""
    if not deployment.brokers:
        return
    for attempt in attempts(deployment):
        if why_unresolved(deployment, attempt) is UnresolvedName.NOBODY:
            yield _finding(deployment, attempt)


def _finding(deployment: Deployment, attempt: Attempt) -> Finding:
    better = usable_address(deployment, attempt)
    variable = attempt.client.setting
    return Finding(
        rule=ID,
        # A service that no file defines may have the name.
        severity=Severity.NOTE if deployment.missing_services else severity_of(deployment, attempt),
        message=f'{attempt.member.name} bootstraps from "{attempt.address.host}", but no container on its networks has '
        f"that name",
        location=attempt.where,
        why="Docker resolves service names, container_name, hostname and aliases of containers on the same network",
        hint=f"set {variable} to {better}" if better else "use the name of the broker's service",
        service=attempt.member.name,
        edits=point_client(deployment, attempt),
    )
