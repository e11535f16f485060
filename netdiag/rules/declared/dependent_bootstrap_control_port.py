"""A client bootstraps from a port that does not serve Kafka clients.

Why: The controller listener of a KRaft node does not serve clients, and ZooKeeper, JMX and Schema Registry speak other
protocols. The connection is accepted, but the client's requests fail.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9093  # <- here

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:9092

Seen: Did you attempt to connect to a kafka controller (no metadata support)?

Sources: KIP-631: controllers serve brokers and do not answer METADATA requests.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, attempts, severity_of, target_member, usable_address
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.prediction.listener_access import control_port
from netdiag.deployment.repairs import point_client
from netdiag.findings import Finding, Severity

ID = "dependent-bootstrap-control-port"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap address that leads to something other than a broker's listener."""
    for attempt in attempts(deployment):
        member = target_member(deployment, attempt)
        what = control_port(deployment, member, attempt.address.port) if member else None
        if what is not None:
            yield _finding(deployment, attempt, what)


def _finding(deployment: Deployment, attempt: Attempt, what: str) -> Finding:
    better = usable_address(deployment, attempt)
    variable = attempt.client.setting
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f'{attempt.member.name} bootstraps from "{attempt.address}", which is {what}',
        location=attempt.where,
        why="only a broker listener answers the metadata request that a client sends first",
        hint=f"set {variable} to {better}" if better else "use the port of a listener that serves clients",
        service=attempt.member.name,
        edits=point_client(deployment, attempt),
    )
