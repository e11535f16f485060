"""Who can enter through a listener: the docker host and the LAN by publishing, containers by sharing a network."""

import ipaddress

from netdiag.deployment.binding import Reach, binding
from netdiag.deployment.cluster import cluster_of
from netdiag.deployment.member import Broker, Deployment, NetworkMode, PublishedPort
from netdiag.kafka.listeners import ListenerEntry, is_loopback

_NOBODY: frozenset[str] = frozenset()


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


def nothing_gets_out(deployment: Deployment, broker: Broker) -> bool:
    """Whether all networks of a broker are internal, so that the engine publishes none of its ports."""
    networks = [deployment.networks.get(a.network) for a in broker.member.attachments]
    return bool(networks) and all(n is not None and n.internal and not n.external for n in networks)


def is_host_address(deployment: Deployment, host: str) -> bool:
    """Whether a host is meant as the docker host: loopback, or a number that is no container's."""
    if is_loopback(host) or host in deployment.host_addresses:
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        return False
    inside = (s for n in deployment.networks.values() for s in n.subnets if in_subnet(s, number))
    return not number.is_unspecified and host not in deployment.addressed and next(inside, None) is None


def in_subnet(subnet: str, number: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether a subnet holds an address; a text that is no subnet holds none."""
    try:
        return number in ipaddress.ip_network(subnet, strict=False)
    except ValueError:
        return False


def published_astray(deployment: Deployment, broker: Broker, advertised: ListenerEntry) -> PublishedPort | None:
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


def other_brokers(deployment: Deployment, broker: Broker) -> tuple[Broker, ...]:
    """The other brokers of the same cluster."""
    return tuple(b for b in cluster_of(deployment, broker) if b.config.is_broker and b is not broker)
