"""The JMX port is published, but the RMI server behind it has a random port.

Why: A JMX client connects twice. The registry at the JMX port sends it to the RMI server, which takes any free port
unless com.sun.management.jmxremote.rmi.port is set. Nobody can publish a port that changes with every start. Since 3.4,
Kafka's start script sets the RMI port to JMX_PORT; the images of Apache and Confluent set it to KAFKA_JMX_PORT.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9101:9101"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_JMX_OPTS: >-
            -Dcom.sun.management.jmxremote.authenticate=false
            -Dcom.sun.management.jmxremote.ssl=false
            -Djava.rmi.server.hostname=localhost
            -Dcom.sun.management.jmxremote.port=9101 # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9101:9101"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_JMX_OPTS: >-
            -Dcom.sun.management.jmxremote.authenticate=false
            -Dcom.sun.management.jmxremote.ssl=false
            -Djava.rmi.server.hostname=localhost
            -Dcom.sun.management.jmxremote.port=9101
            -Dcom.sun.management.jmxremote.rmi.port=9101

Seen: java.rmi.ConnectException: Connection refused to host: localhost; nested exception is: java.net.ConnectException:
    Connection refused

Sources: sun.management.jmxremote.ConnectorBootstrap; kafka-run-class.sh (KAFKA-14430).
"""

from collections.abc import Iterator

from netdiag.deployment.jmx import PublishedJmx, StubHost, meaning, published_jmx
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.repairs import publish_as, replace_in_variable
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.jmx import RMI_PORT

ID = "jmx-rmi-port-random"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose registry is published; a note if its stub names the container's address.

    That address serves the docker host of Linux at any port.
    """
    for published in published_jmx(deployment):
        if published.agent.rmi_port is None:
            inside = meaning(deployment, published.jmx) is StubHost.CONTAINER
            yield _finding(deployment, published, Severity.NOTE if inside else SEVERITY)


def _finding(deployment: Deployment, published: PublishedJmx, severity: Severity) -> Finding:
    agent, broker, port = published.agent, published.broker, published.port
    setting = agent.port_set
    option = f"-D{RMI_PORT}={agent.port}"
    in_options = setting.value != broker.declared[setting.variable].value.strip()
    edits = replace_in_variable(broker, setting.variable, setting.end, setting.end, f" {option}") if in_options else ()
    only, hint = f"publishes only the registry's port {agent.port}", f"set {option}"
    if port.published == agent.port:
        hint += ": both can use one port"
    else:
        # Clients go on to the RMI port under the number that the JVM knows.
        only += f", as {port.published}"
        hint += f', and publish "{agent.port}:{agent.port}" in place of "{port.published}:{agent.port}"'
        moved = publish_as(deployment, broker.member, port, agent.port) if edits else ()
        edits = tuple(sorted((*edits, *moved), key=lambda edit: (edit.path, edit.start))) if moved else ()
    return Finding(
        rule=ID,
        severity=severity,
        message=f"JMX port {agent.port} of {broker.name} is published, but the registry there names a random port",
        location=published.place(setting),
        related=(Related(location=published.port.where, message=only),),
        why="a JMX client connects to the registry, then to the RMI server, which takes any free port if none is set",
        hint=hint,
        service=broker.name,
        edits=edits,
    )
