"""The inter-broker listener is not advertised.

Why: Brokers find one another through advertised listeners. Without inter.broker.listener.name, Kafka uses the listener
named after security.inter.broker.protocol, whose default is PLAINTEXT.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,OTHER://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092  # <- here
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,OTHER://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: requirement failed: inter.broker.listener.name must be a listener name defined in advertised.listeners.

Sources: KafkaConfig.validateValues and getInterBrokerListenerNameAndSecurityProtocol (3.9, 4.x).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import set_property
from netdiag.findings import Edit, Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import is_loopback

ID = "inter-broker-not-advertised"
SEVERITY = Severity.ERROR
_NAME = "inter.broker.listener.name"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker that does not advertise its inter-broker listener."""
    for broker in deployment.configured:
        config = broker.config
        if not config.is_broker or not config.is_readable or not config.advertised_listeners:
            continue
        advertised = [entry.endpoint.listener for entry in config.advertised_listeners]
        name = config.inter_broker_listener
        if config.mode is Mode.KRAFT and name in config.controller_names:
            continue  # kraft-inter-broker-is-controller
        if name in advertised or config.is_unknown(_NAME) or config.is_unknown("security.inter.broker.protocol"):
            continue
        if config.value(_NAME) and name not in config.protocol_map:
            yield _finding(broker, name, advertised, f"Listener with name {name} defined in {_NAME} not found")
            continue
        yield _finding(broker, name, advertised, f"{_NAME} must be a listener name defined in advertised.listeners")


def _finding(broker: Broker, name: str, advertised: list[str], prints: str) -> Finding:
    given = _NAME if broker.config.value(_NAME) else "security.inter.broker.protocol"
    is_set = given in broker.config.settings
    said = f'"{name}"' if is_set else f'"{name}" (the default)'
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} uses {said} as its inter-broker listener, but advertises only {', '.join(advertised)}",
        location=broker.place(given if is_set else "advertised.listeners"),
        why="brokers reach one another through the advertised endpoint of the inter-broker listener",
        hint=f"set {_NAME} to one of the advertised listeners, for example {advertised[0]}",
        service=broker.name,
        listener=name,
        edits=_edits(broker),
        broker_prints=prints,
    )


def _edits(broker: Broker) -> tuple[Edit, ...]:
    """Name the first listener that does not send other brokers to themselves; not beside the other setting."""
    if broker.config.value("security.inter.broker.protocol"):
        return ()
    told = [e.endpoint for e in broker.config.advertised_listeners if e.endpoint.listener in broker.config.protocol_map]
    best = [e for e in told if not is_loopback(e.host)] or told
    return set_property(broker, _NAME, best[0].listener) if best else ()
