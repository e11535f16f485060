"""Who can enter through a listener, and what the addresses and ports of members are for.

The docker host and the LAN enter by published ports, containers by sharing a network. Some ports look like a broker's
and are not: those of controllers, ZooKeeper, JMX, the registries and proxies beside it.
"""

import re
from collections.abc import Iterator
from ipaddress import ip_address

from netdiag.deployment.model.deployment import Broker, Deployment, Member, NetworkMode, PublishedPort
from netdiag.deployment.prediction.client_namespace import covers
from netdiag.deployment.prediction.cluster import cluster_of
from netdiag.deployment.prediction.sockets import Reach, binding
from netdiag.digits import number_of
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images import fast_data_dev, redpanda
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.jmx import exporter_ports, jmx_agent
from netdiag.kafka.listeners import ListenerEntry, is_loopback
from netdiag.patterns import regex
from netdiag.values import dataclass

_HTTP = regex(r"schema-registry|kafka-rest|kafka-connect|debezium/connect|ksqldb|akhq|kafka-ui|kafdrop")
# JMX, Jolokia, exporters of metrics, debuggers.
_USUAL_OTHER_PORTS = frozenset(
    {1099, 1234, 5005, 5555, 5556, 7070, 7071, 7072, 7203, 8778, 9010, 9101, 9102, 9308, 9404, 9997, 9999}
)
DOCKER_HOST = "docker host"
_LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListeningAddress:
    """A port of a broker under one address; `published` where the docker host passes it on."""

    address: str
    port: int
    broker: str
    listener: str | None
    published: bool


def published_for(broker: Broker, entry: ListenerEntry) -> tuple[PublishedPort, ...]:
    """The published ports that lead to the port of this listener."""
    if broker.member.mode is NetworkMode.HOST:
        return ()
    return tuple(p for p in broker.member.published if p.target == entry.endpoint.port and p.protocol == "tcp")


def listener_of(broker: Broker, name: str) -> ListenerEntry | None:
    """The bound entry of that listener name."""
    return broker.config.listener_by_name.get(name)


def advertised_of(broker: Broker, name: str) -> ListenerEntry | None:
    """The advertised entry of that listener name."""
    return broker.config.advertised_by_name.get(name)


def is_on_internal_networks_only(deployment: Deployment, broker: Broker) -> bool:
    """Whether all networks of a broker are internal, so that the engine publishes none of its ports."""
    networks = [deployment.networks.get(a.network) for a in broker.member.attachments]
    return bool(networks) and all(n is not None and n.internal and not n.external for n in networks)


def is_host_address(deployment: Deployment, host: str) -> bool:
    """Whether a host is meant as the docker host: loopback, or a number that is no container's."""
    if is_loopback(host) or host in deployment.host_addresses:
        return True
    try:
        number = ip_address(host)
    except ValueError:
        return False
    if number.is_unspecified or host in deployment.members_by_address:
        return False
    return not any(covers(network, host) for network in deployment.networks.values())


def published_to_wrong_port(deployment: Deployment, broker: Broker, advertised: ListenerEntry) -> PublishedPort | None:
    """The published port that has the advertised number and leads to another container port than the listener's."""
    bound = listener_of(broker, advertised.endpoint.listener)
    host, port = advertised.endpoint.host, advertised.endpoint.port
    if bound is None or broker.member.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
        return None
    if not (is_loopback(host) or host in deployment.host_addresses or host == "host.docker.internal"):
        return None
    same = [p for p in broker.member.published if p.published == port and p.protocol == "tcp"]
    if any(p.target == bound.endpoint.port for p in same):
        return None
    return same[0] if same else None


def sends_all_to_loopback(deployment: Deployment, broker: Broker) -> bool:
    """Whether a broker that containers can enter tells all of them to use their own loopback."""
    if not broker.config.is_broker or not broker.member.attachments:
        return False
    advertised = broker.config.advertised_listeners
    return all(is_loopback(entry.endpoint.host) for entry in advertised) and any(
        faces_containers(deployment, broker, entry) for entry in advertised
    )


