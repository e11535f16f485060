"""A port is published on loopback only, but the listener advertises another address.

Why: The docker host refuses connections to a port published on 127.0.0.1 at its other addresses, and the broker sends
clients to one of those. Host names are not reported, because they may resolve to 127.0.0.1.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["127.0.0.1:9092:9092"]  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://192.168.1.20:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://192.168.1.20:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Connect to ipv4#192.168.1.20:9092 failed: Connection refused

Sources: compose-spec, ports: the engine binds only the address before the port.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, PublishedPort
from netdiag.deployment.prediction.listener_access import (
    is_host_address,
    is_on_internal_networks_only,
    listener_of,
    published_for,
)
from netdiag.deployment.repairs import offer_everywhere
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, is_loopback

ID = "published-loopback-advertised-elsewhere"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised address of the docker host whose port is published on loopback only."""
    for broker in deployment.serving:
        if is_on_internal_networks_only(deployment, broker):
            continue
        for entry in broker.config.advertised_listeners:
            host = entry.endpoint.host
            bound = listener_of(broker, entry.endpoint.listener)
            if bound is None or is_loopback(host) or not is_host_address(deployment, host):
                continue
            ports = published_for(broker, bound)
            if ports and all(port.host_ip == "::1" or port.host_ip.startswith("127.") for port in ports):
                yield _finding(broker, entry, ports[0])


def _finding(broker: Broker, entry: ListenerEntry, port: PublishedPort) -> Finding:
    endpoint = entry.endpoint
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'listener {endpoint.listener} of {broker.name} sends clients to "{endpoint.host}", but is published '
        f"only on {port.host_ip}",
        location=port.where,
        related=(
            Related(
                location=broker.place("advertised.listeners", entry.host_start, entry.host_end),
                message="the address that clients get",
            ),
        ),
        why=f"the docker host refuses connections to this port at any address but {port.host_ip}",
        hint=f'publish "{port.published}:{port.target}", or advertise localhost',
        service=broker.name,
        listener=endpoint.listener,
        edits=offer_everywhere(broker.member, port),
    )
