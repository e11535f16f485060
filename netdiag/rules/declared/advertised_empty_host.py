"""The broker advertises no host.

Why: an empty host becomes the container's own hostname, the first 12 digits of its id unless `hostname` is set;
only containers on the same network can resolve that, and only until the container is recreated.

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

from netdiag.deployment.entrants import listener_of, published_for
from netdiag.deployment.member import Deployment
from netdiag.deployment.repairs import advertise, own_name
from netdiag.deployment.unexpanded import unexpanded
from netdiag.findings import Finding, Related, Severity

ID = "advertised-empty-host"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised endpoint without host; a note where only its own network enters."""
    for broker in deployment.configured:
        if not broker.config.is_broker:
            continue
        written = bool(broker.config.value("advertised.listeners"))
        name = "advertised.listeners" if written else "listeners"
        if name not in broker.config.settings:
            continue
        unset = {found.start for found in unexpanded(broker, name)}
        for entry in broker.config.advertised_listeners:
            if entry.endpoint.host or entry.start in unset:
                continue
            bound = listener_of(broker, entry.endpoint.listener) or entry
            ports = published_for(broker, bound)
            host = broker.member.hostnames[0] if broker.member.hostnames else "the container's id"
            yield Finding(
                rule=ID,
                severity=SEVERITY if ports else Severity.NOTE,
                message=f"{entry.endpoint.listener} of {broker.name} advertises no host: clients are told {host}",
                location=broker.place(name, entry.start, entry.end),
                related=tuple(Related(location=p.where, message="published for clients outside") for p in ports[:1]),
                why="an empty host becomes the container's own hostname, which nobody outside its network resolves",
                hint=f"advertise {entry.endpoint.listener}://{broker.member.service or broker.name}:"
                f"{entry.endpoint.port} to containers, a name of the docker host to others",
                service=broker.name,
                listener=entry.endpoint.listener,
                edits=advertise(broker, entry, own_name(broker)),
            )
