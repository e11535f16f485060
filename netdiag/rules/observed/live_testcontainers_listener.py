"""A broker of Testcontainers sends a container to the port of the docker host that is for the tests.

Why: Testcontainers advertises the mapped port of the docker host on the listener that tests use, usually as
`localhost:32771`. A container on the broker's network that bootstraps at the same listener is sent there too, which is
itself. Containers need another listener. For Java and .NET you add one; the libraries for Python, Go and Node.js have
none to add, but the broker's own listener BROKER advertises an address of the network. The finding is an error for a
container whose variables name such an address, else a note.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        ports: ["32771:9092"]
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,BROKER://0.0.0.0:9093,CONTROLLER://0.0.0.0:9094
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:32771,BROKER://kafka:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: BROKER
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9094
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      app:
        image: alpine:3.20
    x-observed:
      testcontainers: java
      cells:
        - vantage: container app
          bootstrap: kafka:9092
          answers: {node: 1, listener: PLAINTEXT}
          told:
            - {node: 1, at: "localhost:32771", gives: refused}  # <- here
        - vantage: container app
          bootstrap: kafka:9093
          answers: {node: 1, listener: BROKER}
          told:
            - {node: 1, at: "kafka:9093", gives: ok}

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        ports: ["32771:9092"]
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,BROKER://0.0.0.0:9093,CONTROLLER://0.0.0.0:9094,TC-0://kafka:19092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:32771,BROKER://kafka:9093,TC-0://kafka:19092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: >-
            BROKER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TC-0:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: BROKER
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@localhost:9094
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      app:
        image: alpine:3.20
    x-observed:
      testcontainers: java
      cells:
        - vantage: container app
          bootstrap: kafka:9092
          answers: {node: 1, listener: PLAINTEXT}
          told:
            - {node: 1, at: "localhost:32771", gives: refused}
        - vantage: container app
          bootstrap: kafka:19092
          answers: {node: 1, listener: TC-0}
          told:
            - {node: 1, at: "kafka:19092", gives: ok}

Seen: Connection to node 1 (localhost/127.0.0.1:32771) could not be established. Node may not be available.

Sources: the Kafka modules of testcontainers-java, -python, -go, -node and -dotnet; both hops of a client, tried from
the container's network namespace.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Answered, Cell, EndpointOutcome, Failed, Word
from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import ListenerEntry
from netdiag.rules.live_findings import Whose, cells_of_client, listed, owner, place, vantages_of
from netdiag.rules.testcontainers import listener_hint
from netdiag.values import dataclass

ID = "live-testcontainers-listener"
SEVERITY = Severity.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A container that is sent to a port of the docker host; `is_client` where it is known to use the address."""

    vantage: Vantage
    cell: Cell
    outcome: EndpointOutcome
    is_client: bool


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every listener of a broker that sends containers to the docker host's port."""
    found: dict[tuple[str, str], tuple[Whose, list[_Sent]]] = {}
    configured = {client.member.name for client in view.deployment.clients}
    for whose, sent in _sent(view):
        found.setdefault((whose.broker.name, whose.listener), (whose, []))[1].append(sent)
    for whose, all_sent in found.values():
        clients = [one for one in all_sent if one.is_client]
        # What a client is configured with is known; of the others nobody knows which address they use.
        others = [one for one in all_sent if one.vantage.member not in configured]
        if clients:
            yield _finding(view, whose, clients, SEVERITY)
        elif others and not any(_has_listener(view, whose.broker, one.vantage) for one in others):
            yield _finding(view, whose, others, Severity.NOTE)


def clients_told(view: LiveView) -> frozenset[str]:
    """The members that are shown as clients, and told about by this rule."""
    return frozenset(sent.vantage.member or "" for _, sent in _sent(view) if sent.is_client)


def _sent(view: LiveView) -> Iterator[tuple[Whose, _Sent]]:
    known = vantages_of(view)
    configured = {
        (cell.vantage, cell.bootstrap) for client in view.deployment.clients for cell in cells_of_client(view, client)
    }
    for cell in view.cells:
        vantage = known.get(cell.vantage)
        if vantage is None or vantage.kind is not VantageKind.CONTAINER or cell.observed is None:
            continue
        if not isinstance(cell.observed.bootstrap, Answered):
            continue
        for outcome in cell.observed.endpoints:
            whose = owner(view, outcome.endpoint.node_id, outcome.endpoint.address)
            if whose is None or whose.broker.member.started_by is None or not isinstance(outcome.contact, Failed):
                continue
            bound = _bound(whose)
            # What is not mapped is another mistake.
            if bound is not None and outcome.endpoint.address.port in _mapped(whose.broker, bound):
                is_client = (cell.vantage, cell.bootstrap) in configured
                yield whose, _Sent(vantage=vantage, cell=cell, outcome=outcome, is_client=is_client)


def _bound(whose: Whose) -> ListenerEntry | None:
    listeners = whose.broker.config.listeners
    return next((entry for entry in listeners if entry.endpoint.listener == whose.listener), None)


def _mapped(broker: Broker, bound: ListenerEntry) -> frozenset[int]:
    """The ports of the docker host that lead to a listener."""
    ports = broker.member.published
    return frozenset(p.published for p in ports if p.published is not None and p.target == bound.endpoint.port)


def _has_listener(view: LiveView, broker: Broker, vantage: Vantage) -> bool:
    """Whether a listener that the tests have added serves the containers there."""
    own = (broker.config.value("inter.broker.listener.name") or "").upper()
    for cell in view.cells:
        if cell.vantage != vantage.label or cell.observed is None or cell.observed.word is not Word.OK:
            continue
        for outcome in cell.observed.endpoints:
            whose = owner(view, outcome.endpoint.node_id, outcome.endpoint.address)
            if whose is not None and whose.broker is broker and whose.listener != own:
                return True
    return False


def _finding(view: LiveView, whose: Whose, found: list[_Sent], severity: Severity) -> Finding:
    first = found[0]
    address = first.outcome.endpoint.address
    places = listed(one.vantage.label for one in found)
    answers = f"{first.cell.bootstrap} (listener {whose.listener} of {whose.broker.name})"
    return Finding(
        rule=ID,
        severity=severity,
        message=f'{answers} sends {places} to "{address}": {first.outcome.outcome}',
        location=place(whose),
        why=f"port {address.port} is the one that the engine mapped for the tests on the docker host",
        hint=listener_hint(view, whose.broker, first.vantage),
        service=whose.broker.name,
        listener=whose.listener,
    )
