"""A client bootstraps, but cannot use the endpoint that it gets.

Why: A client uses the bootstrap address only to ask for the brokers; all other requests go to the endpoints in the
response. A client that cannot use them hangs or retries forever, although "the port is open".

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment: &one
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          <<: *one
          KAFKA_BROKER_ID: 2
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
      app:
        image: alpine:3.20
    x-observed:
      cells:
        - vantage: container app
          bootstrap: kafka-1:9092
          answers: {node: 1, listener: PLAINTEXT}
          told:
            - {node: 1, at: "kafka-1:9092", gives: ok}
            - {node: 2, at: "kafka-2:9092", gives: timeout}  # <- here

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment: &one
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          <<: *one
          KAFKA_BROKER_ID: 2
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
      app:
        image: alpine:3.20
    x-observed:
      cells:
        - vantage: container app
          bootstrap: kafka-1:9092
          answers: {node: 1, listener: PLAINTEXT}
          told:
            - {node: 1, at: "kafka-1:9092", gives: ok}
            - {node: 2, at: "kafka-2:9092", gives: ok}

Seen: Connection to node 1 (localhost/127.0.0.1:9092) could not be established. Broker may not be available.

Sources: Metadata from every listener that answers, then a connection from the same vantage to each endpoint it returns.
"""

from collections.abc import Iterator

from netdiag.deployment.model.causes import repair, why
from netdiag.deployment.model.vantage import VantageKind
from netdiag.deployment.model.verdict import Failed, Reason
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.rules.live_findings import Trap, listed, owner, place, traps, written

ID = "live-advertised-unreachable"
SEVERITY = Severity.ERROR

_HERE = (Reason.UNRESOLVED, Reason.REFUSED, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.CLOSED)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener, reason and kind of vantage, if no other address serves the client instead."""
    groups: dict[tuple[str | None, Reason, bool], list[Trap]] = {}
    for trap in traps(view):
        contact = trap.endpoint.contact
        if isinstance(contact, Failed) and contact.reason in _HERE:
            outside = trap.vantage.kind is VantageKind.LAN
            groups.setdefault((trap.answered.listener, contact.reason, outside), []).append(trap)
    for (_, reason, outside), found in groups.items():
        yield _finding(view, found, reason, outside=outside)


def _finding(view: LiveView, found: list[Trap], reason: Reason, *, outside: bool) -> Finding:
    first = found[0]
    endpoint, contact = first.endpoint.endpoint, first.endpoint.contact
    assert isinstance(contact, Failed)
    cause = view.causes.get((first.vantage.label, endpoint.address))
    whose = owner(view, endpoint.node_id, endpoint.address)
    listener = first.answered.listener or (whose.listener if whose else "")
    places = listed(trap.vantage.label for trap in found)
    others = {trap.endpoint.endpoint for trap in found} - {endpoint}
    more = f", and {len(others)} more endpoints" if others else ""
    told = f'"{endpoint.address}" (node {endpoint.node_id}){more}'
    return Finding(
        rule=ID,
        severity=Severity.NOTE if outside else SEVERITY,
        message=f"from {places}: {first.bootstrap}{f' (listener {listener})' if listener else ''} answers and sends "
        f"clients to "
        f"{told}: {reason.value}",
        location=place(whose) if whose else ContainerLocation(container=first.vantage.label, part=str(first.bootstrap)),
        why=why(cause, contact),
        hint=repair(cause, contact, endpoint.address),
        related=written(view, whose.broker, "advertised.listeners") if whose else (),
        service=whose.broker.name if whose else None,
        listener=listener or None,
    )
