"""The JMX port is published, but sends clients to a host that means nothing outside Docker.

Why: The registry at the JMX port gives clients the host in java.rmi.server.hostname. The docker host does not resolve
the name of a container. Without the setting it is the container's address, which other machines and Docker Desktop do
not reach. The images of Apache and Confluent take it from KAFKA_JMX_HOSTNAME, and ignore the property in KAFKA_JMX_OPTS
if KAFKA_JMX_PORT is set.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9101:9101"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_JMX_PORT: 9101
          KAFKA_JMX_HOSTNAME: kafka  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9101:9101"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_JMX_PORT: 9101
          KAFKA_JMX_HOSTNAME: localhost

Seen: java.rmi.UnknownHostException: Unknown host: kafka; nested exception is: java.net.UnknownHostException: kafka

Sources: launch scripts of confluentinc/cp-kafka and apache/kafka; java.rmi.server.hostname.
"""

from collections.abc import Iterator

from netdiag.deployment.jmx import PublishedJmx, StubHost, meaning, published_jmx, why_unreachable
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.repairs import add_variable, replace_in_variable
from netdiag.findings import Edit, Finding, Severity

ID = "jmx-hostname-unreachable"
SEVERITY = Severity.WARNING
_PORT, _HOSTNAME = "KAFKA_JMX_PORT", "KAFKA_JMX_HOSTNAME"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every stub whose host the docker host cannot use; a note for the container's address on Linux."""
    for published in published_jmx(deployment):
        host = meaning(deployment, published.jmx)
        because = why_unreachable(deployment, published.jmx)
        if host is StubHost.NOBODY:
            yield _finding(published, SEVERITY, because)
        elif host is StubHost.CONTAINER:
            other = because or "other machines and Docker Desktop do not reach it"
            yield _finding(published, SEVERITY if because else Severity.NOTE, other)


def _finding(published: PublishedJmx, severity: Severity, because: str) -> Finding:
    agent, broker = published.agent, published.broker
    setting = agent.hostname_set or agent.port_set
    told = "the container's address" if agent.hostname is None else f'"{agent.hostname}"'
    by_script = agent.port_set.variable == _PORT
    name = _HOSTNAME if by_script else "java.rmi.server.hostname"
    return Finding(
        rule=ID,
        severity=severity,
        message=f"JMX of {broker.name} sends clients to {told}: {because}",
        location=published.place(setting),
        why="a JMX client connects to the registry, then to the host and port that the registry gives it",
        hint=f"set {name} to localhost, or to an address of the docker host if other machines use JMX",
        service=broker.name,
        edits=_edits(published, by_script=by_script),
    )


def _edits(published: PublishedJmx, *, by_script: bool) -> tuple[Edit, ...]:
    broker, setting = published.broker, published.agent.hostname_set
    if setting is not None:
        return replace_in_variable(broker, setting.variable, setting.start, setting.end, "localhost")
    return add_variable(broker.member, _HOSTNAME, "localhost", _PORT) if by_script else ()
