"""Several workers of a group advertise one URL.

Why: A worker that forwards a request connects to the URL of the leader. If replicas of one service advertise the name
of the service, this name has the addresses of all of them, and that of the worker itself usually comes first: it calls
itself, and gives up. Then only the leader can change connectors. The same holds for instances of Schema Registry, nodes
of MirrorMaker and of ksqlDB, and for services that advertise an alias which they share.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      connect:
        image: confluentinc/cp-kafka-connect:7.9.2
        scale: 2
        environment:
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_CONFIG_STORAGE_TOPIC: connect-configs
          CONNECT_OFFSET_STORAGE_TOPIC: connect-offsets
          CONNECT_STATUS_STORAGE_TOPIC: connect-status
          CONNECT_KEY_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_VALUE_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_REST_ADVERTISED_HOST_NAME: connect  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      connect:
        image: confluentinc/cp-kafka-connect:7.9.2
        scale: 2
        command: [bash, -c, export CONNECT_REST_ADVERTISED_HOST_NAME=$$(hostname -i) && /etc/confluent/docker/run]
        environment:
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_CONFIG_STORAGE_TOPIC: connect-configs
          CONNECT_OFFSET_STORAGE_TOPIC: connect-offsets
          CONNECT_STATUS_STORAGE_TOPIC: connect-status
          CONNECT_KEY_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_VALUE_CONVERTER: org.apache.kafka.connect.json.JsonConverter

Seen: Cannot complete request because of a conflicting operation (e.g. worker rebalance); Request 'POST /connectors'
    failed because it couldn't find the target Connect worker within two hops (between workers).

Sources: HerderRequestHandler of Kafka Connect; compose-spec, scale and deploy.replicas; RFC 3484, section 6, rule 9.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment, RestNeighbour
from netdiag.deployment.neighbours import Neighbourhood
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import is_loopback, is_wildcard
from netdiag.kafka.rest_services import AdvertisedUrl

ID = "rest-advertised-shared"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every service with replicas that advertises a name, and one for services that share a name."""
    neighbourhood = Neighbourhood(deployment)
    told: set[str] = set()
    for neighbour in deployment.neighbours:
        url, replicas = neighbour.config.advertised, neighbour.member.replicas
        if url is None or neighbour.config.group is None or neighbour.name in told:
            continue
        others = neighbourhood.sharing(neighbour)
        told.update(other.name for other in others)
        if others:
            yield _finding(neighbour, url, f"{neighbour.name} and {', '.join(one.name for one in others)}", others)
        elif replicas > 1 and not is_loopback(url.host) and not is_wildcard(url.host):
            yield _finding(neighbour, url, f"the {replicas} replicas of {neighbour.name}", ())


def _finding(neighbour: RestNeighbour, url: AdvertisedUrl, who: str, others: tuple[RestNeighbour, ...]) -> Finding:
    source = neighbour.source_of(url.host_property)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{who} advertise one URL, "{url}": what one of them forwards may arrive at another, or at itself',
        location=neighbour.place(url.host_property, url.host_start, url.host_end),
        related=tuple(
            Related(location=one.place(url.host_property), message=f"{one.name} advertises it, too") for one in others
        ),
        why="each member of a group forwards to the URL of one of the others, and must get to that one",
        hint=f"make one service for each, or set {source.variable if source else url.host_property} in the command, "
        "to the address of the container",
        service=neighbour.name,
    )
