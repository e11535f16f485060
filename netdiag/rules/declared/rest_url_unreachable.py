"""A URL of a service beside the brokers leads nowhere from the container that uses it.

Why: A URL takes one hop: its host must resolve in the client's container, and the service must bind the port. localhost
is the client itself, and a published port exists only on the docker host. Consoles, converters and connectors start
with the URL of Schema Registry, Connect, ksqlDB or REST Proxy, and fail at the first request. With SASL/OAUTHBEARER,
clients get their tokens at sasl.oauthbearer.token.endpoint.url, and brokers the keys that verify them at
sasl.oauthbearer.jwks.endpoint.url. The address that a browser on the docker host uses does not work there.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      registry:
        image: confluentinc/cp-schema-registry:7.9.2
        ports: ["8085:8081"]
        environment:
          SCHEMA_REGISTRY_HOST_NAME: registry
          SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: PLAINTEXT://kafka:9092
      console:
        image: ghcr.io/kafbat/kafka-ui:v1.5.0
        environment:
          KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS: kafka:9092
          KAFKA_CLUSTERS_0_SCHEMAREGISTRY: http://registry:8085  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      registry:
        image: confluentinc/cp-schema-registry:7.9.2
        ports: ["8085:8081"]
        environment:
          SCHEMA_REGISTRY_HOST_NAME: registry
          SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: PLAINTEXT://kafka:9092
      console:
        image: ghcr.io/kafbat/kafka-ui:v1.5.0
        environment:
          KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS: kafka:9092
          KAFKA_CLUSTERS_0_SCHEMAREGISTRY: http://registry:8081

Seen: Connection refused: registry/172.18.0.4:8085

Sources: compose-spec, ports: HOST:CONTAINER; the defaults of `listeners` of each service; Keycloak's http-enabled.
"""

from collections.abc import Iterator
from dataclasses import replace

from netdiag.deployment.clients import Attempt, url_attempts, why_unresolved
from netdiag.deployment.model.deployment import Deployment, RestNeighbour
from netdiag.deployment.model.verdict import Failed, Mechanism, Reason
from netdiag.deployment.neighbours import Neighbourhood, ports_of
from netdiag.findings import Applicability, Edit, Finding, Related, Severity
from netdiag.kafka.listeners import is_loopback

ID = "rest-url-unreachable"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every URL whose host no container has, or at which no service answers over HTTP.

    A name that no container has is a warning: what is not shown may have it.
    """
    if not deployment.url_clients:
        return
    neighbourhood = Neighbourhood(deployment)
    for attempt in url_attempts(deployment):
        contact, meant = neighbourhood.at_url(attempt)
        if not isinstance(contact, Failed):
            continue
        if contact.reason is Reason.UNRESOLVED:
            if why_unresolved(neighbourhood.view, attempt) is not None:
                yield _finding(attempt, "a name that does not resolve in its container", Severity.WARNING, None)
        elif is_loopback(attempt.address.host):
            if meant is not None:
                yield _finding(attempt, f"which is {attempt.member.name} itself", SEVERITY, meant)
        elif meant is not None or contact.mechanism is Mechanism.NOT_KAFKA:
            yield _finding(attempt, f"but {contact.because}", SEVERITY, meant)


def _finding(attempt: Attempt, because: str, severity: Severity, meant: RestNeighbour | None) -> Finding:
    entry, setting = attempt.entry, attempt.client.setting
    bound = meant.config.entries[0].endpoint if meant else None
    better = f"{meant.member.service or meant.name}:{bound.port}" if meant and bound else ""
    scheme = bound.listener.lower() if bound and bound.listener in ("HTTP", "HTTPS") else entry.scheme
    listens = f"{meant.name} listens on {', '.join(map(str, ports_of(meant)))}" if meant else ""
    return Finding(
        rule=ID,
        severity=severity,
        message=f'{attempt.member.name} uses "{entry.scheme}://{attempt.address}", {because}',
        location=attempt.where,
        related=(Related(location=meant.place("listeners"), message=listens),) if meant else (),
        why="containers reach one another by the names of services, at the ports that these bind",
        hint=f"point {setting} at {scheme}://{better}" if better else "use the name of a service on a shared network",
        service=attempt.member.name,
        edits=_edits(attempt, better) if better and scheme == entry.scheme else (),
    )


def _edits(attempt: Attempt, better: str) -> tuple[Edit, ...]:
    edit = attempt.client.declared.edit(attempt.entry.start, attempt.entry.end, better)
    return (replace(edit, applicability=Applicability.SAFE),) if edit else ()
