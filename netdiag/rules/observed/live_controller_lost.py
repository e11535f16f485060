"""The cluster has no controller that anybody reaches.

Why: Without a controller, brokers go on with what they know: they answer clients, but nobody elects leaders, creates
topics or registers brokers.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      registered:
        zookeeper:
          controller: null  # <- here
          brokers:
            1: {at: ["PLAINTEXT://kafka:9092"]}

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      registered:
        zookeeper:
          controller: 1
          brokers:
            1: {at: ["PLAINTEXT://kafka:9092"]}

Seen: topics that cannot be created and partitions that stay without leader, while brokers answer

Sources: `/controller` in ZooKeeper; DescribeQuorum, which brokers of a KRaft cluster pass on to the controller.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.observation.registered import Registered
from netdiag.findings import ContainerLocation, Finding, Location, Severity
from netdiag.kafka.registry import Registry, RegistryKind
from netdiag.rules.live_findings import listed

ID = "live-controller-lost"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """At most one finding: nobody is controller, or nobody reaches the one who is."""
    found = view.registered
    if found is None:
        return
    for registry in found.registries:
        if registry.kind is RegistryKind.ZOOKEEPER:
            yield from _in_zookeeper(found, registry)
            return
    asked = found.listeners
    if asked and all(registry.controller_lost for registry in asked):
        said = listed(dict.fromkeys(registry.controller_lost for registry in asked))
        down = [node for node in found.nodes if node.is_controller and node.stopped]
        names = listed(f"{node.member} ({node.stopped})" for node in down)
        yield _finding(
            f"no broker gets an answer from the controller of {found.name}",
            f"brokers pass DescribeQuorum on to the controller, and say: {said}",
            f"start {names}" if down else "find out why no controller is elected: read the logs of the controllers",
            ContainerLocation(
                container=down[0].member if down else asked[0].source.partition(" ")[0], part="controller"
            ),
        )
        return
    for registry in asked:
        if registry.tells_controller:
            yield from _unreachable(found, registry)
            return


def _in_zookeeper(found: Registered, registry: Registry) -> Iterator[Finding]:
    if not registry.tells_controller or not registry.brokers:
        return
    if registry.controller_id is None:
        yield _finding(
            f"no broker of {found.name} is controller",
            f"ZooKeeper has brokers, but no /controller ({registry.source})",
            "find out why no broker becomes controller: read their logs for [Controller",
            ContainerLocation(container=found.nodes[0].member if found.nodes else found.name, part="controller"),
        )
        return
    yield from _unreachable(found, registry)


def _unreachable(found: Registered, registry: Registry) -> Iterator[Finding]:
    """The controller is a member that does not answer, or that no longer runs."""
    members = found.of_node(registry.controller_id)
    if not members or any(node.is_up or found.is_taken(node) for node in members):
        return
    node = members[0]
    why = node.stopped or node.silent
    if why:
        yield _finding(
            f"{node.member} (node {node.node_id}) is controller of {found.name}, and does not answer",
            f"{why} ({registry.source})",
            f"start {node.member}" if node.stopped else f"find out why {node.member} does not answer",
            ContainerLocation(container=node.member, part="controller"),
        )


def _finding(message: str, why: str, hint: str, location: Location) -> Finding:
    return Finding(rule=ID, severity=SEVERITY, message=message, location=location, why=why, hint=hint)
