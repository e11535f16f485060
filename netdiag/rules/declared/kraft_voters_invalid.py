"""The list of quorum voters is missing or invalid, or does not fit the node.

Why: controller.quorum.voters lists the controllers as {id}@{host}:{port}. A controller must find its own node ID in the
list; a node with only the broker role must not.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: kafka:9093  # <- here

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: Each entry should be in the form `{id}@{host}:{port}`.

Sources: QuorumConfig.parseVoterConnections, KafkaConfig.validateValues (3.0 and newer); KIP-595, KIP-853.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import set_voters
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import MalformedVoter

ID = "kraft-voters-invalid"
SEVERITY = Severity.ERROR
_VOTERS = "controller.quorum.voters"
_BOOTSTRAP = "controller.quorum.bootstrap.servers"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every missing list, entry that cannot be parsed and ID that must or must not be listed."""
    for broker in deployment.configured:
        config = broker.config
        if config.mode is not Mode.KRAFT or config.is_unknown(_VOTERS):
            continue
        malformed = [voter for voter in config.voter_entries if isinstance(voter, MalformedVoter)]
        if not config.voter_entries:
            if _BOOTSTRAP not in config.settings or config.is_older_than(3, 9):
                yield _missing(deployment, broker)
        elif malformed:
            yield from (_malformed(deployment, broker, voter) for voter in malformed)
        else:
            yield from _membership(broker)


def _missing(deployment: Deployment, broker: Broker) -> Finding:
    source = broker.source_of(_VOTERS)
    unset = [variable for _, variable in source.blanks] if source is not None else []
    because = f", because {unset[0]} is not set" if unset else ""
    return Finding(
        rule=ID,
        severity=Severity.WARNING if unset else SEVERITY,
        message=f"{broker.name} is a KRaft node but does not set {_VOTERS}{because}",
        location=broker.place(_VOTERS if _VOTERS in broker.config.settings else "process.roles"),
        why="without the list, a node does not know any controller",
        hint="set KAFKA_CONTROLLER_QUORUM_VOTERS to ID@HOST:PORT of every controller",
        service=broker.name,
        edits=set_voters(deployment, broker),
        broker_prints=f"{_VOTERS} must contain a parseable set of",
    )


def _malformed(deployment: Deployment, broker: Broker, voter: MalformedVoter) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'"{voter.text}" in {_VOTERS} of {broker.name} is not ID@HOST:PORT',
        location=broker.place(_VOTERS, voter.start, voter.end),
        why="the broker exits at the first entry that it cannot parse",
        hint="write the controller's node ID, @, its host, a colon and the port of its controller listener",
        service=broker.name,
        edits=set_voters(deployment, broker),
        broker_prints=voter.prints,
    )


def _membership(broker: Broker) -> Iterator[Finding]:
    config = broker.config
    is_voter = config.node_id in {voter.node_id for voter in config.well_formed_voters}
    if (
        config.node_id is None
        or is_voter == config.is_controller
        or not (config.is_controller or config.is_broker_only)
    ):
        return
    must = "must not be" if is_voter else "must be"
    role = "has only the broker role, but is listed" if is_voter else "is a controller, but is not listed"
    yield Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} (node {config.node_id}) {role} in {_VOTERS}",
        location=broker.place(_VOTERS),
        why="the voters are all controllers of the quorum, and no other nodes",
        hint="list the ID of every node with the controller role, and no other",
        service=broker.name,
        broker_prints=f"the node id {config.node_id} {must} included in the set of voters {_VOTERS}=",
    )
