"""A client and its broker share no network.

Why: Names resolve, and packets pass, only inside a network. Clients and brokers that an external network may connect
are not reported; host-network-mode and default-bridge-no-dns cover those in the docker host's network or on the default
bridge.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [back]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        networks: [front]
        environment:
          KAFKA_BROKERS: kafka:9092  # <- here
    networks:
      front:
      back:

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        networks: [back]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      app:
        image: example/app:1
        networks: [front, back]
        environment:
          KAFKA_BROKERS: kafka:9092
    networks:
      front:
      back:

Seen: Couldn't resolve server kafka:9092 from bootstrap.servers as DNS resolution failed for kafka

Sources: Docker's embedded DNS answers for the networks of the asking container; bridges drop packets from one another.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import (
    Attempt,
    UnresolvedName,
    attempts,
    members_called,
    severity_of,
    waiting_attempts,
    why_unresolved,
)
from netdiag.deployment.model.deployment import Deployment, Member
from netdiag.findings import Finding, Related, Severity

ID = "networks-not-shared"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap host that is a container on none of the client's networks."""
    for attempt in (*attempts(deployment), *waiting_attempts(deployment)):
        if why_unresolved(deployment, attempt) is UnresolvedName.NOT_SHARED:
            yield _finding(deployment, attempt, members_called(deployment, attempt.address.host)[0])


def _finding(deployment: Deployment, attempt: Attempt, member: Member) -> Finding:
    client = attempt.member
    # A container that the engine could not start may be on no network.
    joins, other = (client, member) if member.attachments else (member, client)
    on = other.attachments[0].network if other.attachments else "the network of the other"
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f'{client.name} bootstraps from "{attempt.address.host}", but {client.name} is on '
        f"{_networks(client)} and {member.name} is on {_networks(member)}",
        location=attempt.where,
        related=tuple(
            Related(location=a.where, message=f"{member.name} is on {a.network}") for a in member.attachments if a.where
        ),
        why="names resolve only inside a network, and Docker drops packets between networks",
        hint=f"attach {joins.name} to {on}",
        service=client.name,
    )


def _networks(member: Member) -> str:
    return " and ".join(attachment.network for attachment in member.attachments) or "no network"
