"""Two services publish the same port of the docker host.

Why: Only one container can have a port of the docker host; the engine refuses to start the second.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      proxy:
        image: example/proxy:1
        ports: ["9092:80"]  # <- here

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      proxy:
        image: example/proxy:1
        ports: ["9093:80"]

Seen: Bind for 0.0.0.0:9092 failed: port is already allocated

Sources: libnetwork's port allocator; an address of 0.0.0.0 conflicts with every other.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment, HostKind, Member, NetworkMode, PublishedPort
from netdiag.deployment.repairs import change_published_port
from netdiag.findings import Finding, Related, Severity

ID = "duplicate-host-port"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every published port that an earlier service already has, if one of the two is a broker."""
    brokers = {broker.name for broker in deployment.brokers}
    taken = _Taken()
    for member in deployment.members:
        if member.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
            continue
        published = [port for port in member.published if not _is_of_own_node(deployment, port)]
        for port in published:
            clash = taken.clash(port)
            if clash and {clash[0].name, member.name} & brokers:
                yield _finding(deployment, member, port, *clash)
        for port in published:
            taken.add(member, port)


def _is_of_own_node(deployment: Deployment, port: PublishedPort) -> bool:
    """Whether a swarm publishes a port on the node of the task only: it starts two tasks with one port on two nodes."""
    return deployment.platform.kind is HostKind.SWARM and port.mode == "host"


class _Taken:
    """The first service to publish each port of the docker host, by port and address."""

    def __init__(self) -> None:
        self._count = 0
        self._first: dict[tuple[object, ...], tuple[int, Member, PublishedPort]] = {}

    def add(self, member: Member, port: PublishedPort) -> None:
        self._count += 1
        address = "all" if port.is_wildcard else ("one", port.host_ip)
        for version in _versions(port):
            for kind in ("any", address):
                self._first.setdefault((port.published, port.protocol, version, kind), (self._count, member, port))

    def clash(self, port: PublishedPort) -> tuple[Member, PublishedPort] | None:
        """The first that conflicts with a port."""
        if port.published is None:
            return None
        kinds = ("any",) if port.is_wildcard else ("all", ("one", port.host_ip))
        found = [self._first.get((port.published, port.protocol, v, kind)) for v in _versions(port) for kind in kinds]
        first = min((each for each in found if each is not None), key=lambda each: each[0], default=None)
        return None if first is None else (first[1], first[2])


def _versions(port: PublishedPort) -> tuple[int, ...]:
    """The IP versions of the addresses that offer a port: the engine may give each a number of its own."""
    if not port.host_ip:
        return (4, 6)
    return (6,) if ":" in port.host_ip else (4,)


def _finding(
    deployment: Deployment, member: Member, port: PublishedPort, other: Member, taken: PublishedPort
) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{member.name} and {other.name} both publish port {port.published} of the docker host",
        location=port.where,
        related=(Related(location=taken.where, message=f"{other.name} publishes the port"),),
        why="the engine refuses to start the second container",
        hint="publish another port of the docker host, and advertise that port",
        service=member.name,
        edits=change_published_port(deployment, member, port),
    )
