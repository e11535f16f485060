"""The TCP ports under which the brokers of a deployment are reached, inside and on the docker host."""

from netdiag.deployment.member import Broker, Deployment


def listener_ports(deployment: Deployment) -> tuple[int, ...]:
    """Where brokers bind, what they tell clients, and what is published; sorted, port 0 (any free one) left out."""
    return tuple(sorted({port for broker in deployment.brokers for port in _of(broker) if 0 < port < 65536}))


def _of(broker: Broker) -> set[int]:
    entries = (*broker.config.listeners, *broker.config.advertised_listeners)
    ports = {entry.endpoint.port for entry in entries}
    for mapping in broker.member.published:
        # Of a broker that a file configures which nobody can read, every published port may be a listener.
        if mapping.protocol == "tcp" and (mapping.target in ports or not broker.config.listeners or broker.is_partial):
            ports |= {mapping.target, mapping.published or 0}
    return ports
