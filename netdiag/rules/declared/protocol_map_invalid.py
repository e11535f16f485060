"""An entry of listener.security.protocol.map is not NAME:PROTOCOL.

Why: The map gives each listener one of PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL; the broker exits if it finds
anything else.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:TLS  # <- here
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: Invalid security protocol `TLS` defined in listener.security.protocol.map

Sources: KafkaConfig.getSecurityProtocol and getMap (3.9), AbstractKafkaConfig (4.x).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import SECURITY_PROTOCOLS, MalformedEntry

ID = "protocol-map-invalid"
SEVERITY = Severity.ERROR
_MAP = "listener.security.protocol.map"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every entry without a colon or with an unknown protocol."""
    for broker in deployment.configured:
        for entry in broker.config.protocol_map_entries:
            if isinstance(entry, MalformedEntry):
                message = f'"{entry.text}" is not NAME:PROTOCOL'
                prints = f"Error parsing configuration property '{_MAP}'"
            elif entry.protocol not in SECURITY_PROTOCOLS:
                message = f'"{entry.protocol}" is not a security protocol'
                prints = f"Invalid security protocol `{entry.protocol}` defined in {_MAP}"
            else:
                continue
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{message} in the protocol map of {broker.name}",
                location=broker.place(_MAP, entry.start, entry.end),
                why="the security protocols are PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL",
                hint="write NAME:PROTOCOL with one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
                service=broker.name,
                broker_prints=prints,
            )
