"""A relay leads to a listener whose advertised address its clients cannot reach.

Why: A relay (socat, HAProxy, nginx, Envoy, toxiproxy, `ssh -L`, `kubectl port-forward`) passes the bootstrap connection
on. The listener behind it answers with its own advertised address, and the client connects to that address itself. So
each relay needs a listener that advertises what the clients of the relay can reach, usually the relay's own address.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      relay:
        image: alpine/socat:1.8.0.3
        ports: ["9092:9092"]
        command: TCP-LISTEN:9092,fork TCP:kafka:29092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      relay:
        image: alpine/socat:1.8.0.3
        ports: ["9092:9092"]
        command: TCP-LISTEN:9092,fork TCP:kafka:9092

Seen: kcat: Failed to resolve 'kafka:29092': Name or service not known (after a successful bootstrap)

Sources: KIP-103: a client gets the advertised endpoint of the listener that it connects to.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.model.verdict import Answered
from netdiag.deployment.prediction.listener_access import advertised_of
from netdiag.deployment.relays import RelayTrap, relay_traps
from netdiag.deployment.repairs import lead_relay
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import bracketed

ID = "relay-to-wrong-listener"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every relay; a warning where no listener of the broker would help."""
    for trap in relay_traps(deployment):
        yield _finding(trap)


def _finding(trap: RelayTrap) -> Finding:
    relay, contact, sent = trap.relay, trap.endpoint.contact, trap.endpoint.endpoint.address
    because = trap.endpoint.outcome if isinstance(contact, Answered) else contact.because
    written = relay.targets[0].declared
    entry = advertised_of(trap.broker, trap.listener)
    return Finding(
        rule=ID,
        severity=SEVERITY if trap.better else Severity.WARNING,
        message=f'{relay} leads from "{trap.bootstrap}" ({trap.vantage.label}) to listener {trap.listener} of '
        f'{trap.broker.name}, which sends clients to "{sent}": {because}',
        location=written.at() if written else relay.where,
        related=()
        if entry is None
        else (
            Related(
                location=trap.broker.place("advertised.listeners", entry.start, entry.end),
                message="the address that the client gets",
            ),
        ),
        why="a relay passes on the bootstrap connection; then the client connects to the advertised address itself",
        hint=_hint(trap),
        service=relay.member,
        listener=trap.listener,
        edits=lead_relay(relay, trap.better[0]) if trap.better else (),
    )


def _hint(trap: RelayTrap) -> str:
    if trap.better is None:
        return f'give {trap.broker.name} a listener that advertises "{trap.bootstrap}", and lead it there'
    target, advertised = trap.better
    endpoint = advertised.endpoint
    return (
        f'lead it to "{target}" (listener {endpoint.listener}), which advertises '
        f'"{bracketed(endpoint.host)}:{endpoint.port}"'
    )
