"""A listener advertises a host name that no container has.

Why: The broker sends clients of the listener to a name that Docker's DNS does not know; only a machine with a hosts
file entry for it can resolve it. The finding is an error if a client in the same files connects to the listener. If
other brokers fail on the same name, inter-broker-endpoint-unreachable reports it instead; host-alias-portability covers
host.docker.internal and similar names. Names with a dot, external networks and brokers in the docker host's network
namespace are not checked.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://broker:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        hostname: broker
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://broker:9092

Seen: java.net.UnknownHostException: broker

Sources: Docker's embedded DNS resolves service names, container_name, hostname and aliases.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.clients import clients_entering, is_inactive, members_called
from netdiag.deployment.misread_settings import is_placeholder
from netdiag.deployment.model.deployment import Broker, Deployment, HostKind, KafkaClient, NetworkMode
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.prediction.client_namespace import HOST_ALIASES, why_nameless
from netdiag.deployment.prediction.listener_access import listener_of, other_brokers
from netdiag.deployment.repairs import advertise, service_name
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, endpoint_text, is_loopback, is_wildcard

ID = "advertised-host-unknown"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised name without a dot that no container has."""
    for broker in deployment.serving:
        if broker.member.mode is not NetworkMode.NETWORKS:
            continue
        for entry in broker.config.advertised_listeners:
            name = entry.endpoint.listener
            bound = listener_of(broker, name)
            if (
                bound is None
                or _may_be_node(deployment, broker, bound)
                or not _is_nobody(deployment, broker, entry.endpoint.host)
            ):
                continue
            if name != broker.config.inter_broker_listener or not other_brokers(deployment, broker):
                found = _finding(broker, entry, _sent_astray(deployment, broker, entry))
                # A service that no file defines may have the name.
                yield replace(found, severity=Severity.NOTE) if deployment.missing_services else found


def _may_be_node(deployment: Deployment, broker: Broker, bound: ListenerEntry) -> bool:
    """Whether clients outside enter a listener through the nodes of a swarm, whose names no file has."""
    targets = {port.target for port in broker.member.published}
    return deployment.platform.kind is HostKind.SWARM and bound.endpoint.port in targets


def _is_nobody(deployment: Deployment, broker: Broker, host: str) -> bool:
    if (
        is_wildcard(host)
        or is_loopback(host)
        or "." in host
        or ":" in host
        or host in HOST_ALIASES
        or is_placeholder(host)
    ):
        return False
    if members_called(deployment, host) or is_inactive(deployment, host):
        return False
    return why_nameless(deployment, broker_vantage(broker), host) is not None


def _sent_astray(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> tuple[KafkaClient, ...]:
    entering = clients_entering(deployment, broker, entry.endpoint.listener)
    return tuple(d for d in entering if entry.endpoint.host not in d.member.extra_hosts)


def _finding(broker: Broker, entry: ListenerEntry, astray: tuple[KafkaClient, ...]) -> Finding:
    endpoint = entry.endpoint
    better = endpoint_text(endpoint.listener, broker.member.service or broker.name, endpoint.port)
    return Finding(
        rule=ID,
        severity=Severity.ERROR if any(d.active for d in astray) else SEVERITY,
        message=f'listener {endpoint.listener} of {broker.name} sends clients to "{endpoint.host}", but no container '
        f"on its networks has that name",
        location=broker.place("advertised.listeners", entry.host_start, entry.host_end),
        related=tuple(
            Related(location=d.declared.at(), message=f'{d.member.name} connects here and is sent to "{endpoint.host}"')
            for d in astray
        ),
        why="Docker resolves service names, container_name, hostname and aliases of containers on the same network",
        hint=f'advertise {better}, or give the container the network alias "{endpoint.host}"',
        service=broker.name,
        listener=endpoint.listener,
        edits=advertise(broker, entry, service_name(broker)),
    )
