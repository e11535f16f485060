"""A worker tells the others of its group to connect to localhost.

Why: `localhost` in another container is that container. A worker that forwards to a leader at `localhost` gets no
connection, or calls itself and gives up; then only the leader can change connectors, and connectors that run elsewhere
start no tasks. The same holds for 0.0.0.0, which a worker advertises if `listeners` names it and nothing else is set.
Workers that share one network namespace can use localhost, and so can a worker that is alone in its group.

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
          CONNECT_REST_ADVERTISED_HOST_NAME: localhost  # <- here

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

Seen: Cannot complete request because of a conflicting operation (e.g. worker rebalance); Request 'POST /connectors'
    failed because it couldn't find the target Connect worker within two hops (between workers).

Sources: RestServer.advertisedUrl and HerderRequestHandler of Kafka Connect.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.neighbours import Neighbourhood
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import is_loopback, is_wildcard
from netdiag.rules.rest_findings import unreachable_url

ID = "rest-advertised-loopback"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every loopback or wildcard address that another member of the group is told."""
    neighbourhood = Neighbourhood(deployment)
    for target in neighbourhood.members:
        url = target.config.advertised
        if url is not None and (is_loopback(url.host) or is_wildcard(url.host)):
            failing = neighbourhood.failing_forwards(target)
            if failing:
                yield from unreachable_url(neighbourhood, failing, rule=ID, severity=SEVERITY)
