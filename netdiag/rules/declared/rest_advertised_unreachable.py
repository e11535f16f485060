"""The URL that a worker tells the others of its group leads them elsewhere.

Why: A Connect worker registers a URL of its own (`rest.advertised.host.name`, the port of a listener) with its group.
Workers that do not lead forward requests that change connectors, and the tasks of their connectors, to the URL of the
leader, which can be any of them; the leader forwards restarts. Schema Registry forwards writes to the `host.name` of
the primary, and ksqlDB asks the `ksql.advertised.listener` of other nodes for their part of a query. The URL must
resolve in the other containers and lead to a port that the service binds. rest-advertised-loopback reports `localhost`.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      connect-1:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment: &connect
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_CONFIG_STORAGE_TOPIC: connect-configs
          CONNECT_OFFSET_STORAGE_TOPIC: connect-offsets
          CONNECT_STATUS_STORAGE_TOPIC: connect-status
          CONNECT_KEY_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_VALUE_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_REST_ADVERTISED_HOST_NAME: connect-1
      connect-2:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment:
          <<: *connect
          CONNECT_REST_ADVERTISED_HOST_NAME: worker-2  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      connect-1:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment: &connect
          CONNECT_BOOTSTRAP_SERVERS: kafka:9092
          CONNECT_GROUP_ID: connect
          CONNECT_CONFIG_STORAGE_TOPIC: connect-configs
          CONNECT_OFFSET_STORAGE_TOPIC: connect-offsets
          CONNECT_STATUS_STORAGE_TOPIC: connect-status
          CONNECT_KEY_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_VALUE_CONVERTER: org.apache.kafka.connect.json.JsonConverter
          CONNECT_REST_ADVERTISED_HOST_NAME: connect-1
      connect-2:
        image: confluentinc/cp-kafka-connect:7.9.2
        environment:
          <<: *connect
          CONNECT_REST_ADVERTISED_HOST_NAME: connect-2

Seen: IO Error trying to forward REST request: java.net.UnknownHostException: worker-2

Sources: RestServer.advertisedUrl, HerderRequestHandler and RestClient of Kafka Connect; the documentation of
    Schema Registry (host.name) and of ksqlDB (ksql.advertised.listener).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.neighbours import Neighbourhood
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import is_loopback, is_wildcard
from netdiag.rules.rest_findings import unreachable_url

ID = "rest-advertised-unreachable"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every URL that fails from another member of the group, at the member that is asked about."""
    neighbourhood = Neighbourhood(deployment)
    for target in neighbourhood.members:
        url = target.config.advertised
        if url is None or is_loopback(url.host) or is_wildcard(url.host):
            continue
        failing = neighbourhood.failing_forwards(target)
        if failing:
            yield from unreachable_url(neighbourhood, failing, rule=ID, severity=SEVERITY)
