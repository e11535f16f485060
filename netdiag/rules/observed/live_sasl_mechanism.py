"""A listener does not offer the SASL mechanism that a client uses.

Why: The broker answers UNSUPPORTED_SASL_MECHANISM and closes the connection; many clients report only that the
connection ended.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: alpine:3.20
        environment:
          KAFKA_BOOTSTRAP_SERVERS: kafka:9092
          KAFKA_SASL_MECHANISM: SCRAM-SHA-512
    x-observed:
      security:
        - {vantage: container app, at: "kafka:9092", spoken: SASL_PLAINTEXT, sasl: [PLAIN]}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: alpine:3.20
        environment:
          KAFKA_BOOTSTRAP_SERVERS: kafka:9092
          KAFKA_SASL_MECHANISM: SCRAM-SHA-512
    x-observed:
      security:
        - {vantage: container app, at: "kafka:9092", spoken: SASL_PLAINTEXT, sasl: [PLAIN, SCRAM-SHA-512]}

Seen: UnsupportedSaslMechanismException: Client SASL mechanism 'SCRAM-SHA-512' not enabled in the server

Sources: the mechanisms in the SaslHandshake response (KIP-43), and the variables of the client.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import KafkaClient
from netdiag.deployment.observation.live_view import LiveView, SecuredPort
from netdiag.findings import ContainerLocation, Finding, Severity

ID = "live-sasl-mechanism"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every client, and for every listener that was tried with a mechanism it does not offer."""
    offering = [seen for seen in view.security if seen.sight.sasl is not None and seen.sight.sasl.mechanisms]
    told: set[tuple[str, str]] = set()
    for seen in offering:
        sasl = seen.sight.sasl
        whose = (seen.member or str(seen.address), seen.listener)
        if sasl is not None and sasl.mechanism and sasl.mechanism not in sasl.mechanisms and whose not in told:
            told.add(whose)
            yield _refused(seen, sasl.mechanism, sasl.mechanisms)
    for client in view.deployment.clients:
        wanted = _mechanism(client)
        if wanted is not None:
            yield from _client(client, *wanted, offering)


def _mechanism(client: KafkaClient) -> tuple[str, str] | None:
    """The variable that names the client's mechanism, and the mechanism."""
    for name, value in client.member.variables.items():
        if name.upper().replace(".", "_").endswith(("SASL_MECHANISM", "SASLMECHANISM")) and value.strip():
            return name, value.strip().upper()
    return None


def _client(client: KafkaClient, variable: str, mechanism: str, offering: list[SecuredPort]) -> Iterator[Finding]:
    addresses = {(address.host, address.port) for address in client.bootstraps}
    for seen in offering:
        mechanisms = seen.sight.sasl.mechanisms if seen.sight.sasl else ()
        is_its = (seen.address.host, seen.address.port) in addresses
        if not is_its or seen.vantage != f"container {client.member.name}" or mechanism in mechanisms:
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'{client.member.name} uses {mechanism} for "{seen.address}", which offers only '
            f"{', '.join(mechanisms)}",
            location=ContainerLocation(container=client.member.name, part=variable),
            why="the broker closes the connection if the client requests a mechanism that is not enabled",
            hint=f"set {variable} to an offered mechanism, or add {mechanism} to sasl.enabled.mechanisms of the "
            f"listener",
            service=client.member.name,
        )
        return


def _refused(seen: SecuredPort, mechanism: str, mechanisms: tuple[str, ...]) -> Finding:
    name = f"listener {seen.listener} of {seen.member}" if seen.member else str(seen.address)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{name} does not offer {mechanism}, only {', '.join(mechanisms)}",
        location=ContainerLocation(container=seen.member or str(seen.address), part=seen.listener),
        why="the broker closes the connection if a client requests a mechanism that is not enabled",
        hint=f"use an offered mechanism, or add {mechanism} to sasl.enabled.mechanisms of the listener",
        service=seen.member or None,
        listener=seen.listener or None,
    )
