"""The JMX port is published, but not the RMI port to which it sends clients.

Why: The registry at the JMX port tells clients the RMI port as the JVM knows it. If the docker host offers that port
under another number, or not at all, clients get the first connection and never the second.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports:
          - "19101:9101"  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_JMX_PORT: 9101
          KAFKA_JMX_HOSTNAME: localhost

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports:
          - "9101:9101"
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_JMX_PORT: 9101
          KAFKA_JMX_HOSTNAME: localhost

Seen: java.rmi.ConnectException: Connection refused to host: localhost; nested exception is: java.net.ConnectException:
    Connection refused

Sources: sun.management.jmxremote.ConnectorBootstrap; compose-spec, ports.
"""

from collections.abc import Iterator

from netdiag.deployment.jmx import PublishedJmx, StubHost, is_offered, meaning, published_jmx
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.prediction.listener_access import has_relay_on_host
from netdiag.deployment.repairs import publish, publish_as
from netdiag.findings import Finding, Severity

ID = "jmx-rmi-port-not-published"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose stub names the docker host and a port that leads elsewhere."""
    for published in published_jmx(deployment):
        rmi = published.agent.rmi_port
        if rmi is None or is_offered(published) or has_relay_on_host(deployment, rmi):
            continue
        if meaning(deployment, published.jmx) is StubHost.DOCKER_HOST:
            yield _finding(deployment, published, rmi)


def _finding(deployment: Deployment, published: PublishedJmx, rmi: int) -> Finding:
    broker, agent = published.broker, published.agent
    other = next((p for p in broker.member.published if p.target == rmi and p.published is not None), None)
    where = published.place(agent.rmi_port_set or agent.port_set) if other is None else other.where
    state = "is not published" if other is None else f"is published as {other.published}"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'JMX of {broker.name} sends clients to "{published.jmx.stub}", but container port {rmi} {state}',
        location=where,
        why="a JMX client connects to the registry, then to the host and port that the registry gives it",
        hint=f'publish "{rmi}:{rmi}"',
        service=broker.name,
        edits=publish(deployment, broker.member, rmi, rmi)
        if other is None
        else publish_as(deployment, broker.member, other, rmi),
    )
