"""Two listeners of one broker bind the same port, or one binds the port of JMX.

Why: Every listener needs its own socket, and the broker checks the ports before it opens any. Since Kafka 3.6, a
listener on an IPv4 address and one on an IPv6 address may share a port. The JVM opens the port of JMX before Kafka
starts.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://0.0.0.0:9092,OTHER://0.0.0.0:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://0.0.0.0:29092,OTHER://0.0.0.0:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: requirement failed: Each listener must have a different port, listeners: ...

Sources: CoreUtils.checkDuplicateListenerPorts (3.9), KAFKA-13299 (3.6); JMX_PORT in kafka-run-class.sh;
KAFKA_JMX_PORT in the launch scripts of apache/kafka and confluentinc/cp-kafka.
"""

import ipaddress
from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.jmx import JmxSetting, jmx_agent
from netdiag.kafka.listeners import ListenerEntry

ID = "listener-port-conflict"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener whose port an earlier listener binds."""
    for broker in deployment.configured:
        first: dict[int, ListenerEntry] = {}
        agent = jmx_agent(parse_image(broker.member.image), broker.member.variables)
        for entry in broker.config.listeners:
            if entry.endpoint.port == 0:
                continue
            if agent is not None and entry.endpoint.port in (agent.port, agent.rmi_port):
                setting = agent.port_set if entry.endpoint.port == agent.port else agent.rmi_port_set
                assert setting is not None
                yield _taken_by_jmx(broker, entry, setting)
            known = first.setdefault(entry.endpoint.port, entry)
            if known is entry or _one_of_each_family(known, entry):
                continue
            prints = "Each listener must have a different port, listeners:"
            if _both_literals(known, entry):
                prints = "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6"
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"listener {entry.endpoint.listener} of {broker.name} binds port {entry.endpoint.port}, which "
                f"listener {known.endpoint.listener} already binds",
                location=broker.place("listeners", entry.start, entry.end),
                related=(
                    Related(location=broker.place("listeners", known.start, known.end), message="binds the port first"),
                ),
                why="every listener needs its own port inside the container",
                hint=f"bind {entry.endpoint.listener} to another port, and publish that port",
                service=broker.name,
                listener=entry.endpoint.listener,
                broker_prints=prints,
            )


def _taken_by_jmx(broker: Broker, entry: ListenerEntry, setting: JmxSetting) -> Finding:
    name, port, variable = entry.endpoint.listener, entry.endpoint.port, setting.variable
    declared = broker.declared.get(variable)
    where = declared.at(setting.start, setting.end) if declared is not None else None
    related = (Related(location=where, message="JMX binds the port first"),) if where is not None else ()
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"listener {name} of {broker.name} binds port {port}, which {variable} gives to JMX",
        location=broker.place("listeners", entry.start, entry.end),
        related=related,
        why="the JVM opens the port of JMX before Kafka starts",
        hint=f"set another port in {variable}",
        service=broker.name,
        listener=name,
        broker_prints="Socket server failed to bind to",
    )


def _family(entry: ListenerEntry) -> int | None:
    try:
        return ipaddress.ip_address(entry.endpoint.host).version
    except ValueError:
        return None


def _both_literals(one: ListenerEntry, other: ListenerEntry) -> bool:
    return _family(one) is not None and _family(other) is not None


def _one_of_each_family(one: ListenerEntry, other: ListenerEntry) -> bool:
    return {_family(one), _family(other)} == {4, 6}