def faces_containers(deployment: Deployment, broker: Broker, advertised: ListenerEntry) -> bool:
    """Whether containers can enter through the listener of an advertised entry."""
    bound = listener_of(broker, advertised.endpoint.listener)
    if bound is None:
        return False
    return binding(deployment, broker, bound).reach in (Reach.EVERYWHERE, Reach.ONE_NETWORK)


def has_relay_on_host(deployment: Deployment, port: int) -> bool:
    """Whether a port of the docker host leads to a relay, or may do so, which decides what is behind it.

    What a container that is no broker does with connections, its configuration at run time decides (toxiproxy).
    """
    if (None, port) in deployment.relays_by_port:
        return True
    brokers = {broker.name for broker in deployment.brokers}
    return any(
        member.name not in brokers
        or (deployment.owner_names.get(member.name, member.name), published.target) in deployment.relays_by_port
        for member, published in deployment.publishers_by_port.get(port, ())
    )


def other_brokers(deployment: Deployment, broker: Broker) -> tuple[Broker, ...]:
    """The other brokers of the same cluster."""
    return tuple(b for b in cluster_of(deployment, broker) if b.config.is_broker and b is not broker)


def control_port(deployment: Deployment, member: Member, port: int) -> str | None:
    """What a port of a member is, in a few words, where it is provably for something else than clients of Kafka."""
    broker = deployment.broker(member.name)
    if broker is None:
        return _other_service_port(member, port)
    for entry in broker.config.listeners:
        if entry.endpoint.port == port and entry.endpoint.listener in broker.config.controller_names:
            return f"the KRaft controller listener {entry.endpoint.listener}"
    if port in other_ports(broker):
        return "another API of Redpanda" if broker.config.mode is Mode.REDPANDA else "another service of the image"
    return "JMX" if port in jmx_ports(member) else None


def other_ports(broker: Broker) -> frozenset[int]:
    """The ports at which an image serves something else than Kafka: named by Redpanda's flags, or usual."""
    if broker.config.family is ImageFamily.FAST_DATA_DEV:
        return fast_data_dev.USUAL_PORTS - {entry.endpoint.port for entry in broker.config.listeners}
    if broker.config.mode is not Mode.REDPANDA:
        return frozenset()
    named = (broker.config.value(redpanda.OTHER_PORTS) or "").split(",")
    taken = {entry.endpoint.port for entry in broker.config.listeners}
    return (redpanda.USUAL_PORTS | {int(port) for port in named if port}) - taken


def jmx_ports(member: Member) -> frozenset[int]:
    """The ports on which a JVM shows its metrics, as far as its variables tell."""
    agent = jmx_agent(parse_image(member.image), member.variables)
    served = (agent.port, agent.rmi_port) if agent is not None else ()
    return frozenset(port for port in served if port) | exporter_ports(member.variables)


def is_likely_other_port(member: Member, port: int) -> bool:
    """Whether a port of a broker is likely to be JMX, metrics or HTTP: a variable has it, or it is usual for that."""
    if port in _USUAL_OTHER_PORTS or 8080 <= port <= 8099 or port in jmx_ports(member):
        return True
    number = re.compile(rf"(?<!\d){port}(?!\d)")
    return any(
        number.search(value) is not None
        for name, value in member.variables.items()
        if not name.upper().endswith(("LISTENERS", "ZOOKEEPER_CONNECT"))
    )


def zookeeper_port(member: Member) -> int | None:
    """The port at which a member serves ZooKeeper clients; None where it is no ZooKeeper, or nothing tells the port."""
    image = member.image.rpartition("@")[0] or member.image
    if not re.search(r"(?:^|/)(?:cp-)?zookeeper(?::|$)", image):
        return None
    for name in ("ZOOKEEPER_CLIENT_PORT", "ZOO_PORT_NUMBER", "ZOO_PORT"):
        value = member.variables.get(name, "").strip()
        if value:
            return number_of(value)
    # cp-zookeeper refuses to start without a client port.
    return None if "cp-zookeeper" in image else 2181


