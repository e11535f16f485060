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
from dataclasses import replace

from netdiag.deployment.misread_settings import misread_values
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.listener_access import listener_of, published_for
from netdiag.deployment.repairs import advertise, service_name
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.images.reference import ImageFamily
from netdiag.kafka.listeners import ListenerEntry

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
            host = f'"{broker.member.hostnames[0]}"' if broker.member.hostnames else "the container ID"
            local = _is_spare(broker, entry) and ports[0].published if ports else None
            yield Finding(
                rule=ID,
                severity=SEVERITY if ports else Severity.NOTE,
                message=f"listener {entry.endpoint.listener} of {broker.name} advertises no host, so clients get "
                f"{host}",
                location=broker.place(name, entry.start, entry.end),
                related=tuple(
                    Related(location=p.where, message="published for clients outside Docker") for p in ports[:1]
                ),
                why="the broker fills in the container's hostname, which does not resolve outside its networks",
                hint=_hint(broker, entry, local),
                service=broker.name,
                listener=entry.endpoint.listener,
                edits=_edits(broker, entry, local),
            )


def _hint(broker: Broker, entry: ListenerEntry, local: int | None) -> str:
    if broker.config.family is ImageFamily.FAST_DATA_DEV:
        return "set ADV_HOST to a name or address that clients resolve, for example 127.0.0.1 for the docker host"
    if local:
        return f"advertise {replace(entry.endpoint, host='localhost', port=local)} to the docker host"
    named = replace(entry.endpoint, host=service_name(broker))
    return f"advertise {named} to containers, and a name or address of the docker host to other clients"


def _edits(broker: Broker, entry: ListenerEntry, local: int | None) -> tuple[Edit, ...]:
    if broker.config.family is ImageFamily.FAST_DATA_DEV:
        return ()
    return advertise(broker, entry, "localhost", local) if local else advertise(broker, entry, service_name(broker))


def _is_spare(broker: Broker, entry: ListenerEntry) -> bool:
    """Whether containers have another listener, the one between brokers."""
    return any(
        e.endpoint.listener == broker.config.inter_broker_listener and e.endpoint.host in broker.member.all_names
        for e in broker.config.advertised_listeners
        if e is not entry
    )
