"""A listener uses another security protocol than its configuration or its client.

Why: A client that uses TLS on a plaintext port, or plaintext on a port that requires TLS or SASL, gets no error that
says so: the connection ends, or the client waits.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      security:
        - {vantage: inside kafka, at: "kafka:9092", member: kafka, listener: PLAINTEXT, spoken: SSL}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      security:
        - {vantage: inside kafka, at: "kafka:9092", member: kafka, listener: PLAINTEXT, spoken: PLAINTEXT}

Seen: Invalid receive (size = 369296128); SSL handshake failed; Disconnected while requesting ApiVersion

Sources: the response to a plaintext request and to a TLS ClientHello; listener.security.protocol.map.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Answered, Cell, Failed, Reason
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Location, Severity
from netdiag.kafka.security import SpokenProtocol
from netdiag.rules.live_findings import answering, meant_for, vantages_of, written

ID = "live-security-mismatch"
SEVERITY = Severity.ERROR

_PROTOCOLS = (SpokenProtocol.PLAINTEXT, SpokenProtocol.SSL, SpokenProtocol.SASL_PLAINTEXT, SpokenProtocol.SASL_SSL)


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener whose protocol differs from its configuration, and every client's that does."""
    told: set[tuple[str, str]] = set()
    for broker, listener, speaks, why in (*_shown(view), *_met(view)):
        if (broker, listener) not in told:
            told.add((broker, listener))
            yield _finding(view, broker, listener, speaks, why)
    yield from _clients(view)


def _shown(view: LiveView) -> Iterator[tuple[str, str, str, str]]:
    """Where netdiag asked the port for its security protocol."""
    for seen in view.security:
        broker = view.deployment.broker(seen.member)
        configured = broker.config.protocol_map.get(seen.listener) if broker else None
        if configured and seen.sight.spoken in _PROTOCOLS and seen.sight.spoken.value != configured:
            yield seen.member, seen.listener, seen.sight.spoken.value, seen.sight.detail


def _met(view: LiveView) -> Iterator[tuple[str, str, str, str]]:
    """Where the configuration predicts that a plaintext client gets an answer, and it was refused, or the reverse."""
    known = vantages_of(view)
    for cell in view.cells:
        contact = cell.observed.bootstrap if cell.observed else None
        if isinstance(contact, Failed) and contact.reason in (Reason.TLS, Reason.SASL):
            vantage = known.get(cell.vantage)
            whose = meant_for(view, vantage, cell) if vantage else None
            configured = whose.broker.config.protocol_map.get(whose.listener, "") if whose else ""
            if whose and configured == SpokenProtocol.PLAINTEXT and _was_to_answer(cell):
                yield whose.broker.name, whose.listener, contact.reason.value.upper(), contact.because
        elif isinstance(contact, Answered) and _was_to_refuse(cell):
            broker = answering(view, contact)
            configured = broker.config.protocol_map.get(contact.listener or "", "") if broker else ""
            if broker is not None and contact.listener is not None and configured != SpokenProtocol.PLAINTEXT:
                yield broker.name, contact.listener, SpokenProtocol.PLAINTEXT.value, contact.because


def _was_to_answer(cell: Cell) -> bool:
    """Not for a client that itself uses TLS or SASL on a plaintext listener."""
    return cell.predicted is not None and isinstance(cell.predicted.bootstrap, Answered)


def _was_to_refuse(cell: Cell) -> bool:
    expected = cell.predicted.bootstrap if cell.predicted else None
    return isinstance(expected, Failed) and expected.reason in (Reason.TLS, Reason.SASL)


def _finding(view: LiveView, name: str, listener: str, speaks: str, why: str) -> Finding:
    broker = view.deployment.broker(name)
    configured = broker.config.protocol_map.get(listener, "another protocol") if broker else ""
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"listener {listener} of {name} uses {speaks}, but is configured for {configured}",
        location=ContainerLocation(container=name, part=listener),
        why=why,
        hint=f"restart {name} with the intended configuration, or find out what else listens on that port",
        related=written(view, broker, "listener.security.protocol.map") if broker else (),
        service=name,
        listener=listener,
    )


def _clients(view: LiveView) -> Iterator[Finding]:
    spoken = {
        (seen.vantage, seen.address.host, seen.address.port): seen
        for seen in view.security
        if seen.sight.spoken in _PROTOCOLS
    }
    for client in view.deployment.clients:
        for address in client.bootstraps:
            seen = spoken.get((f"container {client.member.name}", address.host, address.port))
            if seen is None or client.protocol is None or client.protocol == seen.sight.spoken.value:
                continue
            location: Location = client.declared.at(address.start, address.end)
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'{client.member.name} uses {client.protocol} for "{address.host}:{address.port}", which '
                f"requires {seen.sight.spoken.value}",
                location=location,
                why=seen.sight.detail,
                hint=f"set the security protocol of {client.member.name} to that of the listener, or use another port",
                service=client.member.name,
            )
            break
