"""The broker advertises no host.

Why: The broker replaces an empty host with the container's own hostname: the first 12 digits of the container ID unless
`hostname` is set. Only containers on the same networks resolve that name, and only until the container is recreated.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: java.net.UnknownHostException: 5c1ab22f4e3b

Sources: ListenerInfo.withWildcardHostnamesResolved (KRaft), KafkaServer.createBrokerInfo (ZooKeeper).
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import misread_values
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.prediction.listener_access import listener_of, published_for
from netdiag.deployment.repairs import advertise, service_name
from netdiag.findings import Finding, Related, Severity

ID = "advertised-empty-host"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised endpoint without a host; a note if its port is not published."""
    for broker in deployment.configured:
        if not broker.config.is_broker:
            continue
        written = bool(broker.config.value("advertised.listeners"))
        name = "advertised.listeners" if written else "listeners"
        if name not in broker.config.settings:
            continue
        unset = {found.start for found in misread_values(broker, name)}
        for entry in broker.config.advertised_listeners:
            if entry.endpoint.host or entry.start in unset:
                continue
            bound = listener_of(broker, entry.endpoint.listener) or entry
            ports = published_for(broker, bound)
            host = broker.member.hostnames[0] if broker.member.hostnames else "the container ID"
            yield Finding(
                rule=ID,
                severity=SEVERITY if ports else Severity.NOTE,
                message=f"listener {entry.endpoint.listener} of {broker.name} advertises no host, so clients get "
                f'"{host}"',
                location=broker.place(name, entry.start, entry.end),
                related=tuple(
                    Related(location=p.where, message="published for clients outside Docker") for p in ports[:1]
                ),
                why="the broker fills in the container's hostname, which does not resolve outside its networks",
                hint=f"advertise {entry.endpoint.listener}://{broker.member.service or broker.name}:"
                f"{entry.endpoint.port} to containers, and a name or address of the docker host to other clients",
                service=broker.name,
                listener=entry.endpoint.listener,
                edits=advertise(broker, entry, service_name(broker)),
            )
