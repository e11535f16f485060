"""A name has an address that does not answer.

Why: A client that takes this address first waits until its time for a connection is up, then goes on to the next one:
Java waits 10 seconds, librdkafka 30 (`socket.connection.setup.timeout.ms`). Then everything works, so the delay looks
like a slow broker. netdiag tries all addresses side by side.

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
    x-observed:
      cells:
        - {vantage: container app, bootstrap: "kafka:9092", silent: [10.9.9.9],
           answers: {node: 1, listener: PLAINTEXT}, told: [{node: 1, at: "kafka:9092", gives: ok}]}  # <- here

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
    x-observed:
      cells:
        - {vantage: container app, bootstrap: "kafka:9092",
           answers: {node: 1, listener: PLAINTEXT}, told: [{node: 1, at: "kafka:9092", gives: ok}]}

Seen: Disconnecting from node -1 due to socket connection setup timeout.

Sources: connect(2) to each address; socket.connection.setup.timeout.ms in the clients' configuration references.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Address, Answered, Contact
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.rules.live_findings import listed

ID = "live-silent-address"
SEVERITY = Severity.WARNING


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every name and address, with the places from which it is silent."""
    places: dict[tuple[str, str], list[str]] = {}
    for cell in view.cells:
        if cell.observed is None:
            continue
        contacts = [(cell.bootstrap, cell.observed.bootstrap)]
        contacts += [(one.endpoint.address, one.contact) for one in cell.observed.endpoints]
        for host, ip in dict.fromkeys((address.host, ip) for address, c in contacts for ip in _silent(address, c)):
            places.setdefault((host, ip), []).append(cell.vantage)
    for (host, ip), labels in places.items():
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'from {listed(tuple(dict.fromkeys(labels)))}: {ip}, an address of "{host}", does not answer',
            location=ContainerLocation(container=labels[0], part=host),
            why="a client that takes it first waits before it goes on to the next: Java 10 s, librdkafka 30 s",
            hint=f"remove {ip} from the DNS records or hosts entries of {host}",
        )


def _silent(address: Address, contact: Contact) -> tuple[str, ...]:
    return contact.silent if isinstance(contact, Answered) and contact.ip != address.host else ()
