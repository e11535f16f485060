"""An address works only sometimes.

Why: With `--repeat N`, netdiag checks N times. A share of connections that fails points to one of several containers
behind a name or a relay, to a broker that restarts, or to a queue of connections that overflows. Clients try again, so
they get slow or lose a part of their requests instead of failing.

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
      flapping:
        - {vantage: container app, at: "kafka:9092", verdicts: {"bootstrap: refused": 3, ok: 7}}  # <- here
      cells:
        - {vantage: container app, bootstrap: "kafka:9092", fails: refused}

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
      flapping: []

Seen: Connection to node 1 (kafka/172.18.0.2:9092) could not be established, now and then.

Sources: connect(2) from the client's network namespace, several times.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Address, Word
from netdiag.deployment.observation.live_view import Flapping, LiveView
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.rules.live_findings import listed

ID = "live-flapping"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every address and what it gives, with the places from which it does."""
    alike: dict[tuple[Address, tuple[tuple[str, int], ...]], list[Flapping]] = {}
    for one in view.flapping:
        alike.setdefault((one.address, one.verdicts), []).append(one)
    for (address, verdicts), found in alike.items():
        places = [one.vantage for one in found]
        checks = sum(count for _, count in verdicts)
        failed = sum(count for verdict, count in verdicts if verdict != Word.OK)
        given = ", ".join(f"{verdict} ({count})" for verdict, count in verdicts)
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'from {listed(places)}: "{address}" fails in {failed} of {checks} checks: {given}',
            location=ContainerLocation(container=places[0], part=str(address)),
            why=found[0].because,
            hint="look for containers that restart, for several with this name, and for a relay with a dead target",
        )
