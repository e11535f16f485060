"""The health check of a broker uses an address that does not work.

Why: The check runs inside the container and connects to the listeners as they are bound, with their own security
protocols. Kafka's tools then connect to the address that the listener advertises, as every client does. If the check
fails, the container stays unhealthy, and services that wait for it never start. HTTP checks and checks of metrics ports
are not reported.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        healthcheck:
          test: kafka-topics --list --bootstrap-server localhost:9092  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        healthcheck:
          test: kafka-topics --list --bootstrap-server localhost:29092
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092

Seen: Connection to node -1 (localhost/127.0.0.1:9092) could not be established. Node may not be available.

Sources: Dockerfile reference, HEALTHCHECK: the command runs inside the container.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import (
    Attempt,
    accepting_listener,
    advertises_nothing,
    client_protocol,
    health_check_attempts,
    listener_protocol,
    second_hops,
    why_failing,
)
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.listener_access import is_likely_other_port
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import bracketed
from netdiag.patterns import regex

ID = "healthcheck-wrong-endpoint"
SEVERITY = Severity.WARNING

# Those that fail if they cannot reach a broker at its advertised address.
_GOES_ON = regex(r"kafka-(?:topics|configs|consumer-groups|console-[a-z]+|ready|cluster|get-offsets)")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every address in a broker's health check that certainly does not work."""
    for attempt in health_check_attempts(deployment):
        broker = deployment.broker(attempt.member.name)
        if broker is None or broker not in deployment.configured or broker.is_configured_by_file:
            continue
        if not broker.config.is_readable or broker.config.is_unknown("listeners"):
            continue
        because = _because(deployment, broker, attempt)
        if because:
            yield _finding(broker, attempt, because)


def _because(deployment: Deployment, broker: Broker, attempt: Attempt) -> str | None:
    """Why the check fails; None if it does not, or if this is unknown."""
    host, port = attempt.address.host, attempt.address.port
    connects_only = attempt.client.waits
    if (
        connects_only
        and is_likely_other_port(attempt.member, port)
        and (broker.name, port) not in deployment.listeners_by_port
    ):
        return None
    landed = accepting_listener(deployment, attempt.vantage, host, port)
    if landed is None:
        return why_failing(deployment, attempt.vantage, host, port)
    if connects_only or landed.broker not in deployment.configured:
        return None
    name = landed.entry.endpoint.listener
    if name in landed.broker.config.controller_names:
        return f"{name} is a controller listener, which does not serve clients"
    speaks, wanted = client_protocol(attempt), listener_protocol(landed)
    if speaks and wanted and speaks != wanted:
        return f"{name} requires {wanted}, but the check uses {speaks}"
    return _sent_astray(deployment, attempt, landed) if _GOES_ON.fullmatch(attempt.client.tool) else None


def _sent_astray(deployment: Deployment, attempt: Attempt, landed: Accepted) -> str | None:
    name = landed.entry.endpoint.listener
    if advertises_nothing(deployment, landed):
        return f"{name} is not advertised, so the check gets no broker address"
    sent = second_hops(deployment, attempt.vantage, landed)
    if not sent or any(not one.because for one in sent):
        return None
    endpoint = sent[0].entry.endpoint
    return f"{name} sends the check to {bracketed(endpoint.host)}:{endpoint.port}: {sent[0].because}"


def _finding(broker: Broker, attempt: Attempt, because: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'the health check of {broker.name} uses "{attempt.address}": {because}',
        location=attempt.where,
        why="a health check runs inside the container, and uses its listeners as any client in the container does",
        hint="use a listener that is bound in the container, speaks the protocol of the check and advertises an "
        "address "
        "that the container itself can reach",
        service=broker.name,
    )
