"""A published port leads to a container port on which nothing listens.

Why: The engine publishes a port without checking it. If the process in the container listens on another port, only on
loopback, or not at all, connections fail there.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
        nat:
          - "-A DOCKER ! -i br-kafka -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:9092"
          - "-A PREROUTING -p tcp -m tcp --dport 7000 -j DNAT --to-destination 172.20.0.2:7001"  # <- here
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        listeners: [{port: 19092}]
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, to: 172.20.0.2, pids: [], proxies: [40]}  # <- here

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
        nat:
          - "-A DOCKER ! -i br-kafka -p tcp -m tcp --dport 9092 -j DNAT --to-destination 172.20.0.2:9092"
          - "-A PREROUTING -p tcp -m tcp --dport 7000 -j DNAT --to-destination 172.20.0.2:7001"
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
        listeners: [{port: 9092, by: 17}, {port: 7001, address: 172.20.0.2, by: 17}]
    published:
      - {key: "0.0.0.0:9092/tcp", container: kafka, target: 9092, to: 172.20.0.2, pids: [17], proxies: [40]}

Seen: "Connection refused" from other machines; on the docker host the connection succeeds and closes at once

Sources: iptables-extensions(8), DNAT; moby, cmd/docker-proxy.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.linux.sockets import Listener
from netdiag.rules.topology_findings import (
    Translation,
    addresses_at,
    at_place,
    finding,
    host_of,
    parsed,
    place_name,
    translations,
)
from netdiag.topology.graph import PlaceKind, Published, Topology
from netdiag.topology.inventory import LinkId, NamespaceFacts

ID = "topology-published-unserved"
SEVERITY = Severity.WARNING


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every published port without a socket behind it, and every other NAT rule to such a port.

    The rules about listeners report a port that leads to a Kafka listener.
    """
    host = host_of(topology)
    told: set[tuple[str, int | None]] = set()
    for port in topology.published:
        told.add((port.to_address, port.target))
        told_of = _hands_on(topology, port) or any(
            port.key in listener.published for listener in topology.listeners if listener.bound is not None
        )
        if host is not None and port.in_force and port.pids == () and (port.dnat or port.proxies) and not told_of:
            yield _of_port(topology, host[0].netns, port)
    for inode, facts in topology.inventory.namespaces.items():
        for rule in translations(facts):
            target = _holder(topology, rule)
            known = (str(rule.address), rule.port) in told or target is None
            if not known and target is not None and not _is_served(target[1], rule):
                yield _of_rule(topology, inode, target[0], rule)


def _holder(topology: Topology, rule: Translation) -> tuple[int, NamespaceFacts] | None:
    """The one namespace that has the target; None if none or several have it, or its sockets are unknown."""
    found = [
        (inode, facts)
        for inode, facts in topology.inventory.namespaces.items()
        if any(
            parsed(each.address) == rule.address
            for link in facts.links
            for each in addresses_at(topology, LinkId(netns=inode, ifindex=link.ifindex))
        )
    ]
    if len(found) != 1 or any("listen" in unread.what for unread in found[0][1].unread):
        return None
    place = topology.place(found[0][0])
    # In other namespaces the kernel itself may serve a port, as IPVS does for swarm services.
    is_container = place is not None and place.kind is PlaceKind.CONTAINER
    return found[0] if is_container and not _takes(found[0][1], rule.port) else None


def _hands_on(topology: Topology, port: Published) -> bool:
    """Whether the container forwards the port by its own NAT rules, as an engine in a container does."""
    place = next((place for place in topology.places if port.container in place.containers), None)
    facts = None if place is None else topology.inventory.namespaces.get(place.netns)
    return facts is not None and _takes(facts, port.target)


def _takes(facts: NamespaceFacts, port: int | None) -> bool:
    return any(port is None or port in rule.published for rule in translations(facts))


def _is_served(facts: NamespaceFacts, rule: Translation) -> bool:
    return any(_serves(listener, rule) for listener in facts.listeners)


def _serves(listener: Listener, rule: Translation) -> bool:
    bound = parsed(listener.address)
    family = bound is not None and bound.is_unspecified and (rule.address.version == listener.family or _dual(listener))
    return (
        (rule.port is None or listener.port == rule.port)
        and listener.protocol.value == rule.protocol
        and (family or bound == rule.address or (bound is not None and str(bound) == f"::ffff:{rule.address}"))
    )


def _dual(listener: Listener) -> bool:
    return listener.family == 6 and not listener.v6only


def _of_port(topology: Topology, host: int, port: Published) -> Finding:
    container = topology.containers.get(port.container)
    name = container.name if container is not None else port.container[:12]
    return finding(
        ID,
        SEVERITY,
        at_place(topology, host, port.key),
        f'"{port.key}" leads to port {port.target} of {name}, but nothing listens there',
        why="the process in the container is still starting, or listens elsewhere or only on loopback",
        hint=f"publish the port that {name} listens on, or make it listen on port {port.target} on all addresses",
        service=name,
    )


def _of_rule(topology: Topology, inode: int, target: int, rule: Translation) -> Finding:
    where = str(rule.address) if rule.port is None else f"port {rule.port} of {rule.address}"
    return finding(
        ID,
        SEVERITY,
        at_place(topology, inode, rule.text),
        f'a NAT rule leads to "{where}" ({place_name(topology, target)}), but nothing listens there',
        why="the rule sends connections to a port without a socket, which refuses them",
        hint="point the rule to a port with a listener, or delete it",
    )
