"""A listener of Redpanda has no advertised address with its name.

Why: Redpanda returns the addresses of the listener that a client connects to, matched by the exact name in --kafka-addr
(or by no name). If --advertise-kafka-addr has no entry with that name, the client gets no broker address. Redpanda does
not use advertised names without a listener. The finding is an error if clients are known to use the listener, and a
warning otherwise.

Bad:
    services:
      redpanda:
        image: redpandadata/redpanda:v24.2.4
        ports: ["19092:19092"]
        command:
          - redpanda
          - start
          - --kafka-addr=internal://0.0.0.0:9092,external://0.0.0.0:19092  # <- here
          - --advertise-kafka-addr=internal://redpanda:9092

Good:
    services:
      redpanda:
        image: redpandadata/redpanda:v24.2.4
        ports: ["19092:19092"]
        command:
          - redpanda
          - start
          - --kafka-addr=internal://0.0.0.0:9092,external://0.0.0.0:19092
          - --advertise-kafka-addr=internal://redpanda:9092,external://localhost:19092

Seen: Request on listener 'external' but not found in node_config

Sources: Redpanda, metadata handler (21.11 to 24.3); redpanda-data/redpanda#3588, #3786.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import clients_entering
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.listener_access import advertised_of, published_for
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.redpanda import ADVERTISED, LISTENERS
from netdiag.kafka.listeners import ListenerEntry, endpoint_text

ID = "redpanda-listener-mismatch"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener of a Redpanda broker whose name is not advertised."""
    for broker in deployment.serving:
        config = broker.config
        if config.mode is not Mode.REDPANDA or not config.is_readable:
            continue
        if config.is_unknown(LISTENERS) or config.is_unknown(ADVERTISED) or not config.value(ADVERTISED):
            continue
        lacking = [entry for entry in config.listeners if advertised_of(broker, entry.endpoint.listener) is None]
        for entry in lacking:
            yield _finding(deployment, broker, entry, alone=lacking == list(config.listeners))


def _finding(deployment: Deployment, broker: Broker, entry: ListenerEntry, *, alone: bool) -> Finding:
    name, port = entry.endpoint.listener, entry.endpoint.port
    ports = published_for(broker, entry)
    entering = [d for d in clients_entering(deployment, broker, name) if d.active]
    advertised = ", ".join(e.endpoint.listener for e in broker.config.advertised_listeners)
    host = "localhost" if ports else broker.member.service or broker.name
    return Finding(
        rule=ID,
        severity=SEVERITY if ports or entering or alone else Severity.WARNING,
        message=f"listener {name} of {broker.name} is not advertised, so its clients get no broker address",
        location=broker.place(LISTENERS, entry.start, entry.end),
        related=(
            Related(location=broker.place(ADVERTISED), message=f"advertised: {advertised}"),
            *(Related(location=p.where, message="clients connect here") for p in ports[:1]),
            *(Related(location=d.declared.at(), message=f"{d.member.name} connects here") for d in entering),
        ),
        why="Redpanda matches listeners and advertised addresses by name, case-sensitively",
        hint=f"add {endpoint_text(name, host, port)} to --advertise-kafka-addr",
        service=broker.name,
        listener=name,
    )
