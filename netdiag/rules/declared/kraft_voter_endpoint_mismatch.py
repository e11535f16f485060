"""A voter entry does not lead to the controller with that ID.

Why: Nodes connect to HOST:PORT of each voter and expect the controller listener of the node with that ID there. With a
wrong port the connection is refused, with a wrong host another node answers: the quorum never forms, or the broker
never registers.

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
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:29093  # <- here

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

Seen: [RaftManager id=1] Connection to node 1 (kafka/172.18.0.2:29093) could not be established.

Sources: KafkaRaftClient, RaftControllerNodeProvider; KIP-595.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.prediction.client_namespace import MemberAddress, network_owner, resolve, why_nameless
from netdiag.deployment.repairs import name_voters
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import Voter, is_loopback

ID = "kraft-voter-endpoint-mismatch"
SEVERITY = Severity.ERROR
_VOTERS = "controller.quorum.voters"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every voter entry that leads somewhere else, at the first node that has it."""
    reported: set[tuple[str, Voter]] = set()
    for broker in deployment.configured:
        for voter in broker.config.well_formed_voters:
            key = (broker.config.quorum, voter)
            finding = None if key in reported else _judged(deployment, broker, voter)
            if finding is not None:
                reported.add(key)
                yield finding


def _judged(deployment: Deployment, broker: Broker, voter: Voter) -> Finding | None:
    if is_loopback(voter.host):
        own = broker.config.is_controller and broker.config.node_id == voter.node_id
        return _at(deployment, broker, voter, broker) if own else None
    resolution = resolve(deployment, broker_vantage(broker), voter.host)
    if not isinstance(resolution, tuple):
        because = why_nameless(deployment, broker_vantage(broker), voter.host)
        # A DNS server outside may know a name with a dot.
        controller = None if because is None or "." in voter.host else _controller(deployment, broker, voter)
        return _finding(deployment, broker, voter, because, controller) if because and controller else None
    found = {target.member for target in resolution if isinstance(target, MemberAddress)}
    targets = [b for b in deployment.brokers if network_owner(deployment, b.member).name in found]
    meant = [target for target in targets if target.config.node_id == voter.node_id] or targets
    return _at(deployment, broker, voter, meant[0]) if len(found) == 1 and meant else None


def _at(deployment: Deployment, broker: Broker, voter: Voter, target: Broker) -> Finding | None:
    """What is wrong with the node that the entry leads to."""
    config = target.config
    if config.node_id is not None and config.node_id != voter.node_id:
        return _finding(deployment, broker, voter, f"{target.name} is node {config.node_id}", target)
    ports = [entry.endpoint.port for entry in config.controller_listeners]
    if not config.is_controller or not config.is_readable or not ports or voter.port in ports:
        return None
    return _finding(
        deployment, broker, voter, f"the controller listener of {target.name} is on port {ports[0]}", target
    )


def _controller(deployment: Deployment, broker: Broker, voter: Voter) -> Broker | None:
    """The controller of this quorum that has the voter's id."""
    for other in deployment.configured:
        config = other.config
        if config.is_controller and config.quorum == broker.config.quorum and config.node_id == voter.node_id:
            return other
    return None


def _finding(deployment: Deployment, broker: Broker, voter: Voter, because: str, target: Broker) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} expects controller {voter.node_id} at "{voter.host}:{voter.port}", but {because}',
        location=broker.place(_VOTERS, voter.start, voter.end),
        related=(Related(location=target.place("listeners"), message=f"the listeners of {target.name}"),),
        why="a voter entry must contain the address at which that controller listens",
        hint=f"write {voter.node_id}@HOST:PORT with the name and the controller port of node {voter.node_id}",
        service=broker.name,
        edits=name_voters(deployment, broker, lambda v: v == voter),
    )