def zookeeper_ports(member: Member) -> frozenset[int]:
    """The ports at which a member serves ZooKeeper clients: the plain one, and one for TLS that a variable names."""
    plain = zookeeper_port(member)
    if plain is None:
        return frozenset()
    secure = (
        number_of(member.variables.get(name, "").strip())
        for name in ("ZOOKEEPER_SECURE_CLIENT_PORT", "ZOO_TLS_PORT_NUMBER")
    )
    return frozenset({plain, *(port for port in secure if port is not None)})


def names_by_address(deployment: Deployment) -> dict[str, str]:
    """The member, or the docker host, that has an address.

    The gateway of a network is the docker host; an address that two members claim (they share a namespace, or one of
    the networks is not on this engine) is nobody's.
    """
    names: dict[str, str] = {}
    claimed: set[str] = set()
    for member in deployment.all_members:
        for address in _member_addresses(member):
            if names.setdefault(address, member.name) != member.name:
                claimed.add(address)
    for address in claimed:
        del names[address]
    hosts = [*deployment.host_addresses, *(g for network in deployment.networks.values() for g in network.gateways)]
    for address in map(_normalized, hosts):
        names.setdefault(address, DOCKER_HOST)
    return names


def listening_addresses(deployment: Deployment) -> Iterator[ListeningAddress]:
    """Every address and port at which packets for a broker's port can be seen."""
    for broker in deployment.all_brokers:
        listeners = _listeners_by_port(broker)
        for address in _member_addresses(broker.member):
            for port, name in listeners.items():
                yield ListeningAddress(address=address, port=port, broker=broker.name, listener=name, published=False)
        for mapping in broker.member.published:
            if mapping.published is None or mapping.protocol != "tcp":
                continue
            every = (*_LOOPBACK, *deployment.host_addresses) if mapping.is_wildcard else (mapping.host_ip,)
            for address in every:
                yield ListeningAddress(
                    address=_normalized(address),
                    port=mapping.published,
                    broker=broker.name,
                    listener=listeners.get(mapping.target),
                    published=True,
                )


def listener_ports(deployment: Deployment) -> tuple[int, ...]:
    """Where brokers bind, what they tell clients, and what is published; sorted, port 0 (any free one) left out."""
    return tuple(sorted({port for broker in deployment.brokers for port in _broker_ports(broker) if 0 < port < 65536}))


def _other_service_port(member: Member, port: int) -> str | None:
    if port in zookeeper_ports(member):
        return "ZooKeeper"
    if port in (8080, 8081, 8082, 8083, 8088) and _HTTP.search(member.image):
        return "HTTP"
    return None


def _member_addresses(member: Member) -> Iterator[str]:
    for attachment in member.attachments:
        yield from map(_normalized, attachment.addresses)


def _normalized(address: str) -> str:
    """As a packet's address is written; what is no address stays as it is."""
    try:
        return str(ip_address(address.partition("%")[0]))
    except ValueError:
        return address


def _listeners_by_port(broker: Broker) -> dict[int, str]:
    return {entry.endpoint.port: entry.endpoint.listener for entry in broker.config.listeners}


def _broker_ports(broker: Broker) -> set[int]:
    entries = (*broker.config.listeners, *broker.config.advertised_listeners)
    ports = {entry.endpoint.port for entry in entries}
    for mapping in broker.member.published:
        # Of a broker that a file configures which nobody can read, every published port may be a listener.
        if mapping.protocol == "tcp" and (mapping.target in ports or not broker.config.listeners or broker.is_partial):
            ports |= {mapping.target, mapping.published or 0}
    return ports
