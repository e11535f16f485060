"""A broker of another cluster answers at an address that is meant for this one.

Why: A port of the docker host belongs to one container at a time, whatever project it is from. The container that comes
second does not start, and clients of its address silently use the cluster of the first.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,HOST://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,HOST://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,HOST:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
    x-observed:
      cells:
        - {vantage: docker host, bootstrap: "localhost:9092", answers: {node: 1, of: b-kafka-1}}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,HOST://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,HOST://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,HOST:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
    x-observed:
      cells:
        - vantage: docker host
          bootstrap: localhost:9092
          answers: {node: 1, listener: HOST}
          told: [{node: 1, at: "localhost:9092", gives: ok}]

Seen: Bind for 0.0.0.0:9092 failed: port is already allocated; topics of another project

Sources: the container that publishes the port, or has the address, as the engine lists it.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Address, Answered
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.rules.live_findings import Whose, advertised_to, listed, place, vantages_of, written

ID = "live-other-cluster-answers"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address that a broker advertises to clients at a vantage where another cluster answers."""
    known = vantages_of(view)
    found: dict[tuple[Address, str], tuple[Whose, list[str]]] = {}
    for cell in view.cells:
        answered = cell.observed.bootstrap if cell.observed else None
        if not isinstance(answered, Answered) or not answered.foreign or cell.vantage not in known:
            continue
        whose = advertised_to(view, known[cell.vantage], cell.bootstrap, running=False)
        if whose is not None:
            found.setdefault((cell.bootstrap, answered.because), (whose, []))[1].append(cell.vantage)
    for (address, because), (whose, places) in found.items():
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'from {listed(places)}: "{address}" (listener {whose.listener} of {whose.broker.name}): {because}',
            location=place(whose),
            why="clients of this address use the other cluster",
            hint=f"publish another port of the docker host for {whose.broker.name}, and advertise that port",
            related=written(view, whose.broker, "advertised.listeners"),
            service=whose.broker.name,
            listener=whose.listener,
        )
