"""Ports that look like a broker's and are not: controllers, ZooKeeper, JMX, the registries and proxies beside it."""

import re

from netdiag.deployment.member import Broker, Deployment, Member
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images import fast_data_dev, redpanda
from netdiag.kafka.images.reference import ImageFamily

_HTTP = re.compile(r"schema-registry|kafka-rest|kafka-connect|debezium/connect|ksqldb|akhq|kafka-ui|kafdrop")
_JMX_PORT = re.compile(r"jmxremote\.(?:rmi\.)?port=(\d+)|jmx_prometheus[^\s=]*=(?:[^\s:]+:)?(\d+)")
# JMX, Jolokia, exporters of metrics, debuggers.
_USUAL = frozenset(
    {1099, 1234, 5005, 5555, 5556, 7070, 7071, 7072, 7203, 8778, 9010, 9101, 9102, 9308, 9404, 9997, 9999}
)


def control_port(deployment: Deployment, member: Member, port: int) -> str | None:
    """What a port of a member is, in a few words, where it is provably for something else than clients of Kafka."""
    broker = deployment.broker(member.name)
    if broker is None:
        return _of_another(member, port)
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
    found: set[int] = set()
    for name, value in member.variables.items():
        if name.upper().endswith("JMX_PORT") and value.strip().isdigit():
            found.add(int(value))
        found.update(int(one or other) for one, other in _JMX_PORT.findall(value))
    return frozenset(found)


def is_explained(member: Member, port: int) -> bool:
    """Whether a port of a broker is likely to be JMX, metrics or HTTP: a variable has it, or it is usual for that."""
    if port in _USUAL or 8080 <= port <= 8099 or port in jmx_ports(member):
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
            return int(value) if value.isdigit() else None
    # cp-zookeeper refuses to start without a client port.
    return None if "cp-zookeeper" in image else 2181


def zookeeper_ports(member: Member) -> frozenset[int]:
    """The ports at which a member serves ZooKeeper clients: the plain one, and one for TLS that a variable names."""
    plain = zookeeper_port(member)
    if plain is None:
        return frozenset()
    secure = (
        member.variables.get(name, "").strip() for name in ("ZOOKEEPER_SECURE_CLIENT_PORT", "ZOO_TLS_PORT_NUMBER")
    )
    return frozenset({plain, *(int(port) for port in secure if port.isdigit())})


def _of_another(member: Member, port: int) -> str | None:
    if port in zookeeper_ports(member):
        return "ZooKeeper"
    if port in (8080, 8081, 8082, 8083, 8088) and _HTTP.search(member.image):
        return "HTTP"
    return None
