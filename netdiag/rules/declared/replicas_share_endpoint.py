"""Several replicas of a broker share one identity.

Why: Replicas are copies: they have the same node ID, the same advertised endpoint and the same port of the docker host.
The second copy is rejected or replaces the first.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        deploy:
          replicas: 3
        environment:
          KAFKA_BROKER_ID: 1  # <- here
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: Bind for 0.0.0.0:9092 failed: port is already allocated
    Another broker is registered with that broker id.

Sources: compose-spec, deploy.replicas and scale; KafkaZkClient.CheckedEphemeral, ClusterControlManager.registerBroker.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, HostKind, PublishedPort
from netdiag.findings import Finding, Location, Related, Severity

ID = "replicas-share-endpoint"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker with replicas that share what each of them needs for itself."""
    for broker in deployment.configured:
        if broker.member.replicas < 2:
            continue
        shared = list(_shared(broker, in_swarm=deployment.platform.kind is HostKind.SWARM))
        if shared:
            (place, what), *others = shared
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{broker.member.replicas} replicas of {broker.name} share {what}",
                location=place,
                related=tuple(Related(location=where, message=f"they also share {same}") for where, same in others),
                why="replicas are copies of one container, but each broker needs its own node ID and address",
                hint="define a service for each broker, with its own node ID, name and port",
                service=broker.name,
            )


def _shared(broker: Broker, *, in_swarm: bool) -> Iterator[tuple[Location, str]]:
    config = broker.config
    for name in ("node.id", "broker.id"):
        setting = config.settings.get(name)
        if setting is not None and setting.variable is not None and config.node_id is not None and config.node_id >= 0:
            yield broker.place(name), f"node ID {config.node_id}"
            break
    for entry in config.advertised_listeners if config.is_broker and config.value("advertised.listeners") else ():
        if entry.endpoint.host:
            yield broker.place("advertised.listeners", entry.start, entry.end), f"the endpoint {entry.endpoint}"
            break
    for port in broker.member.published:
        if port.published is not None:
            yield port.where, f"port {port.published} of {_whose(port, in_swarm=in_swarm)}"
            break


def _whose(port: PublishedPort, *, in_swarm: bool) -> str:
    if not in_swarm:
        return "the docker host"
    return "their node" if port.mode == "host" else "every node, which leads to any of them"
