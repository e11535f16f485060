"""A broker advertises an IP address that Docker assigns dynamically.

Why: A container's address depends on the order in which containers start, is unknown on other networks, and is not
reachable from Docker Desktop's host. The finding is a warning if the address is in a subnet of these files and no
container has it fixed, and a note if it is in one of Docker's default address pools. Addresses fixed with ipv4_address,
gateways and addresses given as the docker host's are not reported.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [net]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://172.18.0.3:9092  # <- here
          KAFKA_LISTENERS: PLAINTEXT://:9092
    networks:
      net:
        ipam:
          config:
            - subnet: 172.18.0.0/16

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [net]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_LISTENERS: PLAINTEXT://:9092
    networks:
      net:
        ipam:
          config:
            - subnet: 172.18.0.0/16

Seen: Connect to ipv4#172.18.0.3:9092 failed: Connection timed out

Sources: docs.docker.com, default address pools and Docker Desktop networking; moby/vpnkit#564.
"""

import ipaddress
from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode
from netdiag.deployment.prediction.client_namespace import in_subnet
from netdiag.deployment.prediction.listener_access import listener_of
from netdiag.deployment.repairs import advertise, service_name
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import ListenerEntry, endpoint_text

ID = "unstable-ip-advertised"
SEVERITY = Severity.WARNING

# The engine uses these for new networks, one /16 after the other.
_DEFAULT_POOLS = tuple(ipaddress.ip_network(f"172.{n}.0.0/16") for n in range(17, 32))


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised address that Docker assigns to whichever container starts next."""
    for broker in deployment.serving:
        if broker.member.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
            continue
        for entry in broker.config.advertised_listeners:
            if listener_of(broker, entry.endpoint.listener) is None:
                continue
            severity = _severity(deployment, entry.endpoint.host)
            if severity is not None:
                yield _finding(broker, entry, severity)


def _severity(deployment: Deployment, host: str) -> Severity | None:
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return None
    networks = deployment.networks.values()
    if (
        host in deployment.host_addresses
        or host in deployment.members_by_address
        or any(host in n.gateways for n in networks)
    ):
        return None
    subnets = [subnet for network in networks for subnet in network.subnets if in_subnet(subnet, number)]
    if subnets:
        usual = any(number == ipaddress.ip_network(subnet, strict=False)[1] for subnet in subnets)
        return None if usual else SEVERITY
    return Severity.NOTE if any(number in pool for pool in _DEFAULT_POOLS) else None


def _finding(broker: Broker, entry: ListenerEntry, severity: Severity) -> Finding:
    endpoint = entry.endpoint
    better = endpoint_text(endpoint.listener, broker.member.service or broker.name, endpoint.port)
    return Finding(
        rule=ID,
        severity=severity,
        message=f'listener {endpoint.listener} of {broker.name} sends clients to "{endpoint.host}", an address that '
        f"Docker assigns dynamically",
        location=broker.place("advertised.listeners", entry.host_start, entry.host_end),
        why="the order in which containers start decides which container gets the address",
        hint=f"advertise {better} to containers",
        service=broker.name,
        listener=endpoint.listener,
        edits=advertise(broker, entry, service_name(broker)),
    )
