"""A container gets no answer at the URL of a service beside the brokers that it is told.

Why: netdiag connects to each URL from the namespace of the container that is told it, and asks for its root.
rest-url-unreachable and the rules about advertised URLs report what the configuration foretells; this rule reports what
it does not: a service that has not started, a firewall, a name that the name server does not know.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      registry:
        image: confluentinc/cp-schema-registry:7.9.2
        environment:
          SCHEMA_REGISTRY_HOST_NAME: registry
          SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: PLAINTEXT://kafka:9092
      console:
        image: ghcr.io/kafbat/kafka-ui:v1.5.0
        environment:
          KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS: kafka:9092
          KAFKA_CLUSTERS_0_SCHEMAREGISTRY: http://registry:8081  # <- here
    x-observed:
      urls:
        - {from: console, at: "http://registry:8081", fails: timeout}

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      registry:
        image: confluentinc/cp-schema-registry:7.9.2
        environment:
          SCHEMA_REGISTRY_HOST_NAME: registry
          SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: PLAINTEXT://kafka:9092
      console:
        image: ghcr.io/kafbat/kafka-ui:v1.5.0
        environment:
          KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS: kafka:9092
          KAFKA_CLUSTERS_0_SCHEMAREGISTRY: http://registry:8081
    x-observed:
      urls:
        - {from: console, at: "http://registry:8081"}

Seen: Connection refused: registry/172.18.0.4:8081

Sources: one GET for the root of each URL, from the network namespace of each container that is told it.
"""

from collections.abc import Iterator

from netdiag.deployment.neighbours import UrlCell, url_outcome
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.kafka.rest_services import RestService
from netdiag.rules.declared import rest_advertised_shared, rest_url_unreachable

ID = "live-rest-url-fails"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every URL that fails, and of which neither the configuration nor a group of workers tells."""
    if not any(map(_fails, view.urls)):
        return
    deployment = view.deployment
    foretold = {
        one.location for rule in (rest_url_unreachable, rest_advertised_shared) for one in rule.check(deployment)
    }
    workers = {one.name for one in deployment.neighbours if one.config.service is RestService.CONNECT}
    for cell in filter(_fails, view.urls):
        advertised = not cell.setting
        # Of URLs that workers advertise, the group that is read tells.
        known = url_outcome(cell, cell.predicted) not in ("ok", "unknown") or cell.target in workers
        if cell.where not in foretold and not (advertised and known):
            yield _finding(cell)


def _fails(cell: UrlCell) -> bool:
    return cell.observed is not None and url_outcome(cell, cell.observed) not in ("ok", "unknown")


def _finding(cell: UrlCell) -> Finding:
    assert cell.observed is not None
    told = f"that {cell.target} advertises" if not cell.setting else f"of {cell.setting}"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{cell.source} gets no service at "{cell.url}" {told}: {cell.observed.because}',
        location=cell.where,
        why="a client of such a service takes one hop, to the URL that it is told",
        hint=f"make {cell.url} reachable from {cell.source}, or use a URL that is",
        service=cell.source if cell.setting else cell.target,
    )
